package torture

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// childVariable makes the test program the process of a check.
const childVariable = "TAILRACE_TORTURE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if err := Execute(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the command that starts a program as that process.
func child(program string) []string { return []string{"env", childVariable + "=1", program} }
