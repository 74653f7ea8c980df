package claims

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
)

// A part of a turn ends with its time, or with the pages of a reader; what the worker does meanwhile counts.
func TestOthersTurn(t *testing.T) {
	var mu sync.Mutex
	var read []int64
	note := func(_ []byte, position int64) error {
		mu.Lock()
		defer mu.Unlock()
		read = append(read, position/int64(os.Getpagesize()))
		return nil
	}
	var turn othersTurn
	if err := turn.run(othersArm{"one", 1, note}, []int{5, 3, 4}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read, []int64{5, 3, 4}) || turn.reads.Load() != 3 || turn.took <= 0 {
		t.Errorf("a reader has read %v, %d counted, in %v", read, turn.reads.Load(), turn.took)
	}
	few, before := turn.took, turn.chunks
	if err := turn.run(othersArm{"alone", 0, nil}, nil); err != nil {
		t.Fatal(err)
	}
	if turn.took-few < othersShare || turn.chunks == before || turn.reads.Load() != 3 {
		t.Errorf("the worker alone does %d chunks in %v", turn.chunks-before, turn.took-few)
	}
	few, read = turn.took, nil
	pages := rand.Perm(1 << 24) // more than can be read in the time
	if err := turn.run(othersArm{"two", 2, func([]byte, int64) error { return nil }}, pages); err != nil {
		t.Fatal(err)
	}
	if got := turn.reads.Load(); turn.took-few < othersShare || got <= 3 || got >= int64(len(pages)) {
		t.Errorf("%d reads in %v", got, turn.took-few)
	}

	broken := errors.New("broken")
	turn = othersTurn{}
	if err := turn.run(othersArm{"broken", 2, func([]byte, int64) error { return broken }}, pages); !errors.Is(err, broken) || turn.reads.Load() != 0 {
		t.Errorf("a failing read: %v, %d reads", err, turn.reads.Load())
	}
}
