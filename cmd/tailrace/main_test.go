package main

import (
	"errors"
	"io/fs"
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
			"exits":   exits,
			"flip":    flip,
			"makelog": makelog,
			"refused": refused,
		},
	})
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
