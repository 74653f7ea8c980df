package segment

import "encoding/binary"

// entrySize is the size in bytes of an entry of either index.
const entrySize = 16

// slots is the number of index slots that are visible when size bytes of log are committed.
func slots(size, interval int64) int64 {
	if size == 0 {
		return 0
	}
	return (size - 1) / interval
}

// firstSlot is the first slot that a batch at position start may own: the first k ≥ 1 with
// k·interval ≥ start.
func firstSlot(start, interval int64) int64 {
	return max(1, (start+interval-1)/interval)
}

// putEntries stores (a, b) in every slot of the batch that occupies [start, end) of the log.
func putEntries(index []byte, start, end, interval, a, b int64) {
	for k := firstSlot(start, interval); k <= slots(end, interval); k++ {
		entry := index[entrySize*(k-1):][:entrySize]
		binary.BigEndian.PutUint64(entry[0:], uint64(a))
		binary.BigEndian.PutUint64(entry[8:], uint64(b))
	}
}

func entryAt(index []byte, k int64) (a, b int64) {
	entry := index[entrySize*(k-1):][:entrySize]
	return int64(binary.BigEndian.Uint64(entry[0:])), int64(binary.BigEndian.Uint64(entry[8:]))
}

// lastBelow is the last of the first n slots whose first number is at most a; 0 if there is none.
// The first numbers ascend.
func lastBelow(index []byte, n, a int64) int64 { return bisect(index, 0, n, a) }

// lastBelowNear is lastBelow where a slot is known that can't be far off: it steps away from that in steps
// that double, and bisects the last of them. In an index that is not in the processor's cache a plain
// bisection of 16,384 slots misses it a dozen times.
func lastBelowNear(index []byte, n, a, guess int64) int64 {
	guess = min(max(guess, 1), n)
	step := int64(1)
	if first, _ := entryAt(index, guess); first <= a {
		low := guess
		for low+step <= n {
			if first, _ := entryAt(index, low+step); first > a {
				return bisect(index, low, low+step-1, a)
			}
			low += step
			step *= 2
		}
		return bisect(index, low, n, a)
	}
	high := guess - 1
	for high-step > 0 {
		if first, _ := entryAt(index, high-step); first <= a {
			return bisect(index, high-step, high, a)
		}
		high -= step
		step *= 2
	}
	return bisect(index, 0, high, a)
}

// bisect is lastBelow between low, which qualifies (0 stands for none), and high, behind which none does.
func bisect(index []byte, low, high, a int64) int64 {
	for low < high {
		middle := low + (high-low+1)/2
		if first, _ := entryAt(index, middle); first <= a {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
