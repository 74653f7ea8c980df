package harness

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// wantProfile verifies that a file begins as one of its kind: pprof's are gzip files, a trace says so.
func wantProfile(t *testing.T, kind, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if kind == ProfileTrace {
		if !bytes.HasPrefix(data, []byte("go 1.")) || !bytes.Contains(data[:min(16, len(data))], []byte(" trace")) {
			t.Errorf("the trace begins with %q", data[:min(16, len(data))])
		}
		return
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s profile: %v", kind, err)
		return
	}
	if profile, err := io.ReadAll(unzipped); err != nil || len(profile) == 0 {
		t.Errorf("%s profile of %d bytes, %v", kind, len(profile), err)
	}
}

func TestProfiles(t *testing.T) {
	t.Cleanup(func() {
		runtime.SetMutexProfileFraction(0)
		runtime.SetBlockProfileRate(0)
	})
	dir := t.TempDir()
	spec := specOf(tinyMix(), "mutex", "")
	spec.Profile = map[string]string{}
	for _, kind := range ProfileKinds {
		spec.Profile[kind] = filepath.Join(dir, kind)
	}
	if o := mustPerform(t, spec); !o.Run.Valid() {
		t.Fatal(o.Run.Verification.Error)
	}
	for kind, path := range spec.Profile {
		wantProfile(t, kind, path)
	}
}

// A profile that can't be written fails the run, and leaves none going.
func TestProfileThatCannotBeWritten(t *testing.T) {
	for _, kind := range ProfileKinds {
		spec := specOf(tinyMix(), "mutex", "")
		spec.Profile = map[string]string{ProfileCPU: filepath.Join(t.TempDir(), "cpu"), kind: filepath.Join(t.TempDir(), "missing", kind)}
		if o := mustPerform(t, spec); o.Run.Valid() || !strings.Contains(o.Run.Verification.Error, "missing") {
			t.Errorf("%s: the run says %q", kind, o.Run.Verification.Error)
		}
	}
	TestProfiles(t)
}

func TestPlanRefusesUnknownProfile(t *testing.T) {
	o := planned(t, tinyMix())
	o.Profiles = []string{ProfileCPU, "heap"}
	p, err := NewPlan(context.Background(), o)
	wantUsage(t, p, err, "heap", "cpu, mutex, block, trace")
}

// A sweep takes the profiles of each cell in runs of their own, and says where they are.
func TestSweepProfiles(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.Workloads, o.Blocks = o.Workloads[:1], 1
	o.Profiles = ProfileKinds
	p := mustPlan(t, o)
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != p.Runs() {
		t.Errorf("%d runs, want the %d of the blocks alone", len(s.Runs), p.Runs())
	}
	var want int
	for _, c := range p.Cells {
		if c.Cell.Arm != "" {
			continue
		}
		for _, kind := range ProfileKinds {
			want++
			if !slices.ContainsFunc(s.Meta.Profiles, func(f results.Profile) bool { return f.Cell == c.Cell && f.Kind == kind }) {
				t.Errorf("no %s profile of %s", kind, c.Cell.Label())
			}
		}
	}
	if len(s.Meta.Profiles) != want {
		t.Errorf("%d profiles, want %d", len(s.Meta.Profiles), want)
	}
	for _, f := range s.Meta.Profiles {
		if !filepath.IsLocal(f.File) {
			t.Errorf("the profile is at %s", f.File)
		}
		wantProfile(t, f.Kind, filepath.Join(o.Out, f.File))
	}
	wantEmpty(t, o.Dir)
}

// A cell whose run fails has no profile, which is told; the others have theirs.
func TestSweepProfilesOfFailingRuns(t *testing.T) {
	o := tinySweep(t, childCrashes)
	o.Workloads, o.Blocks, o.Profiles = o.Workloads[:1], 1, []string{ProfileCPU}
	s, err := Run(context.Background(), mustPlan(t, o))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Meta.Profiles {
		if f.Cell.Strategy == "rwmutex" {
			t.Errorf("a run that crashed has the profile %s", f.File)
		}
	}
	if !slices.ContainsFunc(s.Meta.Warnings, func(w string) bool { return strings.Contains(w, "no cpu profile of mix rwmutex") }) {
		t.Errorf("the warnings are %q", s.Meta.Warnings)
	}
	if len(s.Meta.Profiles) != 2 { // mutex and raw
		t.Errorf("%d profiles, want 2", len(s.Meta.Profiles))
	}
}
