package strategies_test

import (
	"fmt"
	"runtime"
	"testing"

	"tailrace/strategies"
)

// runLoad runs a load and fails the test on a violation, or if it hangs.
func runLoad(t *testing.T, l load, log strategies.Log) {
	t.Helper()
	finishes(t, "the load", inBackground(func() {
		if err := l.run(log); err != nil {
			t.Error(err)
		}
	}))
}

func TestConcurrent(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("gomaxprocs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for _, l := range []layout{{"whole", 1 << 20, 4096}, {"middle", 6000, 256}} {
				options := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval}
				t.Run("layout="+l.name, func(t *testing.T) {
					forEachWith(t, options, isCore, func(f *fixture) {
						runLoad(f.t, load{producers: 8, consumers: 8, batches: 80}, f.open())
					})
				})
			}
		})
	}
}

func TestConcurrentCancellation(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("gomaxprocs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			forEach(t, isCore, func(f *fixture) {
				runLoad(f.t, load{producers: 8, consumers: 2, batches: full(80), cancel: true}, f.open())
			})
		})
	}
}

// Many more goroutines than processors.
func TestConcurrentCrowd(t *testing.T) {
	options := strategies.Options{SegmentSize: 30_000, IndexInterval: 512}
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("gomaxprocs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			forEachWith(t, options, isCore, func(f *fixture) {
				runLoad(f.t, load{producers: 256, consumers: 4, batches: 5}, f.open())
			})
		})
	}
}

// The checks are worth something only if they catch a strategy that is wrong, each time.
func TestCheckerCatchesBusted(t *testing.T) {
	for _, name := range []string{"busted", "mutex"} {
		s, err := strategies.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			log, err := s.Open(strategies.Options{Storage: openDir(t, scratchDir(t))})
			if err != nil {
				t.Fatal(err)
			}
			violation := load{producers: 4, consumers: 4, batches: 2500}.run(log)
			if s.Faulty != (violation != nil) {
				t.Errorf("%s: violation found: %v", name, violation)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
