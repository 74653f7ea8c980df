package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/results"
)

// resumable is a sweep of eight runs.
func resumable(t *testing.T) Options {
	t.Helper()
	o := tinySweep(t, childWorks)
	o.Workloads = o.Workloads[:1]
	return o
}

// interrupt begins a sweep and ends it when so many runs are done.
func interrupt(t *testing.T, o Options, runs int) *Plan {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(p Progress) {
		if p.Done == runs {
			cancel()
		}
	}
	p := mustPlan(t, o)
	s, err := Run(ctx, p)
	if !errors.Is(err, ErrInterrupted) || s == nil || len(s.Runs) != runs || !s.Meta.Interrupted {
		t.Fatalf("the sweep gave %v and %v, want ErrInterrupted after %d runs", s, err, runs)
	}
	return p
}

func mustResume(t *testing.T, o Options, progress func(Progress)) *Plan {
	t.Helper()
	p, err := ResumePlan(context.Background(), o.Out, o.Child, progress)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantAllRuns verifies that a sweep has each run of a plan once, in the plan's order.
func wantAllRuns(t *testing.T, s *results.Sweep, p *Plan) {
	t.Helper()
	turns := p.turns()
	if len(s.Runs) != len(turns) {
		t.Fatalf("%d runs, %d were planned", len(s.Runs), len(turns))
	}
	for i, run := range s.Runs {
		if want := turns[i]; run.Index != want.index || run.Block != want.block || run.Cell != want.cell.Cell || !run.Valid() {
			t.Errorf("run %d: index %d, block %d, %s; want %d, %d, %s (%s)",
				i, run.Index, run.Block, run.Cell.Label(), want.index, want.block, want.cell.Cell.Label(), run.Verification.Error)
		}
		if h, err := s.Histograms(&run); err != nil || len(h) != len(run.Samples) {
			t.Errorf("run %d: %d histograms for %d kinds, %v", i, len(h), len(run.Samples), err)
		}
		if same := s.Runs[i/len(p.Cells)*len(p.Cells)]; run.Seed != same.Seed {
			t.Errorf("run %d has another seed than the others of its block", i)
		}
	}
}

// A plan is what it was when it has been written and read.
func TestSavedPlan(t *testing.T) {
	o := planned(t, tinyMix(), tinyTail(), openLoop())
	o.Shard, o.Profiles, o.KeepData, o.Seed = Shard{2, 3}, []string{ProfileCPU}, true, 1<<63+1
	o.Workloads[2].Payload = []byte("some bytes\x00\xff")
	search := tiny("search")
	search.Producers, search.Search = 2, true
	for _, workloads := range [][]int{{0, 1, 2}, {3}} {
		o := o
		all := append(o.Workloads, search)
		o.Workloads = nil
		for _, i := range workloads {
			o.Workloads = append(o.Workloads, all[i])
		}
		if workloads[0] == 3 {
			o.Shard, o.Profiles = Shard{}, nil
		}
		want := mustPlan(t, o).saved()
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got savedPlan
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != string(text) {
			t.Errorf("the plan is\n%s\nand was\n%s\n%v", again, text, err)
		}
		if got.ID == "" || got.Seed != o.Seed || got.Shard != o.Shard || len(got.Cells) != len(want.Cells) || len(got.Searches) != len(want.Searches) {
			t.Errorf("read %+v", got)
		}
	}
}

func TestResume(t *testing.T) {
	const all = 8
	for _, done := range []int{1, 4, 7} {
		o := resumable(t)
		planned := interrupt(t, o, done)
		wantEmpty(t, o.Dir)
		var calls []Progress
		p := mustResume(t, o, func(p Progress) { calls = append(calls, p) })
		s, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		wantAllRuns(t, s, planned)
		if s.Meta.Resumed != 1 || s.Meta.Interrupted || s.Meta.Plan != planned.Meta.Plan || s.Meta.Baseline != "mutex" || len(s.Meta.Planned) != 1 {
			t.Errorf("resumed %d times, interrupted %t, plan %s, baseline %s, %d comparisons",
				s.Meta.Resumed, s.Meta.Interrupted, s.Meta.Plan, s.Meta.Baseline, len(s.Meta.Planned))
		}
		if len(calls) == 0 || calls[0].Done != done || calls[0].Run != nil {
			t.Fatalf("the first of %d calls is not of %d runs", len(calls), done)
		}
		last := calls[len(calls)-1]
		if len(calls) != 1+all-done || last.Done != all || last.Total != all || last.Left != 0 {
			t.Errorf("%d calls, the last: %d of %d done, %v left", len(calls), last.Done, last.Total, last.Left)
		}
		wantEmpty(t, o.Dir)
		for _, name := range []string{"bench.txt", "summary.md"} {
			if _, err := os.Stat(filepath.Join(o.Out, name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// A sweep may be interrupted as often as one likes.
func TestResumeAgain(t *testing.T) {
	o := resumable(t)
	planned := interrupt(t, o, 3)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := mustResume(t, o, func(p Progress) {
		if p.Done == 6 {
			cancel()
		}
	})
	if s, err := Run(ctx, p); !errors.Is(err, ErrInterrupted) || len(s.Runs) != 6 {
		t.Fatalf("the sweep gave %v and %v", s, err)
	}
	s, err := Run(context.Background(), mustResume(t, o, nil))
	if err != nil {
		t.Fatal(err)
	}
	wantAllRuns(t, s, planned)
	if s.Meta.Resumed != 2 {
		t.Errorf("resumed %d times, want 2", s.Meta.Resumed)
	}
}

// leave puts data where a killed sweep would have left it.
func leave(t *testing.T, p *Plan, place Place) {
	t.Helper()
	run := filepath.Join(p.root(place), "000003-mix-mutex-b0", "0000")
	if err := os.MkdirAll(run, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "data"), []byte("data"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a sweep that was killed has left of its data is removed.
func TestResumeRemovesWhatWasLeft(t *testing.T) {
	o := resumable(t)
	planned := interrupt(t, o, 2)
	leave(t, planned, planned.Cells[0].Place)
	s, err := Run(context.Background(), mustResume(t, o, nil))
	if err != nil {
		t.Fatal(err)
	}
	wantAllRuns(t, s, planned)
	wantEmpty(t, o.Dir)
}

// A killed sweep has no more than its journal, perhaps with half a line.
func TestResumeKilled(t *testing.T) {
	o := resumable(t)
	planned := interrupt(t, o, 5)
	for _, name := range []string{"bench.txt", "summary.md"} {
		if err := os.Remove(filepath.Join(o.Out, name)); err != nil {
			t.Fatal(err)
		}
	}
	journal := filepath.Join(o.Out, "runs.jsonl")
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, text[:len(text)-40], 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Run(context.Background(), mustResume(t, o, nil))
	if err != nil {
		t.Fatal(err)
	}
	wantAllRuns(t, s, planned)
}

func TestResumeShard(t *testing.T) {
	o := resumable(t)
	o.Blocks, o.Shard = 4, Shard{2, 2}
	planned := interrupt(t, o, 5)
	s, err := Run(context.Background(), mustResume(t, o, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Runs) != 8 || s.Meta.Shard != "2/2" {
		t.Fatalf("%d runs of shard %q, want 8 of 2/2", len(s.Runs), s.Meta.Shard)
	}
	for i, turn := range planned.turns() {
		if s.Runs[i].Index != turn.index || s.Runs[i].Block != turn.block || s.Runs[i].Block%2 != 1 {
			t.Errorf("run %d has index %d in block %d", i, s.Runs[i].Index, s.Runs[i].Block)
		}
	}
}

// A search goes on where it was: what its runs have told is in the journal.
func TestResumeSearch(t *testing.T) {
	o := searching(t, "mutex", "actor")
	interrupt(t, o, 4)
	before, err := results.Load(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Run(context.Background(), mustResume(t, o, nil))
	if err != nil {
		t.Fatal(err)
	}
	wantSearches(t, s, "mutex", "actor")
	for i, run := range before.Runs {
		if !s.Runs[i].Start.Equal(run.Start) || s.Runs[i].Cell != run.Cell {
			t.Errorf("run %d was done again", i)
		}
	}
	if s.Meta.Resumed != 1 {
		t.Errorf("resumed %d times", s.Meta.Resumed)
	}
}

// The data of a killed search is removed as well, before anything else is done.
func TestResumeSearchRemovesWhatWasLeft(t *testing.T) {
	o := searching(t, "mutex")
	o.Storage, o.Dir = StorageAuto, t.TempDir()
	planned := interrupt(t, o, 2)
	leave(t, planned, planned.Searches[0].Cells[0].Place)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := mustResume(t, o, func(Progress) { cancel() })
	if _, err := Run(ctx, p); !errors.Is(err, ErrInterrupted) {
		t.Errorf("the sweep ended with %v, want ErrInterrupted", err)
	}
	wantEmpty(t, o.Dir)
}

func TestResumeRefuses(t *testing.T) {
	edit := func(name, from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), from, to, 1)
			if changed == string(text) {
				t.Fatalf("%s has no %s", name, from)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := tinySweep(t, childWorks)
	o.Workloads, o.Blocks = o.Workloads[1:], 1
	interrupt(t, o, 1)
	files := map[string][]byte{}
	for _, name := range []string{"meta.json", "runs.jsonl", "plan.json"} {
		text, err := os.ReadFile(filepath.Join(o.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	e := environment()
	quoted := func(key, value string) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return `"` + key + `": ` + string(text)
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, string)
		says   string
	}{
		{"another host", edit("meta.json", quoted("host", e.Host), quoted("host", "elsewhere")), "the host was elsewhere"},
		{"another commit", edit("meta.json", quoted("commit", e.Commit), quoted("commit", "0badc0de")), "the commit of tailrace was 0badc0de"},
		{"another Go", edit("meta.json", quoted("go_version", e.GoVersion), quoted("go_version", "go1.1")), "the Go version was go1.1"},
		{"another processor", edit("meta.json", quoted("cpu_model", e.CPUModel), quoted("cpu_model", "abacus")), "the CPU was abacus"},
		{"no plan", remove("plan.json"), "plan.json"},
		{"an empty plan", write("plan.json", ""), "plan.json"},
		{"half a plan", write("plan.json", string(files["plan.json"][:len(files["plan.json"])/2])), "plan.json"},
		{"no object", write("plan.json", "[1, 2]"), "plan.json"},
		{"a plan of another schema", edit("plan.json", `"schema":1`, `"schema":99`), "schema 99"},
		{"a plan without anything to run", write("plan.json", `{"schema":1,"id":"ABC","blocks":2}`), "plan"},
		{"a plan of other blocks", edit("plan.json", `"blocks":1,"seed"`, `"blocks":70,"seed"`), "plan"},
		{"a plan whose data would be elsewhere", edit("plan.json", `"id":"`, `"id":"/../../`), "plan"},
		{"no meta", remove("meta.json"), "meta.json"},
		{"a broken meta", write("meta.json", "{"), "meta.json"},
		{"no journal", remove("runs.jsonl"), "runs.jsonl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range files {
				write(name, string(text))(t, dir)
			}
			c.change(t, dir)
			p, err := ResumePlan(context.Background(), dir, o.Child, nil)
			wantUsage(t, p, err, "--resume", c.says)
		})
	}
	t.Run("no directory", func(t *testing.T) {
		p, err := ResumePlan(context.Background(), filepath.Join(t.TempDir(), "none"), o.Child, nil)
		wantUsage(t, p, err, "--resume", "none")
	})
	t.Run("an ended context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if p, err := ResumePlan(ctx, o.Out, o.Child, nil); !errors.Is(err, context.Canceled) || p != nil {
			t.Errorf("an ended context gave %v and %v", p, err)
		}
	})
	t.Run("a finished sweep", func(t *testing.T) {
		if _, err := Run(context.Background(), mustResume(t, o, nil)); err != nil {
			t.Fatal(err)
		}
		p, err := ResumePlan(context.Background(), o.Out, o.Child, nil)
		wantUsage(t, p, err, "--resume", "finished", "tailrace report")
	})
}

// While one process goes on with a sweep, another can't.
func TestResumeInUse(t *testing.T) {
	o := resumable(t)
	interrupt(t, o, 2)
	refused := false
	p := mustResume(t, o, func(p Progress) {
		if p.Done != 3 {
			return
		}
		second := mustResume(t, o, nil)
		s, err := Run(context.Background(), second)
		wantUsage(t, nil, err, "--resume", o.Out)
		refused = s == nil
	})
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	wantAllRuns(t, s, p)
	if !refused {
		t.Error("two went on with one sweep")
	}
}
