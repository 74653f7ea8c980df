package inorder_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"tailrace/inorder"
)

// Results come in the order of the jobs, also where the first job ends last.
func TestResultsAreInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		second := make(chan bool)
		at := 0
		for i, result := range inorder.Each(n, func(i int) int {
			switch {
			case i == 0 && n > 1:
				<-second
			case i == 1:
				close(second)
			}
			return i * i
		}) {
			if i != at || result != i*i {
				t.Fatalf("result %d of job %d stands at %d", result, i, at)
			}
			at++
		}
		if at != n {
			t.Errorf("%d results of %d jobs", at, n)
		}
	}
}

// Jobs begin only as far ahead as results are taken, so that not all of them are in memory.
func TestFewJobsAreAhead(t *testing.T) {
	most := int64(min(2*runtime.GOMAXPROCS(0), 16))
	var begun atomic.Int64
	for i := range inorder.Each(100*int(most), func(i int) int { begun.Add(1); return i }) {
		if ahead := begun.Load() - int64(i); ahead > most {
			t.Fatalf("%d jobs have begun when result %d is there", begun.Load(), i)
		}
		if i == int(most) {
			break
		}
	}
	if n := begun.Load(); n > 2*most+1 {
		t.Errorf("%d jobs have begun of which %d results were taken", n, most+1)
	}
}
