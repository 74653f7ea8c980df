package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// standardOutput keeps the first error of writing to where a command prints, for when the command is over. Its methods
// may be called concurrently: a command that was interrupted may still print.
type standardOutput struct {
	to io.Writer

	mu  sync.Mutex
	err error // the first; nothing is written after it
}

func (o *standardOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// after is the error of a command that has printed: its own, unless what it printed is lost. That nobody reads on, as
// head does, is no error.
func (o *standardOutput) after(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == nil:
		return err
	case errors.Is(o.err, syscall.EPIPE) && errors.Is(err, syscall.EPIPE):
		return nil
	case errors.Is(o.err, syscall.EPIPE):
		return err
	case err == nil || errors.Is(err, o.err):
		return outputError(fmt.Errorf("standard output cannot be written: %w", reasonOf(o.err)))
	default:
		return outputError(fmt.Errorf("standard output cannot be written: %w; %w", reasonOf(o.err), err))
	}
}

// reasonOf is an error of the system without the place that it names.
func reasonOf(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}

// printed is standard output for commands that do more than print: writing to it never fails, so that they go on, and
// what is lost is said when they are over.
type printed struct{ *standardOutput }

func (p printed) Write(text []byte) (int, error) {
	_, _ = p.standardOutput.Write(text) // it keeps the error
	return len(text), nil
}

// streamed is standard output for a command that does nothing but print, and ends when that fails.
func streamed(w io.Writer) io.Writer {
	if p, ok := w.(printed); ok {
		return p.standardOutput
	}
	return w
}
