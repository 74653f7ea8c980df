package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/harness"
	"tailrace/segment"
	"tailrace/workload"
)

const (
	exitFailed      = 1   // also a regression
	exitUsage       = 2   // also what can't be read or written
	exitUnmeasured  = 3   // and inconclusive
	exitInterrupted = 130 // as a shell reports death by SIGINT
)

// errUsage is wrapped by errors about what was asked for, where the packages have none.
var errUsage = errors.New("usage")

// errOutput: what was found could not be written, and is no less right for that.
var errOutput = errors.New("output")

// outputError is an error with errOutput in its chain but not in its text; nil for none.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return unwritten{err}
}

type unwritten struct{ error }

func (e unwritten) Unwrap() []error { return []error{errOutput, e.error} }

// errFailedRuns: the sweep was done, and some of its runs gave wrong answers.
var errFailedRuns = errors.New("failed verification")

// errUnmeasured: the sweep was done, and some of its runs had no window to measure in.
var errUnmeasured = errors.New("not measured")

// usageError is an error with errUsage in its chain but not in its text.
type usageError struct{ error }

func (e usageError) Unwrap() []error { return []error{errUsage, e.error} }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case err == nil:
		return 0
	case is(harness.ErrInterrupted), is(context.Canceled):
		return exitInterrupted
	case is(errOutput), is(errUsage), is(harness.ErrUsage):
		return exitUsage
	case is(errUnmeasured), is(errInconclusive):
		return exitUnmeasured
	case slices.ContainsFunc(findings, is), crashed(err), faulty(err):
		return exitFailed
	default:
		return exitUsage
	}
}

// findings are the errors that say that something is wrong with what was examined. All others are of what was asked for,
// or of the machine.
var findings = []error{errFailedRuns, errViolated, errWorthless, errCrashed, errRegression, errMissing, harness.ErrNotCaught}

// crashed reports whether a process failed that was to find something out.
func crashed(err error) bool {
	_, ok := errors.AsType[*harness.FailedChild](err)
	return ok
}

// faulty reports whether a log has a fault.
func faulty(err error) bool {
	_, ok := errors.AsType[*segment.Fault](err)
	return ok
}

// packageNames are what errors say of where they come from, which means nothing to who reads them.
var packageNames = []string{"segment", "strategies", "workload", "harness", "torture", "results", "plots", "claims", "cannot run"}

// plainText is the text of an error in one line, without the names of the packages that it passed.
func plainText(text string) string {
	parts := strings.Split(strings.Join(strings.Fields(visible(text)), " "), ": ")
	parts = slices.DeleteFunc(parts, func(part string) bool { return slices.Contains(packageNames, part) })
	return strings.Join(parts, ": ")
}

// visible is text that comes from elsewhere, and must not command the terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // such as those that turn the direction of writing
			return ' '
		}
		return r
	}, text)
}

// What is shown of what a process said: the stack that a panic came from, or the two of a data race.
const (
	shownLines = 40
	shownRunes = 200 // of a line
)

// indented are the lines of what a process said that crashed, to stand below the error. None if they are one: the error has it.
func indented(said string) []string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) == 1 {
		return nil
	}
	left := len(lines) - shownLines
	if left > 0 {
		lines = lines[:shownLines]
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > shownRunes {
			line = string(runes[:shownRunes]) + " …"
		}
		lines[i] = "  " + visible(line)
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more lines", left))
	}
	return lines
}

// flagError words the errors of the flag parser.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		number  *strconv.NumError
		field   *workload.FieldError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return usagef("--%s: a value is missing; see tailrace %s --help", missing.GetSpecifiedName(), cmd.Name())
	case errors.As(err, &invalid) && errors.As(err, &field):
		named := *field
		named.Field = "--" + invalid.GetFlag().Name
		return &named
	case errors.As(err, &invalid) && errors.As(err, &number):
		return usagef("--%s %s: %w; give true or false, or the flag alone", invalid.GetFlag().Name, invalid.GetValue(), number.Err)
	default:
		return usageError{err}
	}
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	switch near := workload.Nearest(name, names); {
	case err.GetSpecifiedShortnames() != "":
		return usagef("-%s: no such flag; flags have two dashes, see %s --help", err.GetSpecifiedShortnames(), cmd.CommandPath())
	case near != "":
		return usagef("--%s: no such flag; did you mean --%s?", name, near)
	default:
		return usagef("--%s: no such flag; see %s --help", name, cmd.CommandPath())
	}
}

// knownCommand refuses arguments of the root command, which can only be misspelt commands.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	if near := workload.Nearest(args[0], append(names, "help", "completion", "--version")); near != "" {
		return usagef("%s: no such command; did you mean tailrace %s?", args[0], near)
	}
	return usagef("%s: no such command; there are %s", args[0], strings.Join(names, ", "))
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s: %s takes no arguments; see its --help", args[0], cmd.CommandPath())
	}
	return nil
}
