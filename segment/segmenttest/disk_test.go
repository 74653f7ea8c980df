package segmenttest

import (
	"bytes"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"tailrace/segment"
)

// A file that is removed or replaced works until it is closed.
func TestRemovedWhileOpen(t *testing.T) {
	d := NewDisk()
	l, m := createLog(t, d, "1.log"), createIndex(t, d, "1.index", 16)
	must(t, l.Pwrite([]byte("abcd"), 0), d.Remove("1.log"), d.Create("2.index"), d.Rename("2.index", "1.index"))
	must(t, l.Pwrite([]byte("efgh"), 4), l.Sync())
	p := make([]byte, 10)
	if n, err := l.Pread(p, 0); err != nil || string(p[:n]) != "abcdefgh" {
		t.Errorf("Pread = %q, %v", p[:n], err)
	}
	copy(m.Bytes(), "stored")
	must(t, m.Sync())
	check(t, d, map[string]string{"1.index": ""})
	again := createLog(t, d, "1.log")
	must(t, again.Pwrite([]byte("new"), 0))
	check(t, d, map[string]string{"1.index": "", "1.log": "new"})
	if logs, mappings := d.Open(); logs != 2 || mappings != 1 {
		t.Errorf("Open = %d, %d", logs, mappings)
	}
	must(t, l.Close(), again.Close(), m.Close())
	if logs, mappings := d.Open(); logs != 0 || mappings != 0 {
		t.Errorf("Open = %d, %d", logs, mappings)
	}
}

// Nothing works after Close, and a mapping's memory is gone.
func TestUseAfterClose(t *testing.T) {
	d := NewDisk()
	l, m := createLog(t, d, "1.log"), createIndex(t, d, "1.index", 16)
	second, err := d.MapIndex("1.index", 8, false)
	must(t, err)
	memory := m.Bytes()
	copy(memory, "0123456789abcdef")
	must(t, l.Close(), m.Close())
	if string(memory) != "0123456789abcdef" || string(second.Bytes()) != "01234567" {
		t.Error("the memory went with the first of two mappings")
	}
	must(t, second.Close())
	if bytes.ContainsAny(memory, "0123456789abcdef") {
		t.Errorf("after Close the mapping holds %q", memory)
	}
	copy(memory, "too late")
	check(t, d, map[string]string{"1.log": "", "1.index": "0123456789abcdef"})
	_, read := l.Pread(nil, 0)
	_, size := l.Size()
	for what, err := range map[string]error{
		"Pread": read, "Size": size, "Pwrite": l.Pwrite([]byte("x"), 0), "PwriteBatches": l.PwriteBatches(nil, 0),
		"Sync": l.Sync(), "Truncate": l.Truncate(0), "Close": l.Close(), "MapSync": m.Sync(), "MapClose": m.Close(),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s = %v", what, err)
		}
	}
}

// A cut takes the mapped bytes behind it away; an extension brings zeros, seen by the old mapping too.
func TestMappedCut(t *testing.T) {
	d := NewDisk()
	m := createIndex(t, d, "1.index", 16)
	copy(m.Bytes(), "0123456789abcdef")
	must(t, d.Truncate("1.index", 4))
	check(t, d, map[string]string{"1.index": "0123"})
	if bytes.ContainsAny(m.Bytes()[4:], "456789abcdef\x00") {
		t.Errorf("behind the cut the mapping holds %q", m.Bytes()[4:])
	}
	second, err := d.MapIndex("1.index", 8, false)
	must(t, err)
	if got := string(m.Bytes()[:8]); got != "0123\x00\x00\x00\x00" || got != string(second.Bytes()) {
		t.Errorf("the mappings hold %q and %q", got, second.Bytes())
	}
	if _, err := d.MapIndex("1.index", 17, false); !errors.Is(err, errMappedGrows) {
		t.Errorf("beyond its mapping a file was extended: %v", err)
	}
	must(t, m.Close(), second.Close())
	m, err = d.MapIndex("1.index", 17, false)
	must(t, err)
	must(t, m.Close())
}

func TestInvalid(t *testing.T) {
	d := NewDisk()
	l := createLog(t, d, "1.log")
	_, read := l.Pread(make([]byte, 1), -1)
	_, empty := d.MapIndex("1.index", 0, true)
	for what, err := range map[string]error{
		"Pread": read, "MapIndex": empty, "Truncate": d.Truncate("1.log", -1), "before": l.Pwrite([]byte("x"), -1),
		"beyond": l.Pwrite([]byte("x"), segment.MaxSize),
	} {
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s = %v", what, err)
		}
	}
	if _, err := d.ReadFile("2.log"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile = %v", err)
	}
	check(t, d, map[string]string{"1.log": ""})
}

// WriteFile is durable at once, and seen by who has the file open.
func TestWriteFile(t *testing.T) {
	d := NewDisk()
	l, m := createLog(t, d, "1.log"), createIndex(t, d, "1.index", 16)
	must(t, l.Pwrite([]byte("abcdef"), 0))
	must(t, d.WriteFile("1.log", []byte("xyz")), d.WriteFile("1.index", []byte("entry")), d.WriteFile("new", nil))
	p := make([]byte, 10)
	if n, err := l.Pread(p, 0); err != nil || string(p[:n]) != "xyz" {
		t.Errorf("Pread = %q, %v", p[:n], err)
	}
	if got := string(m.Bytes()[:5]); got != "entry" {
		t.Errorf("the mapping holds %q", got)
	}
	want := map[string]string{"1.log": "xyz", "1.index": "entry", "new": ""}
	check(t, d, want)
	for seed := range uint64(50) {
		check(t, d.Crash(newRand(seed)), want)
	}
	if err := d.WriteFile("1.index", make([]byte, 17)); !errors.Is(err, errMappedGrows) {
		t.Errorf("WriteFile beyond a mapping = %v", err)
	}
}

func TestEqual(t *testing.T) {
	a, b := NewDisk(), NewDisk()
	must(t, a.WriteFile("1", []byte("x")), b.WriteFile("1", []byte("x")))
	if !a.Equal(b) {
		t.Error("equal disks differ")
	}
	must(t, b.WriteFile("1", []byte("y")))
	if a.Equal(b) {
		t.Error("disks with different bytes are equal")
	}
	must(t, b.WriteFile("1", []byte("x")), b.WriteFile("2", nil))
	if a.Equal(b) {
		t.Error("disks with different names are equal")
	}
}

// OnCall runs once for every call that changes something, and may use the disk.
func TestOnCall(t *testing.T) {
	d := NewDisk()
	n := 0
	d.OnCall = func() {
		if !d.Crash(nil).Equal(d) {
			t.Error("a killed process loses something")
		}
		n++
	}
	l := createLog(t, d, "1.log")
	m := createIndex(t, d, "1.index", 16)
	must(t, l.Pwrite([]byte("x"), 0), l.PwriteBatches(nil, 0), l.Sync(), l.Truncate(0), m.Sync(),
		d.Create("a"), d.Truncate("a", 1), d.Rename("a", "b"), d.Remove("b"), d.SyncDir())
	if n != 12 {
		t.Errorf("OnCall ran %d times", n)
	}
	_, list := d.List()
	_, size := d.Size("1.log")
	_, read := l.Pread(make([]byte, 1), 0)
	must(t, list, size, read, l.Close(), m.Close())
	if d.Remove("missing") == nil || n != 12 {
		t.Errorf("OnCall ran %d times", n)
	}
}

// Parallel writers of one log, with images taken meanwhile.
func TestDiskConcurrently(t *testing.T) {
	d := NewDisk()
	l := createLog(t, d, "1.log")
	must(t, d.SyncDir())
	const writers, each, size = 4, 50, 100
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if err := l.Pwrite(filled(size, byte(1+w)), int64((i*writers+w)*size)); err != nil {
					t.Error(err)
				}
				if i%10 == 0 {
					if err := l.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for seed := range uint64(50) {
		p, err := d.Crash(newRand(seed)).ReadFile("1.log")
		if err != nil || len(p) > writers*each*size {
			t.Errorf("an image has %d bytes, %v", len(p), err)
		}
		for i, b := range p {
			if b != 0 && int(b) != 1+i/size%writers {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
	}
	group.Wait()
	p, err := d.ReadFile("1.log")
	must(t, err)
	for i, b := range p {
		if int(b) != 1+i/size%writers {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
	if len(p) != writers*each*size {
		t.Errorf("the log has %d bytes", len(p))
	}
}
