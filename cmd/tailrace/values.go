package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tailrace/workload"
)

// value is the value of a flag. It is set by what was given and by nothing else.
type value struct {
	set   func(text string) error
	unset string // shown by the help as the default
}

var _ pflag.Value = (*value)(nil)

func (v *value) Set(text string) error { return v.set(text) }
func (v *value) String() string        { return v.unset }
func (v *value) Type() string          { return "value" }

// single keeps what is given in to, which holds the default.
func single[T any](to *T, unset string, parse func(string) (T, error)) *value {
	return &value{unset: unset, set: once(func(text string) error {
		parsed, err := parse(text)
		if err == nil {
			*to = parsed
		}
		return err
	})}
}

// once refuses a second value: of flags that take lists each counts, and whoever repeats another one may expect that.
func once(set func(text string) error) func(text string) error {
	var before *string
	return func(text string) error {
		if before != nil && *before != text {
			return &workload.FieldError{Value: text, Problem: "given before as " + strconv.Quote(*before) + ", and takes one value"}
		}
		before = &text
		return set(text)
	}
}

// optional keeps what is given in to, which is nil until then.
func optional[T any](to **T, parse func(string) (T, error)) *value {
	return &value{set: once(func(text string) error {
		parsed, err := parse(text)
		if err == nil {
			*to = &parsed
		}
		return err
	})}
}

// list appends what is given to to: several elements with commas between them, or the flag repeated.
// An element given twice counts once.
func list[T comparable](to *[]T, parse func(string) (T, error)) *value {
	return &value{set: func(text string) error {
		for element := range strings.SplitSeq(text, ",") {
			parsed, err := parse(strings.TrimSpace(element))
			if err != nil {
				return err
			}
			if !slices.Contains(*to, parsed) {
				*to = append(*to, parsed)
			}
		}
		return nil
	}}
}

func parseText(text string) (string, error) { return text, nil }

// parseGiven refuses a value that is none: a variable of a script that is not set, as a rule.
func parseGiven(text string) (string, error) {
	if text == "" {
		return "", &workload.FieldError{Value: text, Problem: "nothing is given; leave the flag out, or give it a value"}
	}
	return text, nil
}

// parseName refuses what an extra comma leaves.
func parseName(text string) (string, error) {
	if text == "" {
		return "", &workload.FieldError{Value: text, Problem: "a name is empty; put one comma between two names"}
	}
	return text, nil
}

func parseSeed(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &workload.FieldError{Value: text, Problem: "not a whole number from 0 to 2⁶⁴−1"}
	}
	return n, nil
}
