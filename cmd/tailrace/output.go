package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tailrace/harness"
	"tailrace/plots"
	"tailrace/results"
)

const (
	outParent    = "out"
	latestLink   = "latest"
	chartsFolder = "charts"
	reportFile   = "report.html"
)

// resultsDirectory is where the results go: as given, or a folder of out named after the time.
func resultsDirectory(given string, now time.Time) (string, error) {
	if given == "" {
		return unusedDirectory(filepath.Join(outParent, now.Format("20060102-150405"))), nil
	}
	absolute, err := filepath.Abs(given)
	if err != nil {
		return "", usagef("--out %s: %w", given, err)
	}
	link, err := filepath.Abs(filepath.Join(outParent, latestLink))
	if err != nil {
		return "", usagef("--out %s: %w", given, err)
	}
	if inside, err := filepath.Rel(link, absolute); err == nil && filepath.IsLocal(inside) {
		return "", usagef("--out %s: %s is the link to the newest results; give a name of its own", given, filepath.Join(outParent, latestLink))
	}
	return filepath.Clean(given), nil // a/../b where there is no a is b
}

// interruptedDirectory is where the sweep is that --resume goes on with: as given, or the newest in out that
// has not been finished.
func interruptedDirectory(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	found, err := results.NewestInterrupted(outParent)
	if err != nil {
		return "", usagef("--resume: %w; name its directory with --out", err)
	}
	return found, nil
}

// unusedDirectory adds a number to a path where there is something already: a sweep may be shorter
// than a second.
func unusedDirectory(path string) string {
	unused := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(unused); err != nil {
			return unused
		}
		unused = fmt.Sprintf("%s-%d", path, n)
	}
}

// linkLatest lets out/latest point to results in out, and returns the shortest path to them.
func linkLatest(dir string) (string, error) {
	parent, name := filepath.Dir(filepath.Clean(dir)), filepath.Base(dir)
	if parent != outParent {
		return dir, nil
	}
	// A link under another name, renamed: there is no moment without one.
	link, temporary := filepath.Join(parent, latestLink), filepath.Join(parent, "."+latestLink+"-"+name)
	err := os.Symlink(name, temporary)
	if err == nil {
		err = os.Rename(temporary, link)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(temporary))
	}
	return link, nil
}

// printSweep writes the results for whoever is waiting for them.
func printSweep(w io.Writer, sweep *results.Sweep, asJSON bool) error {
	if !asJSON {
		return sweep.WriteTable(w, terminalColumns(w))
	}
	return sweep.WriteJSON(w)
}

// untilInterrupted does work that no context ends, and waits for it no longer than until the context does: the error
// is then harness.ErrInterrupted, and the process has to end. That is sound for work that reads and that replaces files
// as a whole, since none of them is ever there in part.
func untilInterrupted(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return harness.ErrInterrupted
	}
}

// writeCharts writes the charts of a sweep and the report that shows them.
func writeCharts(sweep *results.Sweep, dir string) error {
	charts, err := plots.WriteCharts(sweep, filepath.Join(dir, chartsFolder))
	if err != nil {
		return err
	}
	return plots.WriteReport(sweep, charts, filepath.Join(dir, reportFile))
}
