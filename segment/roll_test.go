package segment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// A segment is rolled exactly when the batch does not fit: a batch that ends at the limit does.
func TestRollAtLimit(t *testing.T) {
	const size = 1000
	for _, left := range []int{MinBatch - 1, MinBatch, 200} {
		for _, spare := range []int{-1, 0, 1} {
			batch := left - spare
			if batch < MinBatch {
				continue
			}
			t.Run(fmt.Sprintf("left=%d/batch=%d", left, batch), func(t *testing.T) {
				p := openPartition(t, Config{Storage: NewHeap(), Size: size, Interval: 64})
				p.append(batchOf(t, 500), batchOf(t, size-500-left))
				b := batchOf(t, batch)
				fits := p.active.Files().Fits(b, p.active.Publish().Size, 2)
				if fits != (spare >= 0) || fits != p.config.Fits(b, size-int64(left), 2) {
					t.Errorf("Fits is %t", fits)
				}
				p.append(b)
				if rolled := len(p.sealed) > 0; rolled != (spare < 0) {
					t.Errorf("rolled is %t", rolled)
				}
				if spare == 0 {
					if got := p.active.Publish().Size; got != size {
						t.Errorf("full segment has %d bytes", got)
					}
					p.append(batchOf(t, MinBatch))
					if len(p.sealed) != 1 {
						t.Error("a full segment took another batch")
					}
				}
				p.check()
				p.close()
			})
		}
	}
}

func TestAddTooLarge(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 100})
		b := batchOf(t, 101)
		b.Stamp(55)
		want := slices.Clone(b)
		if _, ok := p.active.Add(b); ok || p.active.added.Size != 0 || !slices.Equal(b, want) {
			t.Error("a batch larger than a segment was taken, or changed")
		}
		p.append(batchOf(t, 100))
		if p.active.added.Size == 0 || len(p.sealed) > 0 {
			t.Error("a batch as large as a segment was not taken")
		}
		p.close()
	})
}

func TestFitsRecords(t *testing.T) {
	c := Config{}
	b := build(record{}, record{})
	if !c.Fits(b, 0, MaxSize-2) || c.Fits(b, 0, MaxSize-1) {
		t.Error("records are not limited to MaxSize")
	}
	if !c.Fits(b, DefaultSize-int64(len(b)), 0) || c.Fits(b, DefaultSize-int64(len(b))+1, 0) {
		t.Error("size zero is not the default size")
	}
}

// A segment smaller than an interval has no entries; its index files exist and are empty.
func TestRollWithoutEntries(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 300, Interval: 4096})
		for range 5 {
			p.append(batchOf(t, 200))
		}
		for i, b := range p.batches {
			p.read(i, b.batch.BaseOffset(), make([]byte, 300), &Cursor{})
		}
		p.close()
		want := map[string][]byte{}
		for i := range int64(5) {
			want[fmt.Sprintf("%020d.log", i)] = p.log(i)
			want[fmt.Sprintf("%020d.index", i)], want[fmt.Sprintf("%020d.timeindex", i)] = nil, nil
		}
		files := snapshot(t, s)
		delete(files, cleanFile)
		sameFiles(t, files, want)
		p = openPartition(t, p.config)
		if got := len(p.sealed); got != 4 {
			t.Errorf("reopened with %d sealed segments", got)
		}
		p.close()
	})
}

// Seal cuts the indexes to their slots, for files of 20 digits, while views stay readable.
func TestSeal(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		const base, interval = 98765432109876, 64
		active, err := Create(Config{Storage: s, Size: 5000, Interval: interval}, base)
		if err != nil {
			t.Fatal(err)
		}
		p := &partition{t: t, active: active}
		p.fill(21, 10)
		p.roll()
		v := p.sealed[0]
		for _, name := range []string{"00000098765432109876.index", "00000098765432109876.timeindex"} {
			if n, err := s.Size(name); err != nil || n != (v.Size-1)/interval*16 {
				t.Errorf("%s has %d bytes, %v, for %d bytes of log", name, n, err, v.Size)
			}
		}
		if next := p.active.Publish(); next.Base() != v.End || next.End != v.End || next.Size != 0 {
			t.Errorf("segment after offset %d is %+v", v.End, next)
		}
		p.check()
		p.close()
	})
}

func TestRollOfEmptySegment(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s})
		if _, err := p.active.Roll(); err == nil {
			t.Error("an empty segment was rolled onto its own files")
		}
		p.append(batchOf(t, MinBatch))
		p.check()
		p.close()
	})
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: -1}, {Size: MinBatch - 1}, {Size: MaxSize + 1}, {Interval: -1}, {Interval: MaxSize + 1},
	} {
		c.Storage = NewHeap()
		if _, err := Create(c, 0); err == nil {
			t.Errorf("Create takes size %d and interval %d", c.Size, c.Interval)
		}
		if _, err := Open(c); err == nil {
			t.Errorf("Open takes size %d and interval %d", c.Size, c.Interval)
		}
		if names, err := c.Storage.List(); err != nil || len(names) > 0 {
			t.Errorf("files left behind: %v, %v", names, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, base := range []int64{0, 1, math.MaxInt64} {
		if got, ok := parseName(Name(base)); !ok || got != base || len(Name(base)) != 24 {
			t.Errorf("%s parses as %d, %t", Name(base), got, ok)
		}
	}
	for _, name := range []string{
		"", ".log", "0.log", "00000000000000000000", "00000000000000000000.index", "00000000000000000000.log.tmp",
		"+0000000000000000001.log", "-0000000000000000000.log", "-0000000000000000001.log", "99999999999999999999.log",
		"0000000000000000000x.log", "000000000000000000000.log",
	} {
		if base, ok := parseName(name); ok {
			t.Errorf("%q parses as %d", name, base)
		}
	}
}

func TestErrorsWrap(t *testing.T) {
	cause := invalid("why")
	err := error(&CorruptError{File: "f.log", Position: 12, Cause: cause})
	if !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrInvalid) {
		t.Errorf("%v does not wrap ErrCorrupt and its cause", err)
	}
	if want := "segment: f.log is corrupt at byte 12: segment: invalid batch: why"; err.Error() != want {
		t.Errorf("error reads %q, want %q", err, want)
	}
	short := &ShortBufferError{Need: 99}
	if want := "segment: buffer too small: the batch has 99 bytes"; short.Error() != want {
		t.Errorf("error reads %q, want %q", short, want)
	}
}
