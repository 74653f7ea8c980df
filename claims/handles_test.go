package claims

import (
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestHandles(t *testing.T) {
	figures, err := handles(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"handles-rate-10", "handles-rate-100", "handles-rate-1000"}
	for _, prefix := range []string{"", "mutex-"} {
		for _, name := range []string{
			"handle-seconds", "handle-seconds-1", "handle-seconds-10", "handle-seconds-100", "handle-seconds-1000", "handle-bytes", "handle-close-seconds",
			"handles-rate", "handles-rate-heap",
		} {
			want = append(want, prefix+name)
		}
	}
	checkFigures(t, figures, want)
}

// The handles are made between the first two calls, live until after the second, and are closed before the third.
func TestNewHandles(t *testing.T) {
	var before, between, after int64
	heap := func(of *int64) func() { return func() { *of = int64(liveHeap()) } }
	if err := newHandles("actor", 1000, heap(&before), heap(&between), heap(&after)); err != nil {
		t.Fatal(err)
	}
	if grown := between - before; grown < 1000*100 {
		t.Errorf("1,000 handles keep %d bytes", grown)
	}
	if left := after - before; left > (between-before)/2 {
		t.Errorf("1,000 handles that are closed keep %d bytes, of %d", left, between-before)
	}
}

func TestReadInTurn(t *testing.T) {
	log, err := openLog("actor", strategies.Options{Storage: segment.NewHeap()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	all := []strategies.Handle{log.NewHandle(), log.NewHandle()}
	if err := readInTurn(all, 1)(1); err == nil {
		t.Error("reads of a log without their offsets are no error")
	}
	for range handledBatches {
		if _, err := all[0].Append(t.Context(), oneRecord(1), strategies.AcksLeader); err != nil {
			t.Fatal(err)
		}
	}
	loop := readInTurn(all, 1)
	if err := loop(1000); err != nil {
		t.Fatal(err)
	}
	// The second one's turn comes, too.
	if err := all[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := loop(2); err == nil {
		t.Error("two reads in turn do not use the second handle")
	}
}
