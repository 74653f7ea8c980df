package torture

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// resources are what a log holds that Close must give back. Where the system does not tell, they are 0.
type resources struct{ goroutines, descriptors, maps int }

// held counts goroutines of strategies, and the descriptors and mappings of files at or below a directory.
func held(dir string) resources {
	r := resources{goroutines: bytes.Count(stacks(), []byte("created by tailrace/strategies."))}
	if dir == "" {
		return r
	}
	const descriptors = "/proc/self/fd"
	entries, _ := os.ReadDir(descriptors)
	for _, e := range entries {
		// The descriptor that listed them is gone.
		if target, err := os.Readlink(filepath.Join(descriptors, e.Name())); err == nil && strings.HasPrefix(target, dir) {
			r.descriptors++
		}
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	r.maps = bytes.Count(maps, []byte(dir))
	return r
}

// noLeaks waits until no more is held than was. A goroutine that has let its caller go may need a moment to end.
func noLeaks(before resources, dir string, patience time.Duration) error {
	for began := time.Now(); ; time.Sleep(100 * time.Microsecond) {
		now := held(dir)
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.maps <= before.maps {
			return nil
		}
		if time.Since(began) > patience {
			err := violationf("after Close the log still holds %d goroutines, %d descriptors and %d mappings",
				now.goroutines-before.goroutines, now.descriptors-before.descriptors, now.maps-before.maps)
			return with(err, "stacks.txt", stacks())
		}
	}
}
