package main

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// Who may read what is written is as the umask says, for each file and directory of every command.
func TestUmask(t *testing.T) {
	for _, test := range []struct {
		umask           string
		file, directory fs.FileMode
	}{{"077", 0o600, 0o700}, {"022", 0o644, 0o755}} {
		t.Run(test.umask, func(t *testing.T) {
			dir := t.TempDir()
			inside := filepath.Join(dir, "inside")
			prepare := "umask " + test.umask + "; mkdir -p inside/data && cd inside && "
			sweep := []string{"run", "--producers", "1", "--prefill", "64KiB", "--strategies", "mutex", "--duration", "5ms", "--ramp", "2ms", "--blocks", "1",
				"--quiet", "--dir", "data", "--keep-data", "--cpuprofile", "--out", "swept"}
			for _, args := range [][]string{
				sweep,
				{"report", "swept"},
				{"claims", "--quick", "--quiet", "--claim", "actor-complex", "--out", "claimed"},
				{"check", "--quiet", "--strategies", "busted", "--duration", "10ms", "--storage", "heap", "--out", "checked"},
				{"man", "manual/man1"},
			} {
				if code, said := ended(t, tailrace(t, dir, prepare, args...)); code != 0 && code != exitUnmeasured {
					t.Fatalf("%v: exit code %d: %s", args, code, said)
				}
			}
			files := make(map[string]bool) // by extension
			err := filepath.WalkDir(inside, func(path string, entry fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := entry.Info()
				if err != nil || entry.Type()&fs.ModeSymlink != 0 {
					return err
				}
				want := test.file
				if entry.IsDir() {
					want = test.directory
				}
				files[filepath.Ext(path)] = true
				if got := info.Mode().Perm(); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{".json", ".jsonl", ".html", ".md", ".csv", ".txt", ".svg", ".png", ".hlog", ".hgrm", ".log", ".index", ".pprof", ".1"} {
				if !files[kind] {
					t.Errorf("no %s was written", kind)
				}
			}
		})
	}
}
