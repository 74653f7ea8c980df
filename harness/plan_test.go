package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/strategies"
	"tailrace/workload"
)

// planned is options for a sweep that is never executed, on the heap.
func planned(t *testing.T, workloads ...workload.Workload) Options {
	t.Helper()
	for i := range workloads { // so that a small machine has the room
		workloads[i].MaxBytes = min(workloads[i].MaxBytes, 128<<20)
	}
	return Options{
		Workloads:  workloads,
		GOMAXPROCS: []int{2},
		Blocks:     6,
		Storage:    StorageHeap,
		Out:        filepath.Join(t.TempDir(), "results"),
		Child:      []string{"tailrace"},
	}
}

// labels lists the cells of a workload.
func (p *Plan) labels(workload string) (labels []string) {
	for _, c := range p.Cells {
		if c.Cell.Workload == workload {
			labels = append(labels, c.Cell.Label())
		}
	}
	return labels
}

func TestPlanDefaultSweep(t *testing.T) {
	p := mustPlan(t, planned(t, workload.Presets()...))
	for name, want := range map[string][]string{
		"mix":     {"mutex", "rwmutex", "atomics", "actor", "mutex-rcu", "raw", "A/A"},
		"tail":    {"mutex", "rwmutex", "atomics", "actor", "mutex-rcu"},
		"ingest":  {"mutex", "atomics", "actor", "raw"},
		"durable": {"mutex", "atomics", "actor"},
	} {
		if got := p.labels(name); !slices.Equal(got, want) {
			t.Errorf("%s has the cells %v, want %v", name, got, want)
		}
	}
	if len(p.Cells) != 19 {
		t.Errorf("%d cells, want 19", len(p.Cells))
	}
	var comparisons []string
	for _, c := range p.Meta.Planned {
		comparisons = append(comparisons, fmt.Sprintf("%s %s/%s %s", c.Workload, c.Strategy, c.Baseline, c.Metric))
	}
	want := []string{
		"mix rwmutex/mutex op/s", "mix atomics/mutex op/s", "mix actor/mutex op/s", "mix mutex-rcu/mutex op/s",
		"tail rwmutex/mutex e2e-p90-sec", "tail atomics/mutex e2e-p90-sec", "tail actor/mutex e2e-p90-sec", "tail mutex-rcu/mutex e2e-p90-sec",
		"ingest atomics/mutex produce-op/s", "ingest actor/mutex produce-op/s",
		"durable atomics/mutex produce-op/s", "durable actor/mutex produce-op/s",
	}
	if !slices.Equal(comparisons, want) {
		t.Errorf("planned comparisons are\n%s\nwant\n%s", strings.Join(comparisons, "\n"), strings.Join(want, "\n"))
	}
	if p.Meta.Baseline != "mutex" || len(p.Meta.Workloads) != 4 || p.Estimate <= 0 || p.Meta.Blocks != 6 {
		t.Errorf("baseline %s, %d workloads, estimate %v, %d blocks", p.Meta.Baseline, len(p.Meta.Workloads), p.Estimate, p.Meta.Blocks)
	}
	seen := map[results.Cell]bool{}
	for _, c := range p.Cells {
		if seen[c.Cell] {
			t.Errorf("the cell %+v is there twice", c.Cell)
		}
		seen[c.Cell] = true
		if c.Cell.Storage != c.Place.Kind || c.Cell.GOMAXPROCS != 2 {
			t.Errorf("cell %+v at %+v", c.Cell, c.Place)
		}
	}
}

func TestPlanStrategies(t *testing.T) {
	ingest, err := workload.Find("ingest")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		strategies []string
		want       []string
		planned    int
	}{
		{nil, []string{"mutex", "atomics", "actor", "raw", "A/A"}, 2},
		{[]string{"mutex"}, []string{"mutex", "raw", "A/A"}, 0},
		{[]string{"mutex", "mutex", "actor", "mutex"}, []string{"mutex", "actor", "raw", "A/A"}, 1},
		{[]string{"mutex", "raw", "null"}, []string{"mutex", "raw", "null", "A/A"}, 0},
		{[]string{"mutex", "actor", "busted"}, []string{"mutex", "actor", "busted", "raw", "A/A"}, 1},
	} {
		o := planned(t, ingest)
		o.Strategies = c.strategies
		p := mustPlan(t, o)
		got, want := p.labels("ingest"), c.want
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(p.Meta.Planned) != c.planned {
			t.Errorf("%v: cells %v and %d comparisons, want %v and %d", c.strategies, got, len(p.Meta.Planned), c.want, c.planned)
		}
	}
}

func TestPlanBaseline(t *testing.T) {
	for _, c := range []struct {
		strategies []string
		baseline   string
		want       string
	}{
		{nil, "", "mutex"},
		{[]string{"actor", "mutex"}, "", "actor"}, // the first that was named
		{[]string{"atomics", "actor"}, "", "atomics"},
		{nil, "actor", "actor"},
		{[]string{"mutex", "actor"}, "actor", "actor"},
		{nil, "raw", "raw"}, // not among the workload's own, and added
	} {
		o := planned(t, tinyMix())
		o.Strategies, o.Baseline = c.strategies, c.baseline
		p := mustPlan(t, o)
		if p.Meta.Baseline != c.want {
			t.Errorf("strategies %v, baseline %q: the baseline is %s, want %s", c.strategies, c.baseline, p.Meta.Baseline, c.want)
		}
		arms := 0
		for _, cell := range p.Cells {
			if cell.Cell.Arm != "" {
				arms++
				if cell.Cell.Strategy != p.Meta.Baseline {
					t.Errorf("the A/A arm is of %s, the baseline is %s", cell.Cell.Strategy, p.Meta.Baseline)
				}
			}
		}
		if arms != 1 {
			t.Errorf("%d A/A arms", arms)
		}
		for _, comparison := range p.Meta.Planned {
			if comparison.Baseline != p.Meta.Baseline || comparison.Strategy == p.Meta.Baseline {
				t.Errorf("planned %+v, the baseline is %s", comparison, p.Meta.Baseline)
			}
		}
	}
}

func TestPlanProcessors(t *testing.T) {
	o := planned(t, tinyMix(), tinyTail())
	o.GOMAXPROCS = []int{1, 2}
	p := mustPlan(t, o)
	for _, n := range o.GOMAXPROCS {
		cells, arms := 0, 0
		for _, c := range p.Cells {
			if c.Cell.GOMAXPROCS == n {
				cells++
				if c.Cell.Arm != "" {
					arms++
				}
			}
		}
		if cells != 10 || arms != 1 { // mix with raw and A/A, then tail
			t.Errorf("%d cells with %d processors, %d of them A/A", cells, n, arms)
		}
	}
}

// Points of one workload at different concurrency are one workload of the description.
func TestPlanPoints(t *testing.T) {
	one, two := tinyMix(), tinyMix()
	two.Workers = 1
	p := mustPlan(t, planned(t, one, two))
	if len(p.Meta.Workloads) != 1 || len(p.Meta.Planned) != 3 {
		t.Errorf("%d workloads and %d comparisons, want 1 and 3", len(p.Meta.Workloads), len(p.Meta.Planned))
	}
	if len(p.Cells) != 11 { // four and raw at each point, and one A/A arm
		t.Errorf("%d cells, want 11", len(p.Cells))
	}
}

// raw is a limit where nothing is synced, followed or paced.
func TestPlanRaw(t *testing.T) {
	synced := tiny("synced")
	synced.Producers, synced.Sync = 2, workload.SyncBatch
	paced := tiny("paced")
	paced.Producers, paced.ProduceRate = 2, 100
	random := tinyMix()
	random.Workers, random.Producers, random.Consumers, random.Subscriptions = 0, 1, 1, 1
	closed := tiny("closed")
	closed.Producers = 1
	for _, c := range []struct {
		w    workload.Workload
		want bool
	}{{closed, true}, {tinyMix(), true}, {random, true}, {synced, false}, {paced, false}, {tinyTail(), false}} {
		p := mustPlan(t, planned(t, c.w))
		if got := slices.Contains(p.labels(c.w.Name), "raw"); got != c.want {
			t.Errorf("%s: raw %t, want %t", c.w.Name, got, c.want)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	holds := t.TempDir()
	if err := os.WriteFile(filepath.Join(holds, "meta.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := func(path string) func(*Options) {
		return func(o *Options) { o.Storage, o.Dir = StorageAuto, path }
	}
	for _, c := range []struct {
		name   string
		change func(*Options)
		says   []string
	}{
		{"no workload", func(o *Options) { o.Workloads = nil }, []string{"workload"}},
		{"unknown strategy", func(o *Options) { o.Strategies = []string{"mutex", "acter"} },
			[]string{"--strategies", "acter", "did you mean actor?", "mutex, rwmutex"}},
		{"unknown strategy like no other", func(o *Options) { o.Strategies = []string{"zzzzzzzzzzz"} }, []string{"--strategies", "zzzzzzzzzzz"}},
		{"unknown baseline", func(o *Options) { o.Baseline = "mutexx" }, []string{"--baseline", "mutexx", "did you mean mutex?"}},
		{"baseline that does not run", func(o *Options) { o.Strategies, o.Baseline = []string{"mutex", "actor"}, "atomics" },
			[]string{"--baseline atomics", "mutex,actor"}},
		{"no blocks", func(o *Options) { o.Blocks = 0 }, []string{"--blocks 0"}},
		{"negative blocks", func(o *Options) { o.Blocks = -3 }, []string{"--blocks -3"}},
		{"no processors", func(o *Options) { o.GOMAXPROCS = []int{2, 0} }, []string{"--cpu 0"}},
		{"negative processors", func(o *Options) { o.GOMAXPROCS = []int{-1} }, []string{"--cpu -1"}},
		{"no results directory", func(o *Options) { o.Out = "" }, []string{"--out"}},
		{"a results directory with results", func(o *Options) { o.Out = holds }, []string{"--out", holds, "already"}},
		{"no child", func(o *Options) { o.Child = nil }, []string{"process"}},
		{"unknown storage", func(o *Options) { o.Storage = "floppy" }, []string{"--storage floppy", "auto, tmpfs, disk or heap"}},
		{"missing directory", dir(filepath.Join(holds, "missing")), []string{"missing", "does not exist", "--dir"}},
		{"a directory that is a file", dir(file), []string{file, "not a directory", "--dir"}},
		{"a directory below a file", dir(filepath.Join(file, "below")), []string{file}},
		{"a directory that cannot be written", dir("/proc"), []string{"/proc", "cannot be written", "--dir"}},
		{"more bytes than there are", func(o *Options) {
			o.Storage, o.Dir = StorageAuto, t.TempDir()
			o.Workloads[0].MaxBytes = 1 << 55
		}, []string{"free", "may need", "--dir"}},
		{"more memory than there is", func(o *Options) { o.Workloads[0].MaxBytes = 1 << 55 }, []string{"--storage heap", "memory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := planned(t, tinyMix())
			c.change(&o)
			p, err := NewPlan(context.Background(), o)
			wantUsage(t, p, err, c.says...)
			if o.Out != holds && o.Out != "" {
				wantEmpty(t, filepath.Dir(o.Out))
			}
		})
	}
	if got := namesIn(t, holds); len(got) != 1 {
		t.Errorf("the directory with results now holds %v", got)
	}
}

// wantUsage verifies that options are refused in a line.
func wantUsage(t *testing.T, p *Plan, err error, says ...string) {
	t.Helper()
	if !errors.Is(err, ErrUsage) || p != nil {
		t.Fatalf("there is a plan: %t, the error %v; want ErrUsage", p != nil, err)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q; want it to say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "%!") || strings.Contains(err.Error(), "<nil>") {
		t.Errorf("the error reads badly: %q", err)
	}
}

func TestPlanRefusesInvalidWorkload(t *testing.T) {
	w := tinyMix()
	w.Duration = 0
	if p, err := NewPlan(context.Background(), planned(t, w)); !errors.Is(err, workload.ErrInvalid) || p != nil {
		t.Errorf("an invalid workload gave %v and %v", p, err)
	}
}

// A workload's own strategies are as much input as those of the options.
func TestPlanWorkloadStrategies(t *testing.T) {
	for _, names := range [][]string{nil, {"mutex", "acter"}} {
		w := tinyMix()
		w.Strategies = names
		p, err := NewPlan(context.Background(), planned(t, w))
		wantUsage(t, p, err)
	}
}

func TestPlanEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err := NewPlan(ctx, planned(t, tinyMix())); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("an ended context gave %v and %v", p, err)
	}
}

// A plan leaves nothing behind, in the directory of the data or in that of the results.
func TestPlanTouchesNothing(t *testing.T) {
	for _, storage := range []string{StorageAuto, StorageTmpfs, StorageDisk, StorageHeap} {
		parent := t.TempDir()
		o := planned(t, tinyMix())
		o.Storage, o.Out = storage, filepath.Join(parent, "a", "b")
		if storage == StorageAuto {
			o.Dir = parent
		}
		before := []string{}
		if storage == StorageTmpfs {
			if _, err := os.Stat(sharedMemory); err != nil {
				continue
			}
			before = probesIn(t, sharedMemory)
		}
		if _, err := NewPlan(context.Background(), o); err != nil && !errors.Is(err, ErrUsage) {
			t.Errorf("storage %s: %v", storage, err)
		}
		wantEmpty(t, parent)
		if storage == StorageTmpfs {
			if after := probesIn(t, sharedMemory); !slices.Equal(before, after) {
				t.Errorf("%s held %v, and now %v", sharedMemory, before, after)
			}
		}
	}
}

// probesIn lists what plans make in a directory.
func probesIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".tailrace-probe-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every strategy of the list can be planned by its name.
func TestPlanEveryStrategy(t *testing.T) {
	for _, s := range strategies.List {
		o := planned(t, tinyMix())
		o.Strategies = []string{s.Name}
		if p := mustPlan(t, o); !slices.Contains(p.labels("mix"), s.Name) {
			t.Errorf("%s is not among %v", s.Name, p.labels("mix"))
		}
	}
}
