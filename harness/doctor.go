package harness

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"tailrace/results"
)

// Status is how far a finding is from what measuring needs.
type Status string

// Statuses of findings.
const (
	StatusOK      Status = "ok"
	StatusUnknown Status = "unknown" // could not be seen, which is no fault
	StatusWarning Status = "warning" // results are worth less, or need more blocks
	StatusUnfit   Status = "unfit"   // results are worth nothing
)

// Finding is one thing that was looked at or measured.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Seen   string `json:"seen"`           // in words
	Why    string `json:"why,omitempty"`  // it matters; set where the status is a warning or worse
	Mend   string `json:"mend,omitempty"` // a command where there is one; set like Why
}

// grave reports whether a finding is a warning or worse.
func (f *Finding) grave() bool { return f.Status == StatusWarning || f.Status == StatusUnfit }

func ok(name, format string, args ...any) Finding {
	return Finding{Name: name, Status: StatusOK, Seen: fmt.Sprintf(format, args...)}
}

func unknown(name, format string, args ...any) Finding {
	return Finding{Name: name, Status: StatusUnknown, Seen: fmt.Sprintf(format, args...)}
}

// Diagnosis is what Examine found of a machine.
type Diagnosis struct {
	Environment  results.Environment `json:"environment"`
	Version      string              `json:"version"`
	Checks       []Finding           `json:"checks"`
	Calibrations []Calibration       `json:"calibrations"`
	// Spread is nil in a quick examination.
	Spread   *Spread `json:"spread,omitempty"`
	Fit      bool    `json:"fit"`
	Warnings int     `json:"warnings"`
	Verdict  string  `json:"verdict"`         // a sentence
	First    string  `json:"first,omitempty"` // what to do first
	Seconds  float64 `json:"seconds"`         // that the examination took
}

// Examination is what to examine.
type Examination struct {
	// Quick leaves the A/A spread out and calibrates for a shorter time.
	Quick bool
	// Dir is the existing directory whose disk is examined; "" means the working directory. Something is
	// written in it, and removed.
	Dir string
	// Child and Version are as in Options.
	Child   []string
	Version string
	// Progress, if set, is called with what is done next, from the goroutine of Examine.
	Progress func(doing string)

	// For tests: how long to look at an idle machine, and to calibrate each operation; 0 is as it should be.
	idle, budget time.Duration
}

// Examine looks at this machine for what spoils measurements, measures what its parts cost, and how much
// equal runs differ: about 20 s, or 3 s if it is to be quick. It leaves nothing behind. Errors wrap
// ErrUsage where Dir cannot be used, and ErrInterrupted when the context ends. It is meant to run alone
// in its process.
func Examine(ctx context.Context, e Examination) (*Diagnosis, error) {
	began := time.Now()
	if e.Dir != "" {
		if _, err := new(placer).inspect(e.Dir, 0); err != nil {
			return nil, err
		}
	}
	m := thisMachine(cmp.Or(e.Dir, "."))
	say := func(doing string) {
		if e.Progress != nil {
			e.Progress(doing)
		}
	}
	say("looking at the machine for a second")
	before := m.sample()
	if err := wait(ctx, cmp.Or(e.idle, time.Second)); err != nil {
		return nil, err
	}
	idle := m.sample()

	d := &Diagnosis{Environment: environment(), Version: e.Version, Checks: m.checks(before, idle)}
	var err error
	if d.Calibrations, err = calibrate(ctx, m, e.calibrationTime(), say); err != nil {
		return nil, err
	}
	if !e.Quick {
		say("comparing equal runs")
		if d.Spread, err = measureSpread(ctx, e.Child, e.Version); err != nil {
			return nil, err
		}
	}
	// Only now: throttling needs something to throttle.
	d.Checks = append(d.Checks, throttling(before, m.sample()))
	d.conclude()
	d.Seconds = time.Since(began).Seconds()
	return d, nil
}

func (e *Examination) calibrationTime() time.Duration {
	const long, short = 500 * time.Millisecond, 70 * time.Millisecond
	if e.Quick {
		return cmp.Or(e.budget, short)
	}
	return cmp.Or(e.budget, long)
}

// conclude sums the findings up.
func (d *Diagnosis) conclude() {
	var unfit, warnings []*Finding
	for _, f := range d.findings() {
		switch f.Status {
		case StatusUnfit:
			unfit = append(unfit, f)
		case StatusWarning:
			warnings = append(warnings, f)
		}
	}
	d.Fit, d.Warnings = len(unfit) == 0, len(warnings)
	switch {
	case !d.Fit:
		d.Verdict = fmt.Sprintf("not fit: %s: %s", unfit[0].Name, unfit[0].Seen)
	case d.Warnings == 1:
		d.Verdict = "fit, with 1 warning"
	case d.Warnings > 1:
		d.Verdict = fmt.Sprintf("fit, with %d warnings", d.Warnings)
	default:
		d.Verdict = "fit to measure"
	}
	if all := slices.Concat(unfit, warnings); len(all) > 0 {
		d.First = fmt.Sprintf("%s: %s", all[0].Name, all[0].Mend)
	}
}

// findings are all of them, what matters most first.
func (d *Diagnosis) findings() []*Finding {
	var all []*Finding
	for i := range d.Checks {
		all = append(all, &d.Checks[i])
	}
	for i := range d.Calibrations {
		all = append(all, &d.Calibrations[i].Finding)
	}
	if d.Spread != nil {
		all = append(all, &d.Spread.Finding)
	}
	return all
}

// machine is what the checks look at. Tests make other machines than this one.
type machine struct {
	root       fs.FS // its files; what is not there is unknown
	system     string
	build      []debug.BuildSetting
	variable   func(name string) string // of the environment
	processors int                      // GOMAXPROCS
	dir        string                   // whose disk is examined
	filesystem func(path string) (filesystem, error)
	probe      func(dir string) error // whether something can be made there
}

func thisMachine(dir string) *machine {
	m := &machine{
		root:       os.DirFS("/"),
		system:     runtime.GOOS,
		variable:   os.Getenv,
		processors: runtime.GOMAXPROCS(0),
		dir:        dir,
		filesystem: statFilesystem,
		probe:      probe,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.build = info.Settings
	}
	return m
}

// wait pauses for a time, unless the context ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ErrInterrupted
	}
}
