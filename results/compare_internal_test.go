package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The example of R's t.test: the data set sleep (Student, Biometrika 6, 1908), whose groups are taken for logarithms.
func TestWelchIntervalIsThatOfR(t *testing.T) {
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	got := welchInterval(two, one, 0.95)
	for _, c := range []struct{ got, want float64 }{{math.Log(got.Low), -3.3654832}, {math.Log(got.High), 0.2054832}, {math.Log(got.Ratio), -1.58}} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("got %v, R has %v", c.got, c.want)
		}
	}
	if got.Blocks != 10 || got.Level != 0.95 {
		t.Errorf("%+v", got)
	}
}

func TestWelchIntervalCoversTheTruth(t *testing.T) {
	const tries, truth = 1000, 1.3
	random := rand.New(rand.NewPCG(3, 1947))
	draw := func(n int, center, spread float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Log(center) + spread*random.NormFloat64()
		}
		return values
	}
	covered := 0
	for range tries {
		i := welchInterval(draw(6, 100, 0.3), draw(11, 100*truth, 0.05), 0.95)
		if i.Low <= truth && truth <= i.High {
			covered++
		}
	}
	if covered < 930 || covered > 970 {
		t.Errorf("%d of %d intervals cover the truth, want 930 to 970", covered, tries)
	}
}

// invented sides have a value for each run, in blocks from 0 on.
func inventedSide(path string, better int, values map[string][]float64, names ...string) *side {
	x := &side{origin: Origin{Path: path}}
	for _, name := range names {
		b := &benchmark{
			key: name, name: name, primary: []string{"m"}, metrics: []string{"m"}, runs: len(values[name]), values: make(map[string][]observation),
			exact: func(string) bool { return false }, distrust: func(string) string { return "" }, better: func(string) int { return better },
		}
		for block, v := range values[name] {
			b.values["m"] = append(b.values["m"], observation{v, block})
		}
		x.benchmarks = append(x.benchmarks, b)
	}
	return x
}

func compareValues(t *testing.T, better int, old, new []float64, interleaved bool, o CompareOptions) *Changes {
	t.Helper()
	c, err := compareSides(inventedSide("old", better, map[string][]float64{"b": old}, "b"),
		inventedSide("new", better, map[string][]float64{"b": new}, "b"), interleaved, 0, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		better      int
		old, new    []float64
		threshold   float64
		interleaved bool
		verdict     Verdict
		beyond      bool
		reason      string
	}{
		"faster":                 {better: -1, old: []float64{9, 10, 11, 10}, new: []float64{4, 5, 6, 5}, verdict: Better},
		"slower":                 {better: -1, old: []float64{9, 10, 11, 10}, new: []float64{18, 20, 22, 20}, threshold: 0.1, verdict: Worse, beyond: true},
		"less work":              {better: 1, old: []float64{9, 10, 11, 10}, new: []float64{4, 5, 6, 5}, verdict: Worse, beyond: true},
		"not beyond":             {better: -1, old: []float64{9.9, 10, 10.1, 10}, new: []float64{10.4, 10.5, 10.6, 10.5}, threshold: 0.05, verdict: Worse},
		"not beyond for rates":   {better: 1, old: []float64{9.9, 10, 10.1, 10}, new: []float64{9.4, 9.5, 9.6, 9.5}, threshold: 0.05, verdict: Worse},
		"no difference":          {better: -1, old: []float64{9, 10, 11}, new: []float64{9.5, 10, 10.5}, verdict: NoDifference},
		"drift in blocks":        {better: -1, old: []float64{10, 20, 40, 80}, new: []float64{12, 24.1, 47.8, 96}, interleaved: true, verdict: Worse, beyond: true},
		"drift without blocks":   {better: -1, old: []float64{10, 20, 40, 80}, new: []float64{12, 24.1, 47.8, 96}, verdict: NoDifference},
		"one run":                {better: -1, old: []float64{10}, new: []float64{12, 13}, reason: "an interval needs two runs on each side, there are 1 old and 2 new"},
		"one block":              {better: -1, old: []float64{10}, new: []float64{12, 13}, interleaved: true, reason: "fewer than two blocks"},
		"which way":              {old: []float64{9, 10, 11, 10}, new: []float64{4, 5, 6, 5}, reason: `it changed, but nothing says whether less of it is better; a line "Unit m better=lower" in the file does, or better=higher`},
		"which way, unchanged":   {old: []float64{9, 10, 11, 10}, new: []float64{9, 10, 11, 10}, verdict: NoDifference},
		"equal zeros":            {better: -1, old: repeat(0, 3), new: repeat(0, 3), verdict: NoDifference},
		"equal":                  {better: -1, old: repeat(7, 3), new: repeat(7, 3), verdict: NoDifference},
		"equal in each block":    {better: -1, old: []float64{1, 2, 3}, new: []float64{1, 2, 3}, interleaved: true, verdict: NoDifference},
		"from zero":              {better: -1, old: repeat(0, 5), new: repeat(1, 5), threshold: 0.5, verdict: Worse, beyond: true},
		"to zero":                {better: -1, old: repeat(1, 5), new: repeat(0, 5), verdict: Better},
		"a rate falls to zero":   {better: 1, old: repeat(1, 5), new: repeat(0, 5), threshold: 0.99, verdict: Worse, beyond: true},
		"from zero, too few":     {better: -1, old: repeat(0, 3), new: repeat(1, 3), reason: "no spread to judge the difference by, and without it there are too few runs"},
		"from zero in blocks":    {better: -1, old: repeat(0, 7), new: repeat(1, 7), interleaved: true, verdict: Worse, beyond: true},
		"too few blocks":         {better: -1, old: repeat(0, 5), new: repeat(1, 5), interleaved: true, reason: "no spread to judge the difference by, and without it there are too few runs"},
		"some zeros":             {better: -1, old: []float64{0, 1, 1, 0, 1}, new: []float64{0, 1, 0, 0, 1}, reason: "some values are 0, so that there is no ratio, and not all of one side lie on one side of the other's"},
		"one more without noise": {better: -1, old: repeat(10, 5), new: repeat(11, 5), threshold: 0.05, verdict: Worse, beyond: true},
		"and below threshold":    {better: -1, old: repeat(100, 5), new: repeat(101, 5), threshold: 0.05, verdict: Worse},
		"huge":                   {better: -1, old: []float64{1e-100, 1.1e-100, 1.2e-100}, new: []float64{1e200, 1.1e200, 1.2e200}, verdict: Worse, beyond: true},
		"beyond all ratios":      {better: -1, old: repeat(5e-324, 5), new: []float64{1e308, 1.1e308, 1.2e308, 1.3e308, 1.4e308}, verdict: Worse, beyond: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := compareValues(t, c.better, c.old, c.new, c.interleaved, CompareOptions{Threshold: c.threshold})
			d := got.Changes[0]
			if d.Verdict != c.verdict || d.Beyond != c.beyond || d.Reason != c.reason {
				t.Errorf("%s, beyond %v, %q", d.Verdict, d.Beyond, d.Reason)
			}
			want := NoRegression
			switch {
			case c.beyond && c.interleaved:
				want = Regression
			case c.beyond, c.verdict == Undecided, name == "drift without blocks": // where anything could hide
				want = Inconclusive
			}
			if got.Outcome() != want {
				t.Errorf("%s, want %s", got.Outcome(), want)
			}
			got.Options.AllowSequential = true
			if c.beyond && got.Outcome() != Regression {
				t.Errorf("%s although drift is ruled out", got.Outcome())
			}
			for _, write := range []func(*strings.Builder) error{
				func(w *strings.Builder) error { return got.WriteText(w, 0) }, func(w *strings.Builder) error { return got.WriteJSON(w) },
			} {
				var out strings.Builder
				if err := write(&out); err != nil || strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
					t.Errorf("%v\n%s", err, out.String())
				}
			}
		})
	}
}

// All intervals together hold in 95 % of the cases: more comparisons make each of them wider.
func TestComparisonsShareTheConfidence(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	values := make(map[string][]float64)
	for _, name := range names {
		values[name] = []float64{9, 10, 11}
	}
	c, err := compareSides(inventedSide("old", 1, values, names...), inventedSide("new", 1, values, names...), false, 0, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(c.Level-0.99) > 1e-12 || c.Changes[4].Level != c.Level {
		t.Errorf("each of five intervals at %v, want 0.99", c.Level)
	}
	if share, ok := c.Hidden(); !ok || math.Abs(share-c.Changes[0].worst()) > 1e-12 || share < 0.1 {
		t.Errorf("hidden %v, %v", share, ok)
	}
}

// identicalBlocks draws a number of blocks in a row from the recording of identical code. Which of the two runs of a
// block is the old one is drawn.
func identicalBlocks(inTime []float64, blocks int, random *rand.Rand) (old, new []float64) {
	at := 2 * random.IntN(len(inTime)/2-blocks+1)
	for i := at; i < at+2*blocks; i += 2 {
		one, other := inTime[i], inTime[i+1]
		if random.IntN(2) == 0 {
			one, other = other, one
		}
		old, new = append(old, one), append(new, other)
	}
	return old, new
}

// On recorded runs of identical code, an alarm is as rare as promised, and rarer with a threshold; where the new side
// has a fifth less of its throughput, or a quarter more of its latency, it is found.
func TestAlarmsOnARecording(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, see make long")
	}
	const tries = 1000
	inTime, _ := identicalRuns(t)
	random := rand.New(rand.NewPCG(25, 2026))
	for _, c := range []struct {
		blocks                int
		threshold             float64
		mostFalse, leastFound int // in 1,000
	}{
		{6, 0, 50, 950}, {12, 0, 50, 980}, {25, 0, 50, 990}, {6, 0.05, 5, 900}, {12, 0.05, 5, 950}, {25, 0.05, 5, 990},
	} {
		alarms, rate, latency := 0, 0, 0
		for range tries {
			old, new := identicalBlocks(inTime, c.blocks, random)
			o := CompareOptions{Threshold: c.threshold}
			if compareValues(t, 1, old, new, true, o).Outcome() == Regression {
				alarms++
			}
			slowed, late := make([]float64, len(new)), make([]float64, len(new))
			for i := range new {
				slowed[i], late[i] = 0.8*new[i], 1.25/new[i]
			}
			if compareValues(t, 1, old, slowed, true, o).Outcome() == Regression {
				rate++
			}
			for i := range old {
				old[i] = 1 / old[i]
			}
			if compareValues(t, -1, old, late, true, o).Outcome() == Regression {
				latency++
			}
		}
		t.Logf("%d blocks, threshold %.0f %%: of 1,000, false alarms %d, a fifth less throughput found in %d, a quarter more latency in %d",
			c.blocks, 100*c.threshold, alarms, rate, latency)
		if alarms > c.mostFalse || rate < c.leastFound || latency < c.leastFound {
			t.Errorf("want at most %d false alarms, and at least %d found", c.mostFalse, c.leastFound)
		}
	}
}

func TestShortNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	for name, c := range map[string]struct {
		names, want []string
		common      string
	}{
		"none":              {},
		"one":               {[]string{"BenchmarkA/size=8-2"}, []string{"BenchmarkA/size=8-2"}, ""},
		"one, of a package": {[]string{"A/k=1 pkg:a/b"}, []string{"A/k=1"}, "pkg:a/b"},
		"one, long":         {[]string{"BenchmarkA/size=" + long}, []string{"BenchmarkA"}, "/size=" + long},
		"common":            {[]string{"BenchmarkA/k=1/size=8", "BenchmarkA/k=2/size=8"}, []string{"k=1", "k=2"}, "BenchmarkA/size=8"},
		"nothing left":      {[]string{"BenchmarkA", "BenchmarkA/k=1"}, []string{"BenchmarkA", "BenchmarkA/k=1"}, ""},
		"twice":             {[]string{"A/k=1", "A/k=1", "A/k=2"}, []string{"k=1", "k=1", "k=2"}, "A"},
		"long":              {[]string{"A/w=" + long + "/k=1", "B/w=y/k=2"}, []string{"A", "B"}, ""},
		"long, unkeyed":     {[]string{"A" + long, "B" + long}, []string{"A" + long[:23] + "…" + long[:23], "B" + long[:23] + "…" + long[:23]}, ""},
		"long, the same":    {[]string{long + "1" + long, long + "2" + long}, []string{long + "1" + long, long + "2" + long}, ""},
		"not in ASCII":      {[]string{"größe/µ/k=1", "größe/µ/k=2"}, []string{"k=1", "k=2"}, "größe/µ"},
	} {
		labels, common := shortNames(c.names)
		if !slices.Equal(labels, c.want) || common != c.common {
			t.Errorf("%s: %q, common %q, want %q, %q", name, labels, common, c.want, c.common)
		}
	}
}
