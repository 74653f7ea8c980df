package harness

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

func TestUnwritable(t *testing.T) {
	for said, want := range map[string]error{
		"append: write 0.log: no space left on device":            unix.ENOSPC,
		"mkdir /x: disk quota exceeded":                           unix.EDQUOT,
		"process of a run: exit status 2: pwrite: file too large": unix.EFBIG,
		"read at 5: 0.log is corrupt at byte 423":                 nil,
		"": nil,
	} {
		err := unwritable(said, "tmpfs at /x")
		if (want == nil) != (err == nil) || want != nil && (!errors.Is(err, want) || !errors.Is(err, errUnwritable) || !strings.Contains(err.Error(), "tmpfs at /x")) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// A disk that fills up ends the sweep, keeps what was done, and is no wrong answer; nor is the wrong strategy caught by it.
func TestFullDiskEndsASweep(t *testing.T) {
	for _, mode := range []string{childFull, childFullFirst} {
		o := tinySweep(t, mode)
		p, err := NewPlan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), p)
		if !errors.Is(err, errUnwritable) || !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", mode, err)
		}
		sweep, err := results.Load(o.Out)
		if mode == childFullFirst {
			if err == nil {
				t.Errorf("%s: results of nothing: %d runs", mode, len(sweep.Runs))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range sweep.Runs {
			if run := &sweep.Runs[i]; !run.Valid() {
				t.Errorf("%s: %s", run.Cell.Label(), run.Verification.Error)
			}
		}
	}
}
