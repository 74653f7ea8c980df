package results_test

import (
	"os"
	"testing"
)

// tempDir is a directory for one test, in memory where that can be, so that no test waits for a disk.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "results-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
