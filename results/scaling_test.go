package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// usl is the law with a rate of 1000.
func usl(contention, coherency float64) func(float64) float64 {
	return func(n float64) float64 { return 1000 * n / (1 + contention*(n-1) + coherency*n*(n-1)) }
}

func TestScalingLawIsRecovered(t *testing.T) {
	long(t)
	t.Parallel()
	const sweeps = 200
	for _, c := range []struct {
		name                  string
		contention, coherency float64
		values                []float64
		noise                 noise
	}{
		{"typical", 0.05, 0.001, octaves, logNormal(0.05)},
		{"five levels", 0.05, 0.005, []float64{1, 2, 4, 6, 8}, logNormal(0.05)},
		{"no coherency", 0.1, 0, octaves, logNormal(0.05)},
		{"no contention", 0, 0.005, octaves, logNormal(0.05)},
		{"linear", 0, 0, octaves, logNormal(0.05)},
		{"retrograde", 0.3, 0.2, octaves, logNormal(0.05)},
		{"heavy tails", 0.05, 0.005, octaves, heavyTailed(0.05)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(20261130, 4))
			p := path{courses: []course{{"mutex", usl(c.contention, c.coherency)}}, values: c.values, place: workers, metric: results.MetricOps, blocks: 12, drift: 0.2, noise: c.noise}
			truth := [3]float64{1000, c.contention, c.coherency}
			var within [3]int
			var sum [3]float64
			for range sweeps {
				line := p.sweep(random).Trends()[0].Lines[0]
				f := line.Fit
				if f == nil {
					t.Fatalf("not fitted: %s", line.Unfitted)
				}
				if !(f.Rate.Value > 0 && f.Contention.Value >= 0 && f.Contention.High <= 1 && f.Coherency.Low >= 0) || math.IsNaN(f.Peak) {
					t.Errorf("out of bounds: %+v", f)
				}
				for i, k := range []results.Coefficient{f.Rate, f.Contention, f.Coherency} {
					sum[i] += k.Value / sweeps
					if !(k.Low <= k.Value && k.Value <= k.High) {
						t.Errorf("%+v is not in its interval", k)
					}
					if k.Low <= truth[i] && truth[i] <= k.High {
						within[i]++
					}
				}
			}
			t.Logf("the intervals hold the truth in %v of %d sweeps, means %.4v", within, sweeps, sum)
			for i, name := range []string{"rate", "contention", "coherency"} {
				if within[i] < sweeps*9/10 {
					t.Errorf("the interval of the %s holds the truth in %d of %d sweeps", name, within[i], sweeps)
				}
				// Where the truth lies on a bound, estimates lie on one side of it.
				allowed := 0.04 * truth[i]
				if truth[i] == 0 {
					allowed = [3]float64{0, 0.005, 0.0002}[i]
				}
				if math.Abs(sum[i]-truth[i]) > allowed {
					t.Errorf("the mean %s is %v, want %v", name, sum[i], truth[i])
				}
			}
		})
	}
}

// fitOf is the fit to one strategy that reaches exactly this, the same in each block.
func fitOf(values []float64, at func(float64) float64) results.Line {
	p := path{courses: []course{{"mutex", at}}, values: values, place: workers, metric: results.MetricOps, blocks: 6, noise: exact}
	return p.sweep(rand.New(rand.NewPCG(1, 1))).Trends()[0].Lines[0]
}

func TestScalingLawOfExactNumbers(t *testing.T) {
	for _, c := range []struct {
		name             string
		at               func(float64) float64
		rate, cont, cohe float64
	}{
		{"typical", usl(0.05, 0.001), 1000, 0.05, 0.001},
		{"linear", usl(0, 0), 1000, 0, 0},
		{"serial", usl(1, 0), 1000, 1, 0},
		{"serial and worse", usl(1, 0.05), 1000, 1, 0.05},
		{"no contention", usl(0, 0.3), 1000, 0, 0.3},
		{"tiny", func(n float64) float64 { return 1e-300 * usl(0.1, 0.01)(n) }, 1e-297, 0.1, 0.01},
		{"huge", func(n float64) float64 { return 1e300 * usl(0.1, 0.01)(n) }, 1e303, 0.1, 0.01},
	} {
		line := fitOf(octaves, c.at)
		if line.Fit == nil {
			t.Errorf("%s: not fitted: %s", c.name, line.Unfitted)
			continue
		}
		f := line.Fit
		if math.Abs(f.Rate.Value/c.rate-1) > 1e-6 || math.Abs(f.Contention.Value-c.cont) > 1e-6 || math.Abs(f.Coherency.Value-c.cohe) > 1e-6 || f.Misses > 1e-6 {
			t.Errorf("%s: %+v", c.name, f)
		}
		for _, n := range octaves {
			if math.Abs(f.At(n)/c.at(n)-1) > 1e-6 {
				t.Errorf("%s: %v at %v, want %v", c.name, f.At(n), n, c.at(n))
			}
		}
		for _, n := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300} {
			if v := f.At(n); math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s: %v at %v", c.name, v, n)
			}
		}
	}
	if f := fitOf(octaves, usl(0.05, 0.001)).Fit; math.Abs(f.Peak-math.Sqrt(950)) > 1e-3 || !slices.Equal(f.Levels, octaves) {
		t.Errorf("peak %v of levels %v", f.Peak, f.Levels)
	}
	if f := (results.Fit{Rate: results.Coefficient{Value: 1}, Coherency: results.Coefficient{Value: 100}}); f.At(0.5) != 0 {
		t.Errorf("%v at half a client", f.At(0.5))
	}
}

// More than linear: contention and coherency are at their bounds. That misses the medians, and says so once
// it is by much.
func TestScalingLawOfSuperlinear(t *testing.T) {
	line := fitOf(octaves, func(n float64) float64 { return 1000 * math.Pow(n, 1.05) })
	if f := line.Fit; f == nil || f.Contention.Value != 0 || f.Coherency.Value != 0 || !math.IsInf(f.Peak, 1) || f.Misses < 0.05 {
		t.Errorf("fit %+v, %s", f, line.Unfitted)
	}
	line = fitOf(octaves, func(n float64) float64 { return 1000 * n * n })
	if line.Fit != nil || !strings.HasPrefix(line.Unfitted, "the law misses a median by ") {
		t.Errorf("fit %+v, %q", line.Fit, line.Unfitted)
	}
}

func TestUnfitted(t *testing.T) {
	clients := func(cell *results.Cell, x float64) { cell.Workers, cell.GOMAXPROCS = 16, int(x) }
	producers := func(cell *results.Cell, x float64) { cell.Producers = int(x) }
	consumers := func(cell *results.Cell, x float64) { cell.Consumers = int(x) }
	edit := func(change func(*results.Sweep)) func(*results.Sweep) { return change }
	each := func(change func(*results.Run)) func(*results.Sweep) {
		return func(s *results.Sweep) {
			for i := range s.Runs {
				change(&s.Runs[i])
			}
		}
	}
	machine := func(cpus, affinity int) func(*results.Sweep) {
		return edit(func(s *results.Sweep) {
			s.Meta.Environment.CPUs, s.Meta.Environment.Affinity = cpus, affinity
		})
	}
	for _, c := range []struct {
		name   string
		values []float64
		place  func(*results.Cell, float64)
		metric string
		change func(*results.Sweep)
		want   string // "" if fitted
	}{
		{"workers", octaves, workers, results.MetricOps, nil, ""},
		{"producers", octaves, producers, results.MetricProduceOps, nil, ""},
		{"consumers", octaves, consumers, results.MetricConsumeBytes, nil, ""},
		{"processors", []float64{1, 2, 4, 8, 16, 32}, clients, results.MetricOps, nil, ""},
		{"processors without clients", []float64{1, 2, 4, 32, 64}, clients, results.MetricOps, nil, "3 levels within 256 processors, with a client for each; five are needed"},
		{"processors that are not there", octaves, clients, results.MetricOps, machine(8, 4), "3 levels within 4 processors, with a client for each; five are needed"},
		{"two processors", octaves, workers, results.MetricOps, machine(2, 2), "2 levels within 2 processors; five are needed"},
		{"GOMAXPROCS", octaves, workers, results.MetricOps, each(func(r *results.Run) { r.Cell.GOMAXPROCS = 1 }), "1 level within 1 processor; five are needed"},
		{"affinity", octaves, workers, results.MetricOps, machine(64, 8), "4 levels within 8 processors; five are needed"},
		{"quota", octaves, workers, results.MetricOps, edit(func(s *results.Sweep) { s.Meta.Environment.Quota = "2.5 CPUs" }), "2 levels within 2 processors; five are needed"},
		{"a smaller machine", octaves, workers, results.MetricOps, edit(func(s *results.Sweep) {
			s.Meta.Parts = []results.Part{{Environment: results.Environment{CPUs: 4}}}
		}), "3 levels within 4 processors; five are needed"},
		{"unknown machine", octaves, workers, results.MetricOps, edit(func(s *results.Sweep) {
			machine(0, 0)(s)
			for i := range s.Runs {
				s.Runs[i].Cell.GOMAXPROCS = 0
			}
		}), "the number of processors is not known"},
		{"no clients", []float64{0, 1, 2, 4, 8}, producers, results.MetricOps, nil, "4 levels within 256 processors; five are needed"},
		{"other role", octaves, producers, results.MetricOps, each(func(r *results.Run) { r.Cell.Consumers = 1 }), "the other role runs beside them"},
		{"records", octaves, func(c *results.Cell, x float64) { c.Workers, c.BatchRecords = 1, int(x) }, results.MetricOps, nil, "records in a batch is no number of clients or processors"},
		{"paced", octaves, workers, results.MetricOps, each(func(r *results.Run) { r.Cell.Rate = 100 }), "the load is paced, its throughput is what was asked for"},
		{"thinking", octaves, workers, results.MetricOps, each(func(r *results.Run) { r.Cell.Think = 0.1 }), "clients pause between operations"},
		{"latency", octaves, workers, results.MetricCPU, nil, "CPU/op is no throughput"},
		{"failed", octaves, workers, results.MetricOps, each(func(r *results.Run) {
			if r.Index == 0 {
				r.Verification.Error = "wrong"
			}
		}), "a run of `mutex` failed verification: wrong"},
		{"nothing at four", octaves, workers, results.MetricOps, each(func(r *results.Run) {
			if r.Cell.Workers == 4 {
				r.Metrics = nil
			}
		}), "no positive median at 4 workers"},
		{"zero at one", octaves, workers, results.MetricOps, each(func(r *results.Run) {
			if r.Cell.Workers == 1 {
				r.Metrics[results.MetricOps] = 0
			}
		}), "no positive median at 1 worker"},
		{"run at some", octaves, workers, results.MetricOps, edit(func(s *results.Sweep) {
			other := slices.Clone(s.Runs)
			for i := range other {
				other[i].Cell.Strategy = "actor" // keeps all points on the axis
			}
			s.Runs = append(slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Cell.Workers > 4 }), other...)
		}), "run at 3 levels within the processors; five are needed"},
		{"one block", octaves, workers, results.MetricOps, edit(func(s *results.Sweep) {
			s.Runs = slices.DeleteFunc(s.Runs, func(r results.Run) bool { return r.Block > 0 })
		}), "1 block; the intervals of its coefficients need 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := path{courses: []course{{"mutex", usl(0.05, 0.001)}}, values: c.values, place: c.place, metric: c.metric, blocks: 6, noise: exact}.
				sweep(rand.New(rand.NewPCG(1, 1)))
			if c.change != nil {
				c.change(s)
			}
			trend := s.Trends()[0]
			line := trend.Lines[0]
			if line.Unfitted != c.want || (line.Fit == nil) != (c.want != "") {
				t.Errorf("%q, want %q", line.Unfitted, c.want)
			}
			if len(trend.Lines) == 1 && trend.Unfitted != c.want {
				t.Errorf("the trend: %q, want %q", trend.Unfitted, c.want)
			}
		})
	}
}

func TestScalingTexts(t *testing.T) {
	p := path{courses: []course{
		{"mutex", usl(0.3, 0.2)}, {"atomics", usl(0.05, 0.0012)}, {"actor", usl(0.031, 0)}, {"rwmutex", usl(0.1, 2e-6)}, {"rbmutex", usl(0.1, 5e-7)},
		{"raw", func(n float64) float64 { return 1000 * n * n }}, {"null", func(n float64) float64 { return 1000 * n * n }},
	}, values: octaves, place: workers, metric: results.MetricOps, blocks: 6, noise: exact}
	trend := p.sweep(rand.New(rand.NewPCG(1, 1))).Trends()[0]
	notes := trend.Notes()
	miss := strings.TrimPrefix(notes[len(notes)-1], "no scaling law fitted to `null` and `raw`: the law misses a median by ")
	want := []string{
		"no change of order found, among 10 pairs of strategies",
		"`mutex`: contention 30 % (30–30), coherency 20 % (20–20), peak at 2 workers",
		"`actor`: contention 3.1 % (3.1–3.1), coherency 0 % (0–0), no peak",
		"`atomics`: contention 5.0 % (5.0–5.0), coherency 0.12 % (0.12–0.12), peak at 28 workers",
		"`rbmutex`: contention 10 % (10–10), coherency <0.0001 % (<0.0001–<0.0001), peak far beyond what was measured",
		"`rwmutex`: contention 10 % (10–10), coherency 0.00020 % (0.00020–0.00020), peak far beyond what was measured",
	}
	if !slices.Equal(notes[:len(notes)-1], want) || miss == notes[len(notes)-1] {
		t.Errorf("%s\nwant\n%s", strings.Join(notes, "\n"), strings.Join(want, "\n"))
	}
	tables := trend.Tables()
	if got, want := fmt.Sprint(tables[0]), "{op/s by workers [mutex actor atomics null raw rbmutex rwmutex] [{1 [1.0k 1.0k 1.0k 1.0k 1.0k 1.0k 1.0k] false} {2 "; !strings.HasPrefix(got, want) {
		t.Errorf("table %s", got)
	}
	if got, want := fmt.Sprint(tables[1]), "{scaling law [mutex actor atomics rbmutex rwmutex] [{rate of one [1.0k (1.0k–1.0k) 1.0k (1.0k–1.0k) 1.0k (1.0k–1.0k) 1.0k (1.0k–1.0k) 1.0k (1.0k–1.0k)] false} "+
		"{contention [30 % (30–30) 3.1 % (3.1–3.1) 5.0 % (5.0–5.0) 10 % (10–10) 10 % (10–10)] false} "+
		"{coherency [20 % (20–20) 0 % (0–0) 0.12 % (0.12–0.12) <0.0001 % (<0.0001–<0.0001) 0.00020 % (0.00020–0.00020)] false} {peak [2 none 28 >320 >320] false}] false}"; got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
	p.values = octaves[:5]
	if notes := p.sweep(rand.New(rand.NewPCG(1, 1))).Trends()[0].Notes(); !slices.Contains(notes, "`atomics`: contention 5.0 % (5.0–5.0), coherency 0.12 % (0.12–0.12), peak at 28 workers, beyond what was measured") {
		t.Errorf("notes %q", notes)
	}
	p.values = octaves[:2]
	trend = p.sweep(rand.New(rand.NewPCG(1, 1))).Trends()[0]
	if notes := trend.Notes(); len(trend.Tables()) != 1 || notes[len(notes)-1] != "no scaling law fitted: 2 levels within 256 processors; five are needed" {
		t.Errorf("notes %q", notes)
	}
}
