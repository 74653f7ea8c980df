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
			"handle-seconds", "handle-seconds-1", "handle-seconds-10", "handle-seconds-100", "handle-seconds-1000", "handle-bytes",
			"handles-rate", "handles-rate-heap",
		} {
			want = append(want, prefix+name)
		}
	}
	checkFigures(t, figures, want)
}

// The handles are made between the calls, and live until after the second.
func TestNewHandles(t *testing.T) {
	var before, after uint64
	err := newHandles("actor", 1000, func() { before = liveHeap() }, func() { after = liveHeap() })
	if err != nil {
		t.Fatal(err)
	}
	if grown := int64(after) - int64(before); grown < 1000*100 {
		t.Errorf("1,000 handles keep %d bytes", grown)
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
