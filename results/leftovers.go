package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// temporaryName is what files are named while replaceFile writes them.
var temporaryName = regexp.MustCompile(`^\.[0-9]+\.tmp$`)

// longestWrite is far above what it takes to write a file that is in memory already: what is older, nobody writes any more.
const longestWrite = time.Minute

// removeLeftovers removes what a process that was ended while it wrote left behind in the sweep's folders.
func (s *Sweep) removeLeftovers() error {
	for _, folder := range []string{"", latencyDir, ombDir, chartsDir} {
		dir := filepath.Join(s.Dir, folder)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("results: %w", err)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil || !temporaryName.MatchString(entry.Name()) || !info.Mode().IsRegular() || time.Since(info.ModTime()) < longestWrite {
				continue // an error: it is gone
			}
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("results: %w", err)
			}
		}
	}
	return nil
}
