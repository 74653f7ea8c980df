package claims

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"tailrace/harness"
	"tailrace/harness/torture"
)

// TestMain makes this program the process of a run, too.
func TestMain(m *testing.M) {
	processes := map[string]func(context.Context, io.Reader, io.Writer) error{
		executeArgument: harness.Execute, loopsArgument: ExecuteLoops, pressureArgument: ExecutePressure, tortureArgument: torture.Execute,
	}
	if process := processes[os.Args[len(os.Args)-1]]; process != nil {
		if err := process(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	executeArgument  = "execute-a-run"
	loopsArgument    = "time-loops"
	pressureArgument = "measure-under-pressure"
	tortureArgument  = "check-a-strategy"
)
