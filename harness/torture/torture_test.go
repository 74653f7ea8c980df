package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"tailrace/strategies"
)

// memory is a directory in memory where there is one, so that tests do not wait for a disk.
func memory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "tailrace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Every strategy passes all kinds of rounds, on files and on the heap, and the faulty one does not.
func TestStrategies(t *testing.T) {
	for _, s := range strategies.List {
		t.Run(s.Name, func(t *testing.T) {
			if why := Skip(s); why != "" {
				t.Skip(why)
			}
			o := Options{Duration: 500 * time.Millisecond, Seed: 1, Dir: scratchDir(t), Heap: true}
			counts, err := Check(t.Context(), s, o)
			v, violated := errors.AsType[*Violation](err)
			if violated != s.Faulty || err != nil && !violated {
				t.Errorf("%v", err)
			}
			if violated && (v.Strategy != s.Name || v.Check == "" || v.What == "") {
				t.Errorf("the violation is %+v", v)
			}
			if !violated && counts.Rounds < int64(len(checks())) {
				t.Errorf("a check was left out: %+v", counts)
			}
			if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
				t.Errorf("data is left behind: %v, %v", left, err)
			}
		})
	}
}

func TestViolationWrite(t *testing.T) {
	v := &Violation{Strategy: "busted", Check: "long run", What: "it lies", Seed: 7}
	var err error = with(v, "history.txt", []byte("said"))
	dir := t.TempDir() + "/new"
	names, writeErr := v.Write(dir)
	if writeErr != nil || len(names) != 2 {
		t.Fatal(names, writeErr)
	}
	text, readErr := os.ReadFile(names[0])
	if readErr != nil || !strings.Contains(string(text), "it lies") || !strings.Contains(string(text), "7") {
		t.Errorf("%q, %v", text, readErr)
	}
	if !strings.HasSuffix(names[1], "busted-history.txt") || !strings.Contains(err.Error(), "busted: long run: it lies") {
		t.Errorf("%v, %v", names, err)
	}
}

// A seed gives the same batches and the same calls, however they interleave.
func TestSeedRepeats(t *testing.T) {
	s, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for range 2 {
		r := &round{strategy: s, seed: 3, random: newRandom(3, 0), counts: &Counts{}}
		h := r.newHistory(2, 2)
		text := string(h.model.listing(nil))
		for _, c := range h.clients {
			text += fmt.Sprint(c.planned, c.calls, c.random.Uint64())
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("the seed gives\n%sand\n%s", first, text)
		}
	}
}

// In a process of its own, a check finds what it finds in this one.
func TestRun(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mutex", "busted"} {
		s, err := strategies.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := scratchDir(t)
		var seeds []uint64
		counts, err := Run(t.Context(), child(program), s, Options{
			Duration: 400 * time.Millisecond, Seed: 5, Dir: dir, Processors: 2,
			Progress: func(p Progress) { seeds = append(seeds, p.Seed) },
		})
		v, violated := errors.AsType[*Violation](err)
		switch {
		case violated != s.Faulty:
			t.Errorf("%s: %v", name, err)
		case violated && (v.Seed != seeds[len(seeds)-1] || v.Check == "" || v.Strategy != name):
			t.Errorf("%s: %+v, after the seeds %v", name, v, seeds)
		case !violated && (counts.Rounds == 0 || seeds[0] != 5):
			t.Errorf("%s: %+v, seeds %v", name, counts, seeds)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("data is left behind: %v, %v", left, err)
		}
	}
}

func TestRunEnds(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := scratchDir(t)
	_, err = Run(ctx, child(program), s, Options{Duration: time.Hour, Dir: dir, Progress: func(Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("data is left behind: %v, %v", left, err)
	}
	// A program that is none of a check's.
	if _, err := Run(t.Context(), []string{"false"}, s, Options{Heap: true}); err == nil {
		t.Error("a process that fails is taken for a check that found nothing")
	}
	if _, err := Run(t.Context(), []string{"true"}, s, Options{Heap: true}); err == nil {
		t.Error("a process that says nothing is taken for a check that found nothing")
	}
}

// A process that ends badly has found something, also when it has said that there was nothing to find: so does the race
// detector, unless it is told to end the process at the race.
func TestRunOfARace(t *testing.T) {
	s, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	const begins = `read task; echo '{"Progress":{"Check":"long run","Seed":8}}'; `
	for name, script := range map[string]string{
		"at once":    begins + `case $GORACE in *halt_on_error=1*) echo 'WARNING: DATA RACE' >&2; exit 66;; esac; echo '{"Done":true}'`,
		"at the end": begins + `echo '{"Done":true}'; echo 'WARNING: DATA RACE' >&2; exit 66`,
	} {
		_, err := Run(t.Context(), []string{"sh", "-c", script}, s, Options{Heap: true})
		v, ok := errors.AsType[*Violation](err)
		if !ok || v.Check != "long run" || v.Seed != 8 || v.What != "the process crashes: WARNING: DATA RACE" || len(v.Evidence) != 1 {
			t.Errorf("%s: %v (%+v), want the race, with the report", name, err, v)
		}
	}
}

// The race of a faulty strategy does not catch it: its checks have to.
func TestRunOfARaceOnPurpose(t *testing.T) {
	s, err := strategies.Find("busted")
	if err != nil {
		t.Fatal(err)
	}
	const script = `read task; echo '{"Progress":{"Check":"long run","Seed":8}}'; ` +
		`case $GORACE in *halt_on_error=0*exitcode=0*) echo '{"Done":true}';; *) exit 66;; esac`
	if _, err := Run(t.Context(), []string{"sh", "-c", script}, s, Options{Heap: true}); err != nil {
		t.Errorf("%v, want nothing found", err)
	}
}

// The watchdog tells a call that does not return, and one that panics.
func TestWatched(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	err := watched("a call", 20*time.Millisecond, func() error { <-hold; return nil })
	v, ok := errors.AsType[*Violation](err)
	if !ok || !v.Hung || len(v.Evidence) != 1 || !strings.Contains(string(v.Evidence[0].Content), "TestWatched") {
		t.Errorf("%+v, want a call that hangs, with its stack", v)
	}
	var none []int
	err = watched("a call", time.Minute, func() error { _ = none[len(none)]; return nil })
	if v, ok := errors.AsType[*Violation](err); !ok || v.Hung || !strings.Contains(v.What, "index out of range") {
		t.Errorf("%+v, want a panic", err)
	}
	if err := watched("a call", time.Minute, func() error { return nil }); err != nil {
		t.Error(err)
	}
}
