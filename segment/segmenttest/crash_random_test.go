package segmenttest

import (
	"bytes"
	"fmt"
	"testing"
)

// Random appends, syncs, rolls and removals, with images after every call: what was synced under a synced
// name is there, whole; what was never written is nowhere; what was removed durably stays away.
func TestCrashNeverLosesSynced(t *testing.T) {
	for seed := range uint64(10) {
		r := newRand(seed)
		d := NewDisk()
		type state struct{ written, synced int }
		files := map[string]*state{}
		named := map[string]bool{} // durably
		gone := map[string]bool{}  // durably
		images := 0
		d.OnCall = func() {
			images++
			image := d.Crash(r)
			found := image.Files()
			for name := range named {
				if p, ok := found[name]; !ok {
					t.Fatalf("seed %d: %s was lost", seed, name)
				} else if s := files[name]; len(p) < s.synced || !bytes.Equal(p[:s.synced], filled(s.synced, name[0])) {
					t.Fatalf("seed %d: %s lost synced bytes: %d left, of %d", seed, name, len(p), s.synced)
				}
			}
			for name, p := range found {
				if gone[name] {
					t.Fatalf("seed %d: %s came back", seed, name)
				}
				if s := files[name]; s != nil && len(p) > s.written || len(bytes.Trim(p, "\x00"+name[:1])) != 0 {
					t.Fatalf("seed %d: %s holds what nobody wrote", seed, name)
				}
			}
		}
		name := ""
		var removed []string
		for i := range 150 {
			switch n := r.IntN(10); {
			case name == "" || n == 0:
				name = fmt.Sprint(string(rune('a'+i%26)), i, ".log")
				files[name] = &state{}
				must(t, createLog(t, d, name).Close())
			case n < 6:
				l, err := d.OpenLog(name, false)
				must(t, err)
				size := 1 + r.IntN(1500)
				s := files[name]
				s.written += size
				must(t, l.Pwrite(filled(size, name[0]), int64(s.written-size)))
				if r.IntN(2) == 0 {
					must(t, l.Sync())
					s.synced = s.written
				}
				must(t, l.Close())
			case n < 8:
				must(t, d.SyncDir())
				for name := range files {
					named[name] = true
				}
				for _, name := range removed {
					gone[name] = true
				}
			case n == 8:
				delete(named, name) // before the call, after which it may be away
				delete(files, name)
				removed = append(removed, name)
				must(t, d.Remove(name))
				name = ""
			}
		}
		if images < 100 {
			t.Errorf("seed %d: only %d images", seed, images)
		}
	}
}
