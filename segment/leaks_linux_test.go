package segment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// held counts the descriptors and the mappings that this process has of files below a directory.
func held(t *testing.T, dir string) (descriptors, maps int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// The descriptor that listed them is gone.
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(target, dir+"/") {
			descriptors++
		}
	}
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return descriptors, strings.Count(string(text), dir)
}

func TestNoLeaks(t *testing.T) {
	const segments = 2000
	dir := tempDir(t)
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s, Size: 200, Interval: 64})
	b := batchOf(t, 150)
	for i := range segments {
		if i > 0 {
			p.roll()
		}
		if _, ok := p.active.Add(b); !ok {
			t.Fatal("batch was refused")
		}
		p.write()
	}
	for range 2 {
		// One descriptor each, for the log, and one mapping for each index; one more for the recovery point.
		if descriptors, maps := held(t, dir); descriptors != segments || maps != 2*segments+1 {
			t.Errorf("%d open segments hold %d descriptors and %d mappings", segments, descriptors, maps)
		}
		p.close()
		if descriptors, maps := held(t, dir); descriptors != 0 || maps != 0 {
			t.Errorf("after Close %d descriptors and %d mappings are left", descriptors, maps)
		}
		p = openPartition(t, p.config)
	}
	p.close()
}

// What Open has opened before it finds damage is released.
func TestNoLeaksOnFailure(t *testing.T) {
	dir := tempDir(t)
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := closedLog(t, s, 71, 60)
	for i, v := range p.views() {
		name := Name(v.Base())
		whole := contents(t, s, name)
		replace(t, s, name, whole[:len(whole)-1])
		if _, err := Open(p.config); err == nil {
			t.Errorf("a torn segment %d was opened", i)
		}
		replace(t, s, name, whole)
		if descriptors, maps := held(t, dir); descriptors != 0 || maps != 0 {
			t.Errorf("torn segment %d: %d descriptors and %d mappings are left", i, descriptors, maps)
		}
	}
	// An index that is in the way of a new segment.
	p = p.reopen()
	before, mapsBefore := held(t, dir)
	if err := s.Create(fileName(p.active.Publish().End, timeSuffix)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.active.Roll(); err == nil {
		t.Error("Roll wrote over an existing index")
	}
	if after, mapsAfter := held(t, dir); after != before || mapsAfter != mapsBefore {
		t.Errorf("a failed Roll leaves %d descriptors and %d mappings, there were %d and %d", after, mapsAfter, before, mapsBefore)
	}
	p.close()
}
