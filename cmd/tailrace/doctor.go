package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"tailrace/harness"
)

const doctorLong = `Look for what is wrong with this machine for measuring, and say how to mend it:
other processes, steal, quota, clock, frequencies, memory, disk and more. Then measure
what the parts of a run cost here, from a clock read to an fdatasync, and run the mutex
against itself: how much equal runs differ, hence how many --blocks a difference needs.

It takes about 20 s, with --quick 3 s without the comparison of equal runs, and leaves
nothing behind. What each line means: docs/doctor.md.

Exit codes: 0 fit to measure, also with warnings, 2 bad input, or output that can't be
written, 3 not fit: results would be worth nothing, 130 interrupted.`

const doctorExample = `  tailrace doctor
  tailrace doctor --quick --dir /mnt/data
  tailrace doctor --json | jq '.checks[] | select(.status != "ok")'`

// unfitError has errUnmeasured in its chain, for its exit code, but not in its text.
type unfitError string

func (e unfitError) Error() string { return string(e) }

func (e unfitError) Unwrap() error { return errUnmeasured }

func newDoctor() *cobra.Command {
	var examination harness.Examination
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "doctor [flags]",
		Short:                 "Say what is wrong with this machine for measuring, and how to mend it",
		Long:                  doctorLong,
		Example:               doctorExample,
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			executable, err := ownBinary()
			if err != nil {
				return err
			}
			examination.Child, examination.Version = []string{executable, "execute"}, version()
			shown := newProgress(cmd.ErrOrStderr(), false)
			examination.Progress = shown.say
			diagnosis, err := harness.Examine(cmd.Context(), examination)
			shown.clear()
			if err != nil {
				return err
			}
			return printDiagnosis(cmd.OutOrStdout(), diagnosis, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&examination.Quick, "quick", false, "calibrate for a shorter time, and compare no equal runs")
	cmd.Flags().Var(single(&examination.Dir, "", parseGiven), "dir", "existing `directory` whose disk is examined (default the working directory)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the diagnosis as JSON instead of text")
	return cmd
}

// printDiagnosis writes the diagnosis. A machine that is not fit is an error.
func printDiagnosis(w io.Writer, d *harness.Diagnosis, asJSON bool) error {
	err := writeDiagnosis(w, d, asJSON)
	if err == nil && !d.Fit {
		return unfitError("this machine is " + d.Verdict)
	}
	return err
}

func writeDiagnosis(w io.Writer, d *harness.Diagnosis, asJSON bool) error {
	if !asJSON {
		return d.WriteText(w)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(d)
}
