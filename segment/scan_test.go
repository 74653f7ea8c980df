package segment

import (
	"bytes"
	"errors"
	"testing"
)

// Scan needs no index and changes nothing.
func TestScan(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 81, 50)
		for _, v := range p.views() {
			remove(t, s, fileName(v.Base(), indexSuffix))
		}
		before := snapshot(t, s)
		next := 0
		err := Scan(s, func(file string, b Batch, position int64) error {
			want := p.batches[next]
			if file != Name(want.segment) || position != want.position || !bytes.Equal(b, want.batch) {
				t.Fatalf("batch %d at %d of %s is not what was written", next, position, file)
			}
			next++
			return nil
		})
		if err != nil || next != len(p.batches) {
			t.Errorf("Scan finds %d batches, %v, want %d", next, err, len(p.batches))
		}
		sameFiles(t, snapshot(t, s), before)
	})
}

func TestScanStops(t *testing.T) {
	p := closedLog(t, NewHeap(), 82, 50)
	stop := errors.New("stop")
	calls := 0
	err := Scan(p.config.Storage, func(string, Batch, int64) error {
		if calls++; calls == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || calls != 3 {
		t.Errorf("Scan = %v after %d calls", err, calls)
	}
}

func TestScanFindsDamage(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 83, 50)
		for _, damaged := range []stored{p.batches[0], p.batches[len(p.batches)/2], p.batches[len(p.batches)-1]} {
			name := Name(damaged.segment)
			whole := contents(t, s, name)
			for what, log := range map[string][]byte{
				"flipped": append(append(bytes.Clone(whole[:damaged.end()-1]), whole[damaged.end()-1]^1), whole[damaged.end():]...),
				"cut off": whole[:damaged.end()-1],
			} {
				replace(t, s, name, log)
				err := Scan(s, func(string, Batch, int64) error { return nil })
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) || corrupt.File != name || corrupt.Position != damaged.position {
					t.Errorf("%s batch at %d of %s: %v", what, damaged.position, name, err)
				}
			}
			replace(t, s, name, whole)
		}
	})
}
