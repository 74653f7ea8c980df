// Package inorder does independent jobs on all processors and gives their results in the order of the jobs, so
// that what is made of them is the same on any machine.
package inorder

import (
	"iter"
	"runtime"
)

// mostAhead bounds the jobs that have begun on a machine of many processors, since each takes memory.
const mostAhead = 16

// Each calls do for 0 to n-1, several at once, and yields what it returns, in that order. It begins few jobs ahead
// of the one whose result is next, so that few results wait. Where the loop ends early, no further job begins, and
// those that have begun end by themselves.
func Each[T any](n int, do func(i int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		ahead := min(2*runtime.GOMAXPROCS(0), mostAhead) // some wait while another takes long
		begun := make([]chan T, 0, n)
		for i := range n {
			for len(begun) < min(n, i+ahead) {
				next, done := len(begun), make(chan T, 1)
				begun = append(begun, done)
				go func() { done <- do(next) }()
			}
			result := <-begun[i]
			begun[i] = nil
			if !yield(i, result) {
				return
			}
		}
	}
}
