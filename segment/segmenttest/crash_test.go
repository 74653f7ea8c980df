package segmenttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// What is synced, and whose name is, survives every crash; with only one of both it may not.
func TestCrashKeepsSynced(t *testing.T) {
	d := NewDisk()
	l := createLog(t, d, "1.log")
	must(t, l.Pwrite([]byte("abcd"), 0), l.Sync())
	only(t, outcomes(d, "1.log", 200), "abcd", "missing") // the data is durable, the name isn't
	must(t, d.SyncDir())
	only(t, outcomes(d, "1.log", 200), "abcd")

	l = createLog(t, d, "2.log")
	must(t, d.SyncDir(), l.Pwrite([]byte("abcd"), 0)) // the other way round
	only(t, outcomes(d, "2.log", 200), "abcd", "")
	must(t, l.Sync(), l.Pwrite([]byte("efgh"), 4), l.Pwrite([]byte("ij"), 2))
	only(t, outcomes(d, "2.log", 200), "abcd", "abij", "abcdefgh", "abijefgh")
	must(t, l.Truncate(3))
	only(t, outcomes(d, "2.log", 400), "abcd", "abij", "abcdefgh", "abijefgh", "abi", "abc")
	must(t, l.Sync())
	only(t, outcomes(d, "2.log", 200), "abi")
	must(t, d.Create("2.log"))
	only(t, outcomes(d, "2.log", 200), "abi", "")
}

// Sectors of writes survive by themselves. Lost ones leave what was there, or a hole.
func TestCrashSectors(t *testing.T) {
	d := NewDisk()
	l := createLog(t, d, "1.log")
	must(t, l.Pwrite(filled(700, 'o'), 0), l.Sync(), d.SyncDir())
	must(t, l.Pwrite(filled(400, 'a'), 700), l.Pwrite(filled(1000, 'b'), 1100))
	sizes := map[int]int{}
	holes := 0
	for seed := range uint64(1000) {
		p, err := d.Crash(newRand(seed)).ReadFile("1.log")
		must(t, err)
		sizes[len(p)]++
		p = append(p, make([]byte, 2100-len(p))...)
		if !bytes.Equal(p[:700], filled(700, 'o')) {
			t.Fatal("synced bytes were lost")
		}
		hole, after := false, false
		for from := 700; from < 2100; {
			to, want := min((from/sector+1)*sector, 2100), byte('a')
			if from < 1100 {
				to = min(to, 1100)
			} else {
				want = 'b'
			}
			part := p[from:to]
			isHole := bytes.Equal(part, make([]byte, len(part)))
			if !isHole && !bytes.Equal(part, filled(len(part), want)) {
				t.Fatalf("seed %d: sector part %d to %d holds %q", seed, from, to, part)
			}
			hole, after = hole || isHole, after || hole && !isHole
			from = to
		}
		if after {
			holes++
		}
	}
	if holes == 0 {
		t.Error("no image has a hole before what was kept")
	}
	// Ends of sectors and of writes, all of them.
	for _, size := range []int{700, 1024, 1100, 1536, 2048, 2100} {
		if sizes[size] == 0 {
			t.Errorf("no image has %d bytes", size)
		}
		delete(sizes, size)
	}
	if len(sizes) != 0 {
		t.Errorf("images of other sizes: %v", sizes)
	}
}

// Units of a mapping survive by themselves, now and then by halves, with or without a call that sees
// them in between; a sync makes them durable, an extension lost takes its stores with it.
func TestCrashMapping(t *testing.T) {
	const units, size = 8, 8 * unit
	d := NewDisk()
	m := createIndex(t, d, "1.index", size)
	must(t, d.SyncDir())
	copy(m.Bytes(), filled(size, 'a'))
	extended, units1 := 0, 0
	for seed := range uint64(200) {
		p, err := d.Crash(newRand(seed)).ReadFile("1.index")
		must(t, err)
		if len(p) != 0 && len(p) != size {
			t.Fatalf("an image has %d bytes", len(p))
		}
		if len(p) == size {
			extended++
			units1 += bytes.Count(p, filled(unit, 'a'))
		}
	}
	if extended == 0 || extended == 200 || units1 == 0 || units1 == extended*units {
		t.Errorf("of 200 images %d are extended, with %d units", extended, units1)
	}
	must(t, m.Sync())
	only(t, outcomes(d, "1.index", 200), strings.Repeat("a", size))

	for _, step := range []struct {
		what string
		call func() error
	}{
		{"stored", func() error { copy(m.Bytes(), filled(size, 'b')); return nil }},
		{"unmapped", m.Close},
	} {
		must(t, step.call())
		old, stored, halves := 0, 0, 0
		for seed := range uint64(500) {
			p, err := d.Crash(newRand(seed)).ReadFile("1.index")
			must(t, err)
			for u := range slices.Chunk(p, unit) {
				switch a, b := bytes.Count(u, []byte("a")), bytes.Count(u, []byte("b")); {
				case a == unit:
					old++
				case b == unit:
					stored++
				case bytes.Equal(u[:word], filled(word, u[0])) && bytes.Equal(u[word:], filled(word, u[word])):
					halves++
				default:
					t.Fatalf("%s: a unit holds %q", step.what, u)
				}
			}
			if len(p) != size {
				t.Fatalf("%s: an image has %d bytes", step.what, len(p))
			}
		}
		if old == 0 || stored == 0 || halves == 0 || halves > (old+stored)/4 {
			t.Errorf("%s: %d units are old, %d new, %d halves", step.what, old, stored, halves)
		}
	}
}

// A cut that is pending keeps the stores before it apart from those after it.
func TestCrashMappingCut(t *testing.T) {
	d := NewDisk()
	m := createIndex(t, d, "1.index", 8)
	copy(m.Bytes(), "aaaaaaaa")
	must(t, d.SyncDir(), m.Sync())
	copy(m.Bytes(), "bbbbbbbb")
	must(t, d.Truncate("1.index", 4))
	only(t, outcomes(d, "1.index", 500), "aaaaaaaa", "bbbbbbbb", "aaaa", "bbbb")
	copy(m.Bytes(), "cccc")
	counts := outcomes(d, "1.index", 2000)
	only(t, counts, "aaaaaaaa", "bbbbbbbb", "ccccaaaa", "ccccbbbb", "aaaa", "bbbb", "cccc")
}

// A rename changes both names or neither, and is lost with the name that it needs.
func TestCrashRename(t *testing.T) {
	d := NewDisk()
	must(t, d.WriteFile("a", []byte("old")), d.WriteFile("a.tmp", []byte("new")))
	must(t, d.Rename("a.tmp", "a"))
	names := func(images int) map[string]int {
		counts := map[string]int{}
		for seed := range images {
			var s []string
			for name, p := range d.Crash(newRand(uint64(seed))).Files() {
				s = append(s, name+"="+string(p))
			}
			slices.Sort(s)
			counts[strings.Join(s, " ")]++
		}
		return counts
	}
	only(t, names(100), "a=new", "a.tmp=new a=old")
	must(t, d.Remove("a"))
	only(t, names(200), "a=new", "a.tmp=new a=old", "") // the old file was replaced, not removed
	must(t, d.SyncDir())
	only(t, names(100), "")

	must(t, d.Create("b.tmp"), d.Rename("b.tmp", "b"), d.Create("b.tmp"))
	only(t, names(400), "", "b=", "b.tmp=", "b.tmp= b=")
	must(t, d.SyncDir(), d.Rename("b", "b"))
	only(t, names(100), "b.tmp= b=")
}

// A file under a durable name that nobody takes away or gives another file is there in every image.
func TestCrashChainOfRenames(t *testing.T) {
	d := NewDisk()
	must(t, d.WriteFile("a", []byte("1")), d.WriteFile("b", []byte("2")), d.Rename("b", "c"), d.Rename("a", "b"),
		d.Create("a"))
	for seed := range uint64(300) {
		contents := ""
		for _, p := range d.Crash(newRand(seed)).Files() {
			contents += string(p)
		}
		if !strings.Contains(contents, "1") || !strings.Contains(contents, "2") || len(contents) != 2 {
			t.Fatalf("seed %d: a file was lost: %q", seed, contents)
		}
	}
}

// One prefix of all changes, of whatever file, is among the images at every length.
func TestCrashPrefixes(t *testing.T) {
	d := NewDisk()
	a, b := createLog(t, d, "a"), createLog(t, d, "b")
	must(t, d.SyncDir())
	want := map[string]bool{"|": true}
	for i := range 6 {
		l, size := a, int64(i/2)
		if i%2 == 1 {
			l = b
		}
		must(t, l.Pwrite([]byte{byte('0' + i)}, size))
		files := d.Files()
		want[string(files["a"])+"|"+string(files["b"])] = true
	}
	for seed := range uint64(300) {
		files := d.Crash(newRand(seed)).Files()
		delete(want, string(files["a"])+"|"+string(files["b"]))
	}
	if len(want) != 0 {
		t.Errorf("no image holds %v", want)
	}
}

// busy is a disk with something pending of every kind.
func busy(t *testing.T) *Disk {
	t.Helper()
	d := NewDisk()
	for _, name := range []string{"1", "2", "3"} {
		l, m := createLog(t, d, name+".log"), createIndex(t, d, name+".index", 300)
		must(t, l.Pwrite(filled(3000, 'x'), 0), l.Sync(), l.Pwrite(filled(3000, 'y'), 2000), d.SyncDir())
		copy(m.Bytes(), filled(200, 'z'))
		must(t, d.Rename(name+".log", name), d.Truncate(name, 4500), d.Create(name+".log"))
	}
	return d
}

// The same seed gives the same image, another disk or not; nothing of it is pending, and the running disk
// isn't disturbed.
func TestCrashIsRepeatable(t *testing.T) {
	d, again := busy(t), busy(t)
	before := d.Files()
	different := 0
	for seed := range uint64(100) {
		image := d.Crash(newRand(seed))
		if !image.Equal(again.Crash(newRand(seed))) {
			t.Fatalf("seed %d gives two images", seed)
		}
		for second := range uint64(5) {
			if !image.Crash(newRand(second)).Equal(image) {
				t.Fatalf("seed %d: something in the image isn't durable", seed)
			}
		}
		if !image.Equal(d) {
			different++
		}
		for name := range image.Files() { // what is done to an image does nothing to the disk
			must(t, image.WriteFile(name, []byte("damage")))
		}
	}
	if different == 0 {
		t.Error("no image lacks anything")
	}
	after := d.Files()
	for name, p := range before {
		if !bytes.Equal(p, after[name]) {
			t.Errorf("%s was changed by taking images", name)
		}
	}
	if len(before) != len(after) {
		t.Error("names were changed by taking images")
	}
}

// A killed process loses nothing, and what it leaves is durable.
func TestCrashOfProcess(t *testing.T) {
	d := busy(t)
	image := d.Crash(nil)
	if !image.Equal(d) {
		t.Error("something was lost")
	}
	if !image.Crash(newRand(1)).Equal(d) {
		t.Error("something isn't durable")
	}
}

// A lost removal brings the file back as it was at least when it was synced.
func TestCrashRemoved(t *testing.T) {
	d := NewDisk()
	l := createLog(t, d, "1.log")
	must(t, l.Pwrite([]byte("ab"), 0), l.Sync(), d.SyncDir(), l.Pwrite([]byte("cd"), 2), d.Remove("1.log"), l.Close())
	only(t, outcomes(d, "1.log", 200), "ab", "abcd", "missing")
	must(t, createLog(t, d, "1.log").Pwrite([]byte("x"), 0))
	only(t, outcomes(d, "1.log", 400), "ab", "abcd", "missing", "", "x")
}

func BenchmarkCrash(b *testing.B) {
	d := NewDisk()
	for _, name := range []string{"1.log", "2.log", "3.log"} {
		l, m := createLog(b, d, name), createIndex(b, d, name+".index", 4096)
		must(b, d.SyncDir())
		for at := range int64(70) {
			must(b, l.Pwrite(make([]byte, 100), 100*at))
			copy(m.Bytes()[16*at:], filled(16, 'x'))
		}
	}
	r := newRand(1)
	for b.Loop() {
		d.Crash(r)
	}
}
