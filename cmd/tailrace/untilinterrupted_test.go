package main

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

func TestUntilInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, want := range []error{nil, fs.ErrExist} {
		if err := untilInterrupted(ctx, func() error { return want }); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	release := make(chan struct{})
	defer close(release)
	err := untilInterrupted(ctx, func() error {
		cancel()
		<-release // far longer than anybody wants to wait
		return nil
	})
	if code := exitCode(err); code != exitInterrupted {
		t.Errorf("%v: exit code %d, want %d", err, code, exitInterrupted)
	}
}

func TestOutputErrorsAreNoFindings(t *testing.T) {
	err := outputError(&fs.PathError{Op: "write", Path: "a", Err: fs.ErrPermission})
	if code := exitCode(err); code != exitUsage || !errors.Is(err, fs.ErrPermission) || err.Error() != "write a: permission denied" {
		t.Errorf("%v: exit code %d", err, code)
	}
	if err := outputError(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestErrorsCommandNoTerminal(t *testing.T) {
	if got, want := plainText("results: \x1b[2Jname\a:\nno such file"), "[2Jname : no such file"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
