package claims

import (
	"math"
	"testing"
)

func TestMistakes(t *testing.T) {
	figures, err := mistakes(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"actor-hidden", "atomics-hidden"}
	for _, s := range []string{"mutex", "rwmutex", "atomics", "actor"} {
		want = append(want, s+"-one-client", s+"-checker", s+"-survived")
	}
	checkNames(t, figures, want)
	for _, f := range figures {
		if !(f.Low >= 0) || f.Value < f.Low || f.Value > f.High || math.IsInf(f.High, 0) {
			t.Errorf("%s is %v (%v–%v)", f.Name, f.Value, f.Low, f.High)
		}
	}
}

// What was found is a count, which varies, whether all mistakes were tried or some.
func TestHiddenMistakes(t *testing.T) {
	b := tinyBench(t)
	census := &mutantCounts{Strategy: "a", Possible: 80, Mutants: 80, Checker: 4}
	sample := &mutantCounts{Strategy: "b", Possible: 400, Mutants: 100, Checker: 12}
	// 1.96 times the root of 1/4 + 1/4 is the half width of the logarithm.
	if f := b.hiddenOver("h", census, census); f.Value != 1 || math.Abs(f.High-4) > 0.01 || math.Abs(f.Low-1/f.High) > 1e-9 {
		t.Errorf("4 over 4: %+v", f)
	}
	f := b.hiddenOver("h", sample, census)
	if f.Value != 12 || math.Abs(math.Log(f.High/f.Value)-1.96*math.Sqrt(1./4+1./12)) > 0.001 || math.Abs(f.Low*f.High-144) > 1e-9 {
		t.Errorf("48 over 4, of 12 found in a quarter: %+v", f)
	}
	none := &mutantCounts{Strategy: "n", Possible: 80, Mutants: 80}
	if f := b.hiddenOver("h", census, none); f.Value != 4 {
		t.Errorf("over none: %+v, want as over one", f)
	}
	for _, record := range []string{"", "[]"} {
		if _, err := mutantsOf([]byte(record)); err == nil {
			t.Errorf("the record %q is read", record)
		}
	}
}
