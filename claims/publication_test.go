package claims

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"tailrace/harness/torture"
	"tailrace/results"
	"tailrace/strategies"
)

// torturedBench is a bench that has this program check strategies.
func torturedBench(t *testing.T) *bench {
	b := tinyBench(t)
	b.torturing = []string{"/proc/self/exe", tortureArgument}
	return b
}

func TestPublication(t *testing.T) {
	figures, err := publication(torturedBench(t))
	if err != nil {
		t.Fatal(err)
	}
	checkNames(t, figures, []string{
		"ordered-violations", "unordered-violations", "ordered-rounds", "ordered-histories", "ordered-records", "unordered-seconds",
	})
	if f := figureNamed(t, figures, "ordered-violations"); f.Value != 0 {
		t.Errorf("atomics: %v, %s", f.Value, f.Text)
	}
	if f := figureNamed(t, figures, "unordered-violations"); f.Value != 1 || !strings.Contains(f.Text, "seed") {
		t.Errorf("the copy: %v, %s", f.Value, f.Text)
	}
	if f := figureNamed(t, figures, "ordered-rounds"); f.Value < 6 {
		t.Errorf("only %v rounds", f.Value)
	}
}

// That there is no wrong answer is open until the checker has looked for ten times as long as it takes to find one.
func TestNoWrongAnswerInAMoment(t *testing.T) {
	wrong := &torture.Violation{What: "wrong"}
	for _, test := range []struct {
		with, without tortured
		open          bool
		value         float64
	}{
		{tortured{took: 10 * time.Second}, tortured{took: time.Second, violation: wrong}, false, 0},
		{tortured{took: 9 * time.Second}, tortured{took: time.Second, violation: wrong}, true, 0},
		{tortured{took: time.Second}, tortured{took: time.Second}, true, 0},
		{tortured{took: time.Second, violation: wrong}, tortured{took: time.Second}, false, 1},
	} {
		if f := orderedViolations(test.with, test.without); math.IsNaN(f.High) != test.open || f.Value != test.value {
			t.Errorf("%v and %v: %s, %+v", test.with.took, test.without.took, f.ValueText(), f)
		}
	}
}

// The copy is no strategy that anybody can choose.
func TestUnorderedIsNotListed(t *testing.T) {
	u := strategies.Unordered()
	if _, err := strategies.Find(u.Name); err == nil || !u.Faulty || u.Kind != strategies.Control {
		t.Errorf("%+v is listed, or not said to be faulty", u)
	}
}

// Whoever interrupts an experiment does not wait for its end.
func TestExperimentsOnStrategiesEndWithTheirContext(t *testing.T) {
	b := torturedBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.ctx = ctx
	for name, experiment := range map[string]func(*bench) ([]results.Figure, error){
		"publish": publish, "handles": handles, "waits": func(b *bench) ([]results.Figure, error) { _, err := seeWaits(b); return nil, err }, "publication": publication,
	} {
		if figures, err := experiment(b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gives %v, %v", name, figures, err)
		}
	}
}
