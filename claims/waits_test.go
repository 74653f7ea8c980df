package claims

import (
	"math"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestWaits(t *testing.T) {
	b := tinyBench(t)
	seen, err := seeWaits(b)
	if err != nil {
		t.Fatal(err)
	}
	figures := b.waitFigures(seen)
	checkNames(t, figures, []string{
		"atomics-waits", "atomics-waited", "atomics-commit", "atomics-roll", "atomics-ring", "atomics-parked", "atomics-waited-heap", "atomics-parked-heap",
		"atomics-commit-time", "atomics-roll-time", "atomics-ring-time", "atomics-commit-time-heap",
	})
	for _, f := range figures {
		if !(f.Value >= 0) || math.IsInf(f.Value, 0) {
			t.Errorf("%s is %v", f.Name, f.Value)
		}
	}
}

// What is not seen at all is zero; where some blocks have none, less than one bounds them.
func TestShare(t *testing.T) {
	b := tinyBench(t)
	count := func(w *waited) int64 { return w.Any }
	none := []waited{{Appends: 100}, {Appends: 100}}
	if f := b.share("s", "", none, count); f.Value != 0 || f.Low != 0 || f.High != 0 {
		t.Errorf("of nothing: %+v", f)
	}
	some := []waited{{Appends: 100, Any: 1}, {Appends: 100}}
	if f := b.share("s", "", some, count); math.Abs(f.Value-0.01) > 1e-9 {
		t.Errorf("of one and none in a hundred: %+v", f)
	}
}

// Only what is in every block has an interval.
func TestPart(t *testing.T) {
	b := tinyBench(t)
	wait := func(w *waited) time.Duration { return w.CommitTime }
	runs := []waited{{Took: time.Second}, {Took: time.Second}}
	if f := b.part("p", "", runs, wait); f.Value != 0 || !math.IsNaN(f.Low) || !math.IsNaN(f.High) {
		t.Errorf("of nothing: %+v", f)
	}
	runs[0].CommitTime = time.Second / 2
	if f := b.part("p", "", runs, wait); f.Value != 0.25 || !math.IsNaN(f.Low) || !math.IsNaN(f.High) {
		t.Errorf("of half of one and nothing of another: %+v", f)
	}
	runs[1].CommitTime = time.Second / 8
	if f := b.part("p", "", runs, wait); math.Abs(f.Value-0.25) > 1e-9 || !(f.Low < 0.25 && f.High > 0.25) {
		t.Errorf("of half of one and an eighth of another: %+v", f)
	}
}

// An append that finds the segment full waits for the next one, whoever makes it.
func TestRollsAreCounted(t *testing.T) {
	batch := oneRecord(1 << 10)
	log, err := openLog("atomics", strategies.Options{Storage: segment.NewHeap(), SegmentSize: int64(len(batch))})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	h := log.NewHandle()
	h.(strategies.WaitCounter).TimeWaits()
	for range 5 {
		if _, err := h.Append(t.Context(), batch, strategies.AcksLeader); err != nil {
			t.Fatal(err)
		}
	}
	got := h.(strategies.WaitCounter).Waits()
	if got.RollTime <= 0 {
		t.Errorf("rolls are timed as %+v", got)
	}
	got.RollTime = 0
	if want := (strategies.Waits{Roll: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestOnlyCountedHandlesAreCounted(t *testing.T) {
	log, err := openLog("mutex", strategies.Options{Storage: segment.NewHeap()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := appendAndCount(t.Context(), log.NewHandle(), false); err == nil {
		t.Error("waits of a mutex are counted")
	}
}
