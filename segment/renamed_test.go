package segment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openIn opens a log of small segments in a directory.
func openIn(t testing.TB, dir string) *partition {
	t.Helper()
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return openPartition(t, Config{Storage: s, Size: 3000, Interval: 64})
}

// reopenIn opens what p has left, closed in order or not, in the directory that now has this name.
func (p *partition) reopenIn(dir string) {
	p.t.Helper()
	if err := p.config.Storage.Close(); err != nil {
		p.t.Fatal(err)
	}
	q := openIn(p.t, dir)
	if q.recovery.Cut != nil {
		p.t.Errorf("%s: %v", dir, q.recovery.Cut)
	}
	q.batches = p.batches
	q.check()
	q.checkLookups()
	q.close()
	if _, err := Verify(p.t.Context(), q.config.Storage, InspectOptions{}); err != nil {
		p.t.Errorf("%s: %v", dir, err)
	}
	if err := q.config.Storage.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// trim drops the oldest segment.
func (p *partition) trim() {
	p.t.Helper()
	first := p.sealed[0]
	err := p.checkpoint.SetStart(first.End)
	if err == nil {
		err = Remove(p.sealed[:1])
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.sealed = p.sealed[1:]
	for len(p.batches) > 0 && p.batches[0].segment == first.Base() {
		p.batches = p.batches[1:]
	}
}

// A directory that is renamed while it is open stays the one of its store, and another one can take its name.
func TestRenamed(t *testing.T) {
	for _, clean := range []bool{true, false} {
		root := tempDir(t)
		at := func(name string) string { return filepath.Join(root, name) }
		a := openIn(t, at("log"))
		a.fill(401, 20)
		rename := func(from, to string) {
			t.Helper()
			if err := os.Rename(at(from), at(to)); err != nil {
				t.Fatal(err)
			}
		}
		rename("log", "log.bak")
		b := openIn(t, at("log"))
		for i := range 4 {
			a.fill(410+uint64(i), 12)
			b.fill(420+uint64(i), 12)
			a.trim()
			b.trim()
			a.check()
			b.check()
			// They change places.
			rename("log", "other")
			rename("log.bak", "log")
			rename("other", "log.bak")
		}
		// A link to the one in place of the other changes nothing.
		rename("log", "moved")
		if err := os.Symlink(at("moved"), at("log")); err != nil {
			t.Fatal(err)
		}
		a.fill(430, 12)
		b.fill(431, 12)
		for _, p := range []*partition{a, b} {
			if clean {
				p.close()
			} else {
				p.crash()
			}
		}
		a.reopenIn(at("log.bak"))
		b.reopenIn(at("moved"))
	}
}

// A relative path means what it meant when the store was opened.
func TestChangedDirectory(t *testing.T) {
	root := tempDir(t)
	t.Chdir(root)
	p := openIn(t, "log")
	p.fill(440, 20)
	t.Chdir(t.TempDir())
	p.fill(441, 20)
	p.trim()
	p.close()
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("the new directory holds %v, %v", entries, err)
	}
	p.reopenIn(filepath.Join(root, "log"))
}

// In a directory that has been removed, all that needs its names fails, says why, and releases what is open.
func TestRemovedDirectory(t *testing.T) {
	dir := filepath.Join(tempDir(t), "log")
	p := openIn(t, dir)
	p.fill(450, 20)
	removed := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, errRemoved) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s = %v, want that the directory has been removed", what, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s := p.config.Storage
	p.check()
	_, err := p.active.Roll()
	removed("Roll", err)
	removed("SetStart", p.checkpoint.SetStart(p.sealed[0].End))
	removed("Remove", Remove(p.sealed[:1]))
	_, err = s.List()
	removed("List", err)
	_, err = s.Size("any")
	removed("Size", err)
	removed("Truncate", s.Truncate("any", 1))
	removed("Rename", s.Rename("any", "other"))
	removed("Create", s.Create("any"))
	removed("Close", p.checkpoint.Close(p.sealed[1:], p.active.Publish(), false))
	_, err = Open(p.config)
	removed("Open", err)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there again, or %v", err)
	}
}

// Files that somebody has removed from an open log are told.
func TestRemovedFiles(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := openPartition(t, Config{Storage: s, Size: 3000, Interval: 64})
		p.fill(460, 20)
		remove(t, s, Name(p.sealed[0].Base()))
		if err := Remove(p.sealed[:1]); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Remove = %v", err)
		}
	})
}
