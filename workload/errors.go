package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ErrInvalid is wrapped by every error about a value that was given: a FieldError, a FileError.
var ErrInvalid = errors.New("workload: invalid")

// FieldError says which value cannot be used, and why, in one line.
type FieldError struct {
	// Field is the flag that sets the value ("--record-size"), the plain name of a setting that no
	// flag sets ("subscriptions"), or the kind of value when it was parsed alone ("size").
	Field   string
	Value   string // as given, or formatted as the flag would be
	Problem string // what is wrong and what would be right
}

func (e *FieldError) Error() string {
	return "workload: " + e.Field + " " + display(e.Value) + ": " + e.Problem
}

// Unwrap returns ErrInvalid.
func (e *FieldError) Unwrap() error { return ErrInvalid }

func fieldError(field, value, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Value: value, Problem: fmt.Sprintf(format, args...)}
}

// display keeps a value on one line and visible: what is empty or holds anything but plain printable
// text is quoted, and what is long is shortened.
func display(value string) string {
	value = shorten(value)
	plain := value != "" && !strings.ContainsFunc(value, func(r rune) bool { return !isVisible(r) || r == '"' })
	if plain {
		return value
	}
	return strconv.Quote(value)
}

// shorten keeps text to a length that fits in a sentence.
func shorten(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// oneLine makes one line of a text of several, with single spaces and nothing unprintable.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !isVisible(r) }), " ")
}

// printablePath is a path as errors show it.
func printablePath(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !isVisible(r) && r != ' ' }) {
		return strconv.Quote(path)
	}
	return path
}

// isVisible says of a character that it prints something: no space, control or broken encoding.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != unicode.ReplacementChar
}
