package claims

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// loopingBench is a bench whose blocks have this program for their process.
func loopingBench(t *testing.T) *bench {
	b := tinyBench(t)
	b.looping = []string{"/proc/self/exe", loopsArgument}
	t.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // or each process under the race detector takes a second to end
	return b
}

// In processes of their own, the blocks of an experiment give the figures that its rules ask for.
func TestApart(t *testing.T) {
	long(t)
	for experiment, claim := range map[string]string{
		"handles": "actor-handles", "publish": "actor-publish", "starving": "rwmutex-starves",
		"preads": "pread", "indexes": "index", "mapped": "mapped-log", "copying": "copying",
	} {
		t.Run(experiment, func(t *testing.T) {
			b := loopingBench(t)
			if experiment == "publish" {
				b.blocks = 1 // logs of 10,000 segments, and the race detector
			}
			figures, err := apart(experiment)(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range measuredFigures[claim] {
				if strings.HasPrefix(name, "pressure-") {
					continue // of another experiment
				}
				f := figureNamed(t, figures, name)
				switch {
				case name == "index-cold" && f.Blocks < b.blocks: // where the page cache can't be dropped
				case !(f.Value > 0):
					t.Errorf("%s is %s", name, f.ValueText())
				case f.Blocks != b.blocks || b.blocks > 1 && !(f.Low <= f.Value && f.Value <= f.High):
					t.Errorf("%s of %d blocks is %s", name, f.Blocks, f.ValueText())
				}
			}
		})
	}
}

// What processes have counted is put together: the waits of all blocks, and their share of the appends of each.
func TestWaitsApart(t *testing.T) {
	long(t)
	b := tinyBench(t)
	b.level = 0.9
	b.looping = []string{"/bin/sh", "-c", `read -r line; echo '{"Files":{"Counted":[{"Commit":2,"Appends":1000,"Any":2}],"Timed":[{"CommitTime":5,"Took":10}]},` +
		`"Heap":{"Counted":[{"Appends":1000}],"Timed":[{"Took":10}]}}'`}
	figures, err := waits(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"atomics-waits": 4, "atomics-waited": 0.002, "atomics-commit": 0.002, "atomics-roll": 0, "atomics-commit-time": 0.5, "atomics-commit-time-heap": 0, "atomics-waited-heap": 0,
	} {
		if f := figureNamed(t, figures, name); math.Abs(f.Value-want) > 1e-9 {
			t.Errorf("%s is %s, want %v", name, f.ValueText(), want)
		}
	}
	figures, err = waits(loopingBench(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"atomics-waits", "atomics-waited"} {
		if f := figureNamed(t, figures, name); !(f.Value >= 0) {
			t.Errorf("%s is %s", name, f.ValueText())
		}
	}
}

// Of the appends due no more than all are done.
func TestStarvingApart(t *testing.T) {
	long(t)
	figures, err := starvingApart(loopingBench(t))
	if err != nil {
		t.Fatal(err)
	}
	if f := figureNamed(t, figures, "mutex-done"); !(f.Low > 0 && f.High <= 1) {
		t.Errorf("%s of the appends due are done", f.ValueText())
	}
}

// Each block is another process, with a seed of its own: a value that is the same throughout a process varies. The
// interval is at the level of all conditions.
func TestBlocksAreProcesses(t *testing.T) {
	b := tinyBench(t)
	b.blocks, b.level = 3, 0.999
	b.looping = []string{"/bin/sh", "-c", `read -r line; seed=${line#*\"Seed\":}; ` +
		`echo "[{\"name\":\"pid\",\"text\":\"it\",\"value\":$$},{\"name\":\"seed\",\"text\":\"it\",\"value\":${seed%%,*}}]"`}
	answers, err := blocks[[]results.Figure](b, "indexes")
	if err != nil || len(answers) != 3 {
		t.Fatalf("%v, %v", answers, err)
	}
	var pids, seeds, logs []float64
	for _, a := range answers {
		pids, seeds = append(pids, a[0].Value), append(seeds, a[1].Value)
		logs = append(logs, math.Log(a[0].Value))
	}
	slices.Sort(pids)
	slices.Sort(seeds)
	if len(slices.Compact(pids)) != 3 || len(slices.Compact(seeds)) != 3 {
		t.Errorf("processes %v, seeds %v", pids, seeds)
	}
	got, want := collate(answers, b.level)[0], results.NewFigure("pid", "it", "", logs, b.level)
	if got != want || !(got.Low < got.Value && got.Value < got.High) {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.looping = []string{"/bin/sh", "-c", `read -r line; echo "[{\"name\":\"pid\",\"text\":\"it\",\"value\":$$}]"`}
	narrow := *b
	narrow.level = 0.5
	wide, err := apart("indexes")(b)
	if err != nil {
		t.Fatal(err)
	}
	slim, err := apart("indexes")(&narrow)
	if err != nil {
		t.Fatal(err)
	}
	if w, s := wide[0], slim[0]; !(w.High/w.Low > s.High/s.Low) {
		t.Errorf("at %v %s, at %v %s", b.level, w.ValueText(), narrow.level, s.ValueText())
	}
}

func TestApartFails(t *testing.T) {
	b := tinyBench(t)
	if figures, err := apart("indexes")(b); figures != nil || !errors.Is(err, errNoChild) {
		t.Errorf("without a command: %v, %v", figures, err)
	}
	for script, want := range map[string]string{
		"read -r line; echo 'it fell over' >&2; exit 3": "exit status 3: it fell over",
		"read -r line; echo no figures":                 "answer of an experiment",
	} {
		b.looping = []string{"/bin/sh", "-c", script}
		if figures, err := apart("indexes")(b); figures != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", script, figures, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	b.ctx, b.looping = ctx, []string{"/bin/sh", "-c", "sleep 1h"}
	if figures, err := apart("indexes")(b); figures != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v, %v", figures, err)
	}
}

func TestExecuteLoopsRefuses(t *testing.T) {
	for input, want := range map[string]string{
		"":                                "EOF",
		`{"Turns":1}`:                     `unknown field "Turns"`,
		`{"Experiment":"no"}`:             `no experiment "no"`,
		`{"Experiment":"waits"}`:          "a turn and a directory",
		`{"Experiment":"waits","Turn":1}`: "a turn and a directory",
	} {
		var out strings.Builder
		err := ExecuteLoops(t.Context(), strings.NewReader(input), &out)
		if err == nil || !strings.HasPrefix(err.Error(), "claims: request of an experiment: ") || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("input %q: error %v, output %q", input, err, out.String())
		}
	}
}

// The process of a block ends with the one that asked for it, and with a signal.
func TestExecuteLoopsEnds(t *testing.T) {
	orphan := exec.Command("/proc/self/exe", loopsArgument)
	orphan.Stdin = strings.NewReader(`{"Experiment":"indexes","Turn":3600000000000,"Memory":"` + t.TempDir() + `"}`)
	output, err := orphan.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(output), "has ended") {
		t.Errorf("when its input ends: %v, %s", err, output)
	}
	stdin, end := io.Pipe() // that does not end
	defer stdin.Close()
	ctx, cancel := context.WithCancel(t.Context())
	begun := false
	forEver := func(context.Context, *struct{}) (struct{}, error) {
		begun = true
		cancel()
		select {}
	}
	good, left := func(*struct{}) error { return nil }, false
	go func() { _, _ = io.WriteString(end, "{}") }()
	err = serve(ctx, stdin, io.Discard, good, forEver, func(*struct{}) error { left = true; return nil })
	if err == nil || !strings.Contains(err.Error(), "ended by a signal") || !begun || !left {
		t.Errorf("an interruption: %v, begun %v, left %v", err, begun, left)
	}
}

// A process whose parent has died removes the directories that the parent would have, and no other; one that is ended
// itself leaves them.
func TestOrphanRemovesDirectories(t *testing.T) {
	own, other := filepath.Join(t.TempDir(), scratchPattern+"1"), t.TempDir()
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	stdin, end := io.Pipe() // that does not end
	defer stdin.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go func() { _, _ = io.WriteString(end, `{"Experiment":"indexes","Turn":1,"Memory":"`+own+`"}`) }()
	if err := ExecuteLoops(ctx, stdin, io.Discard); err == nil {
		t.Error("an interruption is no error")
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("a directory of a parent that lives is gone: %v", err)
	}
	orphan := exec.Command("/proc/self/exe", loopsArgument)
	orphan.Stdin = strings.NewReader(`{"Experiment":"indexes","Turn":3600000000000,"Memory":"` + own + `","Disk":"` + other + `"}`)
	_ = orphan.Run() // it fails, as above
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("another is gone: %v", err)
	}
}

func TestCollate(t *testing.T) {
	of := func(name string, value float64) results.Figure {
		return results.NewFigure(name, "it", "s", []float64{math.Log(value)}, 0.9)
	}
	why := unmeasured("a", "it", "s", errors.New("no disk"))
	nothing := math.NaN()
	for _, test := range []struct {
		what      string
		blocks    []results.Figure
		value     float64
		low, high bool // that they are known
		text      string
		count     int
	}{
		{"measured", []results.Figure{of("a", 1), of("a", 4), of("a", 2)}, 2, true, true, "it", 3},
		{"counted", []results.Figure{counted("a", "it", "s", 3), counted("a", "it", "s", 3)}, 3, true, true, "it", 0},
		{"counted, and not alike", []results.Figure{counted("a", "it", "s", 1), counted("a", "it", "s", 4)}, 2, true, true, "it", 2},
		{"counted in some", []results.Figure{counted("a", "it", "s", 3), why, why}, 3, false, false, "it; 2 of 3 blocks lack it", 1},
		{"none in any", []results.Figure{counted("a", "it", "s", 0), counted("a", "it", "s", 0)}, 0, true, true, "it", 0},
		{"none in one", []results.Figure{counted("a", "it", "s", 0), of("a", 4)}, 2, false, false, "it", 2},
		{"not measured in one of three", []results.Figure{why, of("a", 1), of("a", 4)}, 2, false, false, "it; 1 of 3 blocks lack it", 2},
		{"not measured in one of five", []results.Figure{of("a", 1), of("a", 4), why, of("a", 1), of("a", 4)}, 2, true, true, "it; 1 of 5 blocks lack it", 4},
		{"not measured", []results.Figure{why, why}, nothing, false, false, "it (no disk); 2 of 2 blocks lack it", 0},
	} {
		var blocks [][]results.Figure
		for _, f := range test.blocks {
			blocks = append(blocks, []results.Figure{f, counted("other", "", "", 1)})
		}
		figures := collate(blocks, 0.95)
		if len(figures) != 2 || figures[1].Name != "other" {
			t.Fatalf("%s: %v", test.what, figures)
		}
		f := figures[0]
		if !(math.Abs(f.Value-test.value) < 1e-9 || math.IsNaN(f.Value) && math.IsNaN(test.value)) ||
			math.IsNaN(f.Low) == test.low || math.IsNaN(f.High) == test.high || f.Text != test.text || f.Blocks != test.count {
			t.Errorf("%s: %+v", test.what, f)
		}
	}
	// Figures that only some blocks have are not left out.
	if figures := collate([][]results.Figure{{of("a", 1)}, {of("a", 1), of("b", 2)}}, 0.95); !slices.ContainsFunc(figures, func(f results.Figure) bool {
		return f.Name == "b" && f.Value == 2 && strings.HasSuffix(f.Text, "1 of 2 blocks lack it")
	}) {
		t.Errorf("%v", figures)
	}
}
