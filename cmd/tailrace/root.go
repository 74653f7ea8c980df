package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tailrace/claims"
	"tailrace/harness"
)

const rootLong = `tailrace answers: for my mix of appends and reads, on my machine, which concurrency
model should guard a shared log? By how much is it better, is that difference
real, and what does it cost in latency and CPU?

It runs the same load against each model in turn, in random order and many short
runs, checks that every answer was right, and compares run with run.`

const rootExample = `  tailrace run                               the default sweep, about two minutes
  tailrace run --workers 8 --mix produce=25  your own mix
  tailrace check                             look for wrong answers of the models
  tailrace list                              what can be compared, under which loads
  source <(tailrace completion bash)         let bash complete commands and names`

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(args)
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &standardOutput{to: stdout}
	root.SetOut(printed{out})
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		root.SetOut(unquoted{printed{out}})
	}
	root.SetErr(stderr)
	err := out.after(root.ExecuteContext(ctx))
	if err != nil {
		fmt.Fprintln(stderr, "tailrace: "+plainText(err.Error()))
	}
	if failed, ok := errors.AsType[*harness.FailedChild](err); ok {
		for _, line := range indented(failed.Said) {
			fmt.Fprintln(stderr, line)
		}
	}
	return exitCode(err)
}

func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:              "tailrace",
		Short:            "Which concurrency model should guard the tail of my log?",
		Long:             rootLong,
		Example:          rootExample,
		Version:          version(),
		Args:             knownCommand,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: warnOfReplaced,

		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate(fmt.Sprintf("tailrace {{.Version}} (%s, %s/%s)\n", runtime.Version(), runtime.GOOS, runtime.GOARCH))
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newRun(append([]string{"tailrace"}, args...)), newReport(), newCompare(), newClaims(append([]string{"tailrace"}, args...)), newCheck(), newList(), newDump(), newDoctor(), newExecute(), newLoops(), newPressure(), newTorture(), newCompletion(), newMan())
	return root
}

// newExecute is the command with which a sweep starts the process of each run.
func newExecute() *cobra.Command {
	return &cobra.Command{
		Use:    "execute",
		Short:  "Do one run of a sweep, as standard input says",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return harness.Execute(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// newLoops is the command with which the claims start the process of a block of an experiment.
func newLoops() *cobra.Command {
	return &cobra.Command{
		Use:    "loops",
		Short:  "Make one block of an experiment of the claims, as standard input says",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return claims.ExecuteLoops(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// newPressure is the command with which the claims start the process of an experiment that lacks memory or processors.
func newPressure() *cobra.Command {
	return &cobra.Command{
		Use:    "pressure",
		Short:  "Make one experiment of the claims under a limit, as standard input says",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return claims.ExecutePressure(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// ownBinary is this very binary, for the processes of runs: also where another has been put in its place, or
// it has been removed, since it was started.
func ownBinary() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// version is that of the build: a release, or the commit that it was made from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return "devel"
	}
	return cmp.Or(info.Main.Version, "devel")
}
