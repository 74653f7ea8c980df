package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// What is left of sweeps goes when nobody holds it and nobody wants it.
func TestAbandonedDataIsRemoved(t *testing.T) {
	parent := t.TempDir()
	holder := &sweep{plan: &Plan{id: "ABCDEFGHIJ"}, roots: map[string]string{}}
	held := holder.plan.root(Place{Parent: parent})
	if err := holder.makeRoot(held); err != nil {
		t.Fatal(err)
	}
	left := func(name string, files ...string) string {
		dir := filepath.Join(parent, dataPrefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("data"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	abandoned, empty := left("abandoned", lockFile, "000001-mix-mutex-b0"), left("empty")
	kept := left("kept", "000001-mix-mutex-b0")

	removeAbandoned(parent)
	for dir, want := range map[string]bool{held: true, abandoned: false, empty: false, kept: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", filepath.Base(dir), err, want)
		}
	}
	if err := holder.makeRoot(held); err == nil {
		t.Error("a directory that is there was made again, and locked twice")
	}
	holder.roots[parent] = held
	if err := holder.clean(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(held); err == nil {
		t.Error("the data is there after the sweep has ended")
	}
}
