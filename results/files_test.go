package results_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// names are those of the files in a folder of a sweep.
func names(t *testing.T, s *results.Sweep, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.Dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// written is a sweep of three runs in a directory, of which the last failed verification.
func written(t *testing.T) *results.Sweep {
	t.Helper()
	dir, w := create(t)
	for i := range 3 {
		run := testRun(i)
		if i == 2 {
			run.Verification.Error = "wrong"
		}
		if err := w.Add(run, whole(twoKinds())); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(testMeta()); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

func TestWriteFilesReplacesWhatThereWas(t *testing.T) {
	s := written(t)
	latencies := []string{
		"0000-mix-mutex-b1-consume.hgrm", "0000-mix-mutex-b1-produce.hgrm", "0000-mix-mutex-b1.hlog",
		"0001-mix-mutex-b1-consume.hgrm", "0001-mix-mutex-b1-produce.hgrm", "0001-mix-mutex-b1.hlog", "0002-mix-mutex-b1.hlog",
	}
	// What others have put there stays.
	theirs := []string{"notes.json", "simple-Kafka-2026-01-04-19-30-31.json"}
	for _, name := range theirs {
		write(t, filepath.Join(s.Dir, "omb", name), "{}")
	}
	for range 2 {
		for _, file := range []string{"bench.txt", "summary.md", "summary.csv"} {
			if read(t, filepath.Join(s.Dir, file)) == "" {
				t.Errorf("%s is empty", file)
			}
			write(t, filepath.Join(s.Dir, file), "stale")
		}
		if got := names(t, s, "latency"); !slices.Equal(got, latencies) {
			t.Errorf("latencies %q, want %q", got, latencies)
		}
		if got := names(t, s, "omb"); !slices.Equal(got, append([]string{"mix-mutex-0000.json"}, theirs...)) {
			t.Errorf("results %q", got)
		}
		want := hgrm(t, twoKinds()[results.KindConsume])
		if got := read(t, filepath.Join(s.Dir, "latency", latencies[0])); got != want {
			t.Errorf("percentiles\n%s\nwant\n%s", got, want)
		}
		for _, file := range []string{"latency/0009-gone-b1-e2e.hgrm", "omb/gone-0009.json"} {
			write(t, filepath.Join(s.Dir, file), "stale")
		}
		write(t, filepath.Join(s.Dir, "latency", latencies[0]), "stale")
		if err := s.WriteFiles(); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings %q", s.Warnings)
	}
	if summary := read(t, filepath.Join(s.Dir, "summary.csv")); summary == "stale" {
		t.Error("the summary is the old one")
	}
}

func TestWriteFilesWarnsOfLatenciesThatCannotBeRead(t *testing.T) {
	s := written(t)
	if err := os.Remove(filepath.Join(s.Dir, s.Runs[0].Latency)); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(s.Dir, s.Runs[1].Latency)
	write(t, log, strings.Replace(read(t, log), "HISTF", "HISTG", 1))
	for range 2 {
		if err := s.WriteFiles(); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"run 0 are in no .hgrm file: ", "run 1 are in no .hgrm file: ", "omb has no file for `mutex` of mix: "} {
		with := slices.Collect(func(yield func(string) bool) {
			for _, warning := range s.Warnings {
				if strings.Contains(warning, part) && !yield(warning) {
					return
				}
			}
		})
		if len(with) != 1 || !strings.Contains(read(t, filepath.Join(s.Dir, "summary.md")), with[0]) {
			t.Errorf("with %q: %q, in the summary too", part, with)
		}
	}
	if got := names(t, s, "latency"); len(got) != 2 { // the logs of the other two
		t.Errorf("latencies %q", got)
	}
	if got := names(t, s, "omb"); len(got) != 0 {
		t.Errorf("results %q", got)
	}
}

func TestWriteFilesOfNothing(t *testing.T) {
	s := &results.Sweep{Dir: tempDir(t)}
	if err := s.WriteFiles(); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, s, "."), []string{"bench.txt", "summary.csv", "summary.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCheckUnusedKnowsWhatWriteFilesWrites(t *testing.T) {
	for _, name := range []string{"summary.csv", "omb/mix-mutex-0000.json", "latency/0000-mix-mutex-b1-produce.hgrm"} {
		dir := tempDir(t)
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, "something")
		if err := results.CheckUnused(dir); !errors.Is(err, results.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Results go where nothing is, or nothing but what an earlier sweep has left that was killed at once.
func TestCheckPlace(t *testing.T) {
	for _, test := range []struct {
		files []string
		want  error
	}{
		{nil, nil},
		{[]string{".gitignore", "lost+found/"}, nil},
		{[]string{"notes"}, results.ErrForeign},
		{[]string{".gitignore", "latency.txt", "home/"}, results.ErrForeign},
		{[]string{"notes", "latency/", "charts/"}, nil},
		{[]string{"notes", "claims.json"}, nil},
		{[]string{"notes", "meta.json"}, results.ErrExists},
	} {
		dir := tempDir(t)
		for _, name := range test.files {
			if folder, ok := strings.CutSuffix(name, "/"); ok {
				if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
					t.Fatal(err)
				}
				continue
			}
			write(t, filepath.Join(dir, name), "something")
		}
		if err := results.CheckPlace(dir); !errors.Is(err, test.want) {
			t.Errorf("%q: %v, want %v", test.files, err, test.want)
		}
	}
	if err := results.CheckPlace(filepath.Join(tempDir(t), "missing")); err != nil {
		t.Errorf("a new directory: %v", err)
	}
}

// BenchmarkWriteFiles makes the files of a sweep of 96 runs with three million latencies.
func BenchmarkWriteFiles(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "sweep")
	if err := resultstest.Write(dir, 3); err != nil {
		b.Fatal(err)
	}
	s, err := results.Load(dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.WriteFiles(); err != nil {
			b.Fatal(err)
		}
	}
}
