package strategies_test

import (
	"context"
	"errors"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// A publication is one allocation, and with a copy of the list two.
func TestPublisher(t *testing.T) {
	storage := segment.NewHeap()
	s, err := strategies.Find("mutex")
	if err != nil {
		t.Fatal(err)
	}
	m := newMaker(1, 1)
	first := m.make(1, 100, 0)
	o := strategies.Options{Storage: keptOpen{storage}, SegmentSize: int64(len(first))}
	log, err := s.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	h := log.NewHandle()
	for range 3 { // segments
		if _, err := h.Append(context.Background(), m.make(1, 100, 0), strategies.AcksLeader); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	const publications = 1000
	for copies, want := range map[bool]float64{false: publications, true: 2 * publications} {
		p, err := strategies.OpenPublisher(o, copies)
		if err != nil {
			t.Fatal(err)
		}
		allocations := testing.AllocsPerRun(3, func() {
			if err := p.Publish(publications); err != nil {
				t.Error(err)
			}
		})
		if allocations < want || allocations > want+50 {
			t.Errorf("copies %v: %d publications allocate %v times, want %v", copies, publications, allocations, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Publish(1); !errors.Is(err, strategies.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// keptOpen is a storage that several logs use, one after the other.
type keptOpen struct{ segment.Storage }

func (keptOpen) Close() error { return nil }
