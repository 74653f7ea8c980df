package plots

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"tailrace/results"
)

func TestStepsCaption(t *testing.T) {
	p := fixturePanel(1, nil)
	if c, err := stepsChart(p); c != nil || err != nil {
		t.Errorf("a chart of no steps (%v)", err)
	}
	p.Steps = fixtureSteps()
	c := within(t, func() (Chart, error) { return some(stepsChart(p)) })
	for _, want := range []string{
		"not planned and have no verdict", goesOn,
		"mailbox, actor → actor-mailbox, counts for nothing: a run of actor-mailbox failed verification: offset 3 has other bytes.",
	} {
		if !strings.Contains(c.Caption, want) {
			t.Errorf("the caption does not say %q: %q", want, c.Caption)
		}
	}
	if want := "snapshot reads (mutex-brief → mutex-rcu) 1.62× (1.50–1.80)"; !strings.Contains(c.Alt, want) {
		t.Errorf("alt %q, want %q in it", c.Alt, want)
	}
	if c.Name != "mix-steps" || c.Kind != KindSteps || c.Point != p.Point {
		t.Errorf("the chart is %s, %s", c.Name, c.Kind)
	}
}

func TestStepsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), 0, -3, math.MaxFloat64, 1} {
		for name, edit := range map[string]func(i *results.Interval){
			"ratio": func(i *results.Interval) { i.Ratio = v },
			"low":   func(i *results.Interval) { i.Low = v },
			"high":  func(i *results.Interval) { i.High = v },
			"all":   func(i *results.Interval) { i.Ratio, i.Low, i.High = v, v, v },
		} {
			p := fixturePanel(1, nil)
			p.Steps = fixtureSteps()
			for i := range p.Steps {
				edit(&p.Steps[i].Interval)
			}
			c := within(t, func() (Chart, error) { return some(stepsChart(p)) })
			checkChart(t, c)
			if said := bytes.Contains(c.SVG, []byte(noRatio)); math.IsNaN(v) && (name == "ratio" || name == "all") && !said {
				t.Errorf("%s %g: the chart does not say %q", name, v, noRatio)
			}
		}
	}
}

// Many effects stand in several charts, none of which is too tall or mixes workloads.
func TestManyEffectsAreSplit(t *testing.T) {
	long(t)
	t.Parallel()
	tests := []struct {
		points map[string]int // by workload
		want   string         // names
	}{
		{map[string]int{"mix": 1, "tail": 1}, "effects"},
		{map[string]int{"mix": 1, "tail": 4}, "effects-mix effects-tail"},
		{map[string]int{"mix": 13, "tail": 1}, "effects-mix effects-mix effects-mix effects-mix effects-tail"},
	}
	for _, test := range tests {
		s := &results.Sweep{Meta: fixtureMeta()}
		s.Meta.Workloads, s.Meta.Planned = nil, nil
		for _, name := range []string{"mix", "tail"} {
			w := fixtureMeta().Workloads[0]
			w.Name = name
			s.Meta.Workloads = append(s.Meta.Workloads, w)
			for _, planned := range fixtureMeta().Planned {
				planned.Workload = name
				s.Meta.Planned = append(s.Meta.Planned, planned)
			}
			for workers := range test.points[name] {
				for _, run := range inMemory(len(fixtureSpeeds), nil).Runs {
					run.Cell.Workload, run.Cell.Workers = name, workers+1
					s.Runs = append(s.Runs, run)
				}
			}
		}
		charts, err := effectCharts(s)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		rows := 0
		for _, c := range charts {
			names = append(names, c.Name)
			checkChart(t, c)
			checkLegible(t, c)
			n := bytes.Count(c.SVG, []byte(">atomics<"))
			rows += n
			if n*5 > mostEffectRows {
				t.Errorf("%s has %d points of five rows", c.Name, n)
			}
			if c.Kind != KindEffects || c.Point != (results.Cell{}) {
				t.Errorf("%s is %s of %v", c.Name, c.Kind, c.Point)
			}
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%v: charts %q, want %q", test.points, got, test.want)
		}
		if want := test.points["mix"] + test.points["tail"]; rows != want {
			t.Errorf("%v: %d points are drawn, want %d", test.points, rows, want)
		}
		if n := len(charts); n == 5 {
			for i := range 4 {
				if want := fmt.Sprintf(", %d of 4", i+1); !strings.HasSuffix(charts[i].Title, want) {
					t.Errorf("title %q, want %q at its end", charts[i].Title, want)
				}
			}
		}
	}
}

func TestNoEffectsOfSearchesAlone(t *testing.T) {
	s := inMemory(2, nil)
	s.Meta.Searches = []results.Search{{Workload: "mix", Strategy: "mutex", Pass: 90e3}}
	charts, err := Charts(s)
	if err != nil || len(charts) != 0 {
		t.Errorf("%d charts of a sweep of searches alone (%v)", len(charts), err)
	}
}
