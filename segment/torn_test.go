package segment

import (
	"bytes"
	"errors"
	"testing"
)

// tail is the place in p.batches of the first batch of the last segment, and of the batch that its
// last slot belongs to.
func (p *partition) tail() (first, scanned int) {
	v := p.active.Publish()
	indexed := (v.Size - 1) / p.active.Files().config.Interval * p.active.Files().config.Interval
	for i, s := range p.batches {
		if s.segment < v.Base() {
			first = i + 1
		}
		if s.segment < v.Base() || s.position <= indexed {
			scanned = i
		}
	}
	return max(0, first), scanned
}

// openDamaged opens a damaged log and says whether it is sound; if not, the error must have a place
// in [from, to].
func openDamaged(t *testing.T, p *partition, from, to int64) (q *partition, sound bool) {
	t.Helper()
	sealed, active, err := Open(p.config)
	if err == nil {
		return &partition{t: t, config: p.config, sealed: sealed, active: active}, true
	}
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !errors.Is(err, ErrCorrupt) || len(sealed) > 0 || active != nil {
		t.Fatalf("Open = %d segments, %v", len(sealed), err)
	}
	if corrupt.File != Name(p.active.Files().Base()) || corrupt.Position < from || corrupt.Position > to {
		t.Fatalf("Open says %v, want a place in [%d, %d] of %s", err, from, to, Name(p.active.Files().Base()))
	}
	return nil, false
}

// A log cut between two batches opens with what is left; one cut elsewhere is corrupt at the torn
// batch.
func TestTornLog(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 41, 50)
		files := snapshot(t, s)
		base := p.active.Files().Base()
		log := files[Name(base)]
		first, _ := p.tail()
		torn := first // the batch in which the cut lies
		last := p.batches[len(p.batches)-6].position
		for n := range log {
			if n > 2*HeaderSize && int64(n) < last && n%16 > 0 {
				continue // every length only at both ends
			}
			for int64(n) >= p.batches[torn].end() {
				torn++
			}
			restore(t, s, files, base)
			replace(t, s, Name(base), log[:n])
			q, sound := openDamaged(t, p, p.batches[torn].position, p.batches[torn].position)
			if whole := p.batches[torn].position == int64(n); sound != whole {
				t.Fatalf("log of %d bytes: sound is %t", n, sound)
			}
			if sound {
				q.batches = p.batches[:torn]
				q.check()
				q.close()
				index, times := referenceIndexes(log[:n], reopenConfig.Interval)
				if !bytes.Equal(contents(t, s, fileName(base, indexSuffix)), index) || !bytes.Equal(contents(t, s, fileName(base, timeSuffix)), times) {
					t.Fatalf("log of %d bytes: indexes differ from the reference", n)
				}
			}
		}
	})
}

// From the batch of the last slot on, Open finds every changed byte but those of the partition leader
// epoch, which no checksum covers and nothing depends on.
func TestFlippedTail(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 42, 50)
		p = p.reopen()
		p.append(build(record{value: make([]byte, 20)}), build(record{value: make([]byte, 30)}), build(record{value: make([]byte, 3)}))
		p.close()
		files := snapshot(t, s)
		base := p.active.Files().Base()
		log := files[Name(base)]
		_, scanned := p.tail()
		for _, b := range p.batches[scanned:] {
			for at := b.position; at < b.end(); at++ {
				for _, flip := range []byte{0x01, 0x80, 0xff} {
					damaged := bytes.Clone(log)
					damaged[at] ^= flip
					restore(t, s, files, base)
					replace(t, s, Name(base), damaged)
					q, sound := openDamaged(t, p, b.position, int64(len(log)))
					epoch := at-b.position >= atLeaderEpoch && at-b.position < atMagic
					if sound != epoch {
						t.Fatalf("byte %d of the batch at %d flipped by %02x: sound is %t", at-b.position, b.position, flip, sound)
					}
					if sound {
						q.close()
					}
				}
			}
		}
	})
}

// Where Open does not look, Walk finds every change, and Read never gives bytes that begin elsewhere.
func TestFlippedBody(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 43, 40)
		files := snapshot(t, s)
		v := p.sealed[0]
		log := files[Name(v.Base())]
		buf := make([]byte, 4096)
		for at := 0; at < len(log); at += 5 {
			damaged := bytes.Clone(log)
			damaged[at] ^= 0x41
			restore(t, s, files, v.Base())
			replace(t, s, Name(v.Base()), damaged)
			sealed, active, err := Open(p.config)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			var corrupt *CorruptError
			err = sealed[0].Walk(&Cursor{}, func(Batch, int64) error { return nil })
			for _, b := range p.batches {
				if b.segment != v.Base() {
					break
				}
				within := int64(at) >= b.position && int64(at) < b.end()
				epoch := within && int64(at) >= b.position+atLeaderEpoch && int64(at) < b.position+atMagic
				if within && !epoch && (!errors.As(err, &corrupt) || corrupt.Position < b.position) || epoch && err != nil {
					t.Fatalf("byte %d of the batch at %d flipped: Walk gives %v", int64(at)-b.position, b.position, err)
				}
				got, err := sealed[0].Read(b.batch.BaseOffset(), buf, &Cursor{})
				if err != nil && !errors.As(err, &corrupt) {
					t.Fatalf("byte %d flipped: Read at %d gives %v", at, b.batch.BaseOffset(), err)
				}
				if err == nil && !bytes.HasPrefix(damaged[b.position:], got) {
					t.Fatalf("byte %d flipped: Read at %d begins elsewhere", at, b.batch.BaseOffset())
				}
			}
			if err := Close(sealed, active.Publish()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A length field that leads beyond the log is corruption, no reason for a larger buffer.
func TestReadImpossibleLength(t *testing.T) {
	p := openPartition(t, Config{Storage: NewHeap()})
	p.append(batchOf(t, 100), batchOf(t, 100))
	if err := p.active.Files().WriteAt(Batch{0x7f}, atLength); err != nil {
		t.Fatal(err)
	}
	_, err := p.active.Publish().Read(0, make([]byte, 4096), &Cursor{})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.File != Name(0) || corrupt.Position != 0 {
		t.Errorf("Read = %v, want a *CorruptError at 0", err)
	}
	p.close()
}

// A file shorter than a view says is corruption.
func TestReadShortFile(t *testing.T) {
	s, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s})
	p.append(batchOf(t, 100), batchOf(t, 100))
	if err := s.Truncate(Name(0), 150); err != nil {
		t.Fatal(err)
	}
	_, err = p.active.Publish().Read(0, make([]byte, 4096), &Cursor{})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Position != 150 {
		t.Errorf("Read = %v, want a *CorruptError at 150", err)
	}
	p.close()
}
