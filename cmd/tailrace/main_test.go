package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tailrace": main})
}

// TestScripts runs the command line as a user would. The scripts know more commands:
//
//	measures ARGUMENT...       tailrace with these arguments measures something, if not at once: on a busy machine it
//	                           may say with exit code 3 that nothing ended in a short window
//	exits CODE ARGUMENT...     tailrace with these arguments exits with the code
//	refused TEXT ARGUMENT...   it exits with 2, says TEXT on stderr in one line and nothing on stdout,
//	                           and leaves nothing behind
//	makelog DIR KIND           a small log, see dump_test.go
//	flip FILE BYTE             flips the lowest bit of a byte
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"flip":     flip,
			"makelog":  makelog,
			"measures": measures,
			"refused":  refused,
		},
	})
}

func measures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: measures ARGUMENT...")
	}
	const tries = 20
	for range tries {
		switch code := runTailrace(ts, args); code {
		case 0:
			return
		case exitUnmeasured:
			if out := slices.Index(args, "--out"); out >= 0 {
				ts.Check(os.RemoveAll(ts.MkAbs(args[out+1])))
			}
		default:
			ts.Fatalf("exit code %d", code)
		}
	}
	ts.Fatalf("nothing was measured in %d tries", tries)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGUMENT...")
	}
	if code := strconv.Itoa(runTailrace(ts, args[1:])); code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refused TEXT ARGUMENT...")
	}
	before := allFiles(ts)
	if code := runTailrace(ts, args[1:]); code != exitUsage {
		ts.Fatalf("exit code %d, want %d", code, exitUsage)
	}
	if got, want := ts.ReadFile("stderr"), "tailrace: "+args[0]+"\n"; got != want {
		ts.Fatalf("stderr\n%swant\n%s", got, want)
	}
	if got := ts.ReadFile("stdout"); got != "" {
		ts.Fatalf("stdout has %q", got)
	}
	if after := allFiles(ts); !slices.Equal(before, after) {
		ts.Fatalf("files before %q, after %q", before, after)
	}
}

// runTailrace returns the exit code.
func runTailrace(ts *testscript.TestScript, args []string) int {
	var exit *exec.ExitError
	switch err := ts.Exec("tailrace", args...); {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		ts.Fatalf("%v", err)
		return -1
	}
}

func allFiles(ts *testscript.TestScript) []string {
	var files []string
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, _ fs.DirEntry, err error) error {
		if !strings.Contains(path, ".tmp") { // of the script engine
			files = append(files, path)
		}
		return err
	}))
	return files
}
