package strategies_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"tailrace/strategies"
)

// sharedFiles are those that are nobody's own. gate.go is needed by the models alone that read without a lock.
var sharedFiles = []string{
	"strategies.go", "client.go", "gate.go", "maintenance.go", "partition.go", "picture.go", "publisher.go", "sources.go", "wait.go", "waits.go",
}

// Every file of package strategies is one strategy's own or shared, every strategy has files, and those that are
// counted are in the program as they are in the directory.
func TestEveryFileIsAccountedFor(t *testing.T) {
	const dir = "."
	owners := make(map[string]int)
	for _, name := range sharedFiles {
		owners[name]++
	}
	for _, s := range append(slices.Clone(strategies.List), strategies.Unordered()) {
		for _, name := range strategies.SourceFiles(s.Name) {
			owners[name]++
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if n := owners[e.Name()]; n != 1 {
			t.Errorf("%s has %d owners", e.Name(), n)
		}
		delete(owners, e.Name())
	}
	if len(owners) > 0 {
		t.Errorf("there are no such files: %v", owners)
	}
	for _, s := range strategies.List {
		own := strategies.SourceFiles(s.Name)
		if len(own) == 0 {
			t.Errorf("%s has no files", s.Name)
		}
		if s.Kind != strategies.Core {
			continue
		}
		for _, name := range own {
			there, err := fs.ReadFile(os.DirFS(dir), name)
			embedded, embedErr := fs.ReadFile(strategies.Sources(), name)
			if err != nil || embedErr != nil || string(there) != string(embedded) {
				t.Errorf("%s is not in the program as it is: %v, %v", name, err, embedErr)
			}
		}
	}
}
