package claims

import (
	"context"
	"errors"
	"io"
	"math"
	"os/exec"
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
	return b
}

// In processes of their own, the blocks of an experiment give the figures that its rules ask for.
func TestApart(t *testing.T) {
	for experiment, claim := range map[string]string{
		"handles": "actor-handles", "publish": "actor-publish", "starving": "rwmutex-starves", "waits": "atomics-not-one",
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
				if strings.HasPrefix(name, "pressure-") || name == "atomics-lines" {
					continue // of another experiment
				}
				f := figureNamed(t, figures, name)
				switch {
				case name == "index-cold" && f.Blocks < b.blocks: // where the page cache can't be dropped
				case name == "atomics-waits" && f.Value >= 0 && f.Low == f.Value:
				case !(f.Value > 0):
					t.Errorf("%s is %s", name, f.ValueText())
				case f.Blocks != b.blocks || b.blocks > 1 && !(f.Low <= f.Value && f.Value <= f.High):
					t.Errorf("%s of %d blocks is %s", name, f.Blocks, f.ValueText())
				}
			}
		})
	}
}

// Of the appends due no more than all are done.
func TestStarvingApart(t *testing.T) {
	figures, err := starvingApart(loopingBench(t))
	if err != nil {
		t.Fatal(err)
	}
	if f := figureNamed(t, figures, "mutex-done"); !(f.Low > 0 && f.High <= 1) {
		t.Errorf("%s of the appends due are done", f.ValueText())
	}
}

// Each block is another process: a value that is the same throughout a process varies.
func TestBlocksAreProcesses(t *testing.T) {
	b := tinyBench(t)
	b.blocks = 3
	b.looping = []string{"/bin/sh", "-c", `read -r line; echo "[{\"name\":\"pid\",\"text\":\"it\",\"value\":$$}]"`}
	figures, err := apart("indexes")(b)
	if err != nil || len(figures) != 1 {
		t.Fatalf("%v, %v", figures, err)
	}
	if f := figures[0]; f.Blocks != 3 || !(f.Low < f.Value && f.Value < f.High) {
		t.Errorf("%d blocks give %s", f.Blocks, f.ValueText())
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
	cancel()
	go func() { _, _ = io.WriteString(end, `{"Experiment":"indexes","Turn":1,"Memory":"/nowhere"}`) }()
	if err := ExecuteLoops(ctx, stdin, io.Discard); err == nil {
		t.Error("an interruption is no error")
	}
}

func TestCollate(t *testing.T) {
	of := func(name string, value float64) results.Figure {
		return results.NewFigure(name, "it", "s", []float64{math.Log(value)}, 0.9)
	}
	why := unmeasured("cold", "it", "s", errors.New("no disk"))
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
		{"counted", []results.Figure{counted("a", "it", "s", 1), counted("a", "it", "s", 4)}, 2.5, true, true, "it", 0},
		{"none in any", []results.Figure{counted("a", "it", "s", 0), counted("a", "it", "s", 0)}, 0, true, true, "it", 0},
		{"none in one", []results.Figure{counted("a", "it", "s", 0), of("a", 4)}, 2, false, false, "it", 2},
		{"not measured in one of three", []results.Figure{why, of("cold", 1), of("cold", 4)}, 2, false, false, "it; 1 of 3 blocks lack it", 2},
		{"not measured in one of five", []results.Figure{of("cold", 1), of("cold", 4), why, of("cold", 1), of("cold", 4)}, 2, true, true, "it; 1 of 5 blocks lack it", 4},
		{"not measured", []results.Figure{why, why}, nothing, false, false, "it (no disk)", 0},
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
