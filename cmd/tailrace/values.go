package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/workload"
)

// value is the value of a flag. It is set by what was given and by nothing else.
type value struct {
	set   func(text string) error
	unset string   // shown by the help as the default
	one   bool     // what is given last counts alone
	given []string // each time
}

var _ pflag.Value = (*value)(nil)

func (v *value) Set(text string) error {
	v.given = append(v.given, text)
	return v.set(text)
}

func (v *value) String() string { return v.unset }
func (v *value) Type() string   { return "value" }

// single keeps what is given in to, which holds the default.
func single[T any](to *T, unset string, parse func(string) (T, error)) *value {
	return &value{unset: unset, one: true, set: func(text string) error {
		parsed, err := parse(text)
		if err == nil {
			*to = parsed
		}
		return err
	}}
}

// optional keeps what is given in to, which is nil until then.
func optional[T any](to **T, parse func(string) (T, error)) *value {
	return &value{one: true, set: func(text string) error {
		parsed, err := parse(text)
		if err == nil {
			*to = &parsed
		}
		return err
	}}
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

// warnOfReplaced says which values do not count because another was given after them. Of lists each counts, so that
// whoever repeats another flag may expect that.
func warnOfReplaced(cmd *cobra.Command, _ []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		v, ok := f.Value.(*value)
		if !ok || !v.one {
			return
		}
		last := v.given[len(v.given)-1]
		if slices.ContainsFunc(v.given, func(text string) bool { return text != last }) {
			fmt.Fprintf(cmd.ErrOrStderr(), "tailrace: warning: --%s: given more than once; %s counts, since it is the last\n", f.Name, strconv.Quote(last))
		}
	})
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
