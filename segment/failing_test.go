package segment

import (
	"errors"
	"testing"
)

// A failed write shows nothing of its group, and the error is the storage's.
func TestFailedWrite(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{1, 3} {
		s := &failing{Storage: NewHeap()}
		active, err := Create(Config{Storage: s, Interval: 64}, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := &partition{t: t, active: active}
		p.append(batchOf(t, 100))
		before := p.active.Publish()
		s.err = broken
		for range n {
			if _, ok := active.Add(batchOf(t, 100)); !ok {
				t.Fatal("batch was refused")
			}
		}
		if err := active.Write(); !errors.Is(err, broken) {
			t.Errorf("Write = %v", err)
		}
		if err := active.Files().Sync(); !errors.Is(err, broken) {
			t.Errorf("Sync = %v", err)
		}
		if got := active.Publish(); got != before {
			t.Errorf("after a failed Write, Publish gives %+v, want %+v", got, before)
		}
		p.check()
	}
}

// failing is a storage whose logs refuse writes once err is set.
type failing struct {
	Storage
	err error
}

type failingLog struct {
	LogFile
	storage *failing
}

func (s *failing) OpenLog(name string, create bool) (LogFile, error) {
	l, err := s.Storage.OpenLog(name, create)
	return failingLog{l, s}, err
}

func (l failingLog) Pwrite(p []byte, position int64) error {
	if l.storage.err != nil {
		return l.storage.err
	}
	return l.LogFile.Pwrite(p, position)
}

func (l failingLog) PwriteBatches(batches []Batch, position int64) error {
	if l.storage.err != nil {
		return l.storage.err
	}
	return l.LogFile.PwriteBatches(batches, position)
}

func (l failingLog) Sync() error { return l.storage.err }
