package strategies_test

import "testing"

// full is how often a test repeats what it does, and a quarter of that in short tests.
func full(n int) int {
	if testing.Short() {
		return max(1, n/4)
	}
	return n
}
