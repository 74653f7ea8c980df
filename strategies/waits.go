package strategies

import "time"

// WaitCounter is a Handle that counts how often its appends have had to wait. Like the calls of a Handle, its methods
// are for one goroutine at a time.
type WaitCounter interface {
	// Waits returns the counts since the handle was made.
	Waits() Waits
	// TimeWaits has the handle look at the clock when a wait begins and ends, which it does not otherwise.
	TimeWaits()
}

// Waits are how often the appends of a handle had to wait, for what, and where that is timed how long. One append can
// count in several.
type Waits struct {
	// Commit are appends that were written and not yet committed when they had tried it themselves: an earlier
	// one was not finished, or another writer was committing.
	Commit     int64
	CommitTime time.Duration
	// Roll are those that found the segment full, and waited for the next one or made it.
	Roll     int64
	RollTime time.Duration
	// Ring are those that were so far ahead of the committed position that the completion ring had no room.
	Ring     int64
	RingTime time.Duration
	// Parked are the times that a goroutine was parked for a commit, after it had spun and given way; it can be
	// parked more than once in an append.
	Parked int64
}

// waitCounter counts the waits of a handle. Its goroutine alone does, where it waits anyway.
type waitCounter struct {
	Waits
	timed bool
}

// begin returns the time at which a wait begins, if that is wanted.
func (w *waitCounter) begin() (begun time.Time) {
	if w.timed {
		begun = time.Now()
	}
	return begun
}

// end adds what a wait took to one of the times.
func (w *waitCounter) end(total *time.Duration, begun time.Time) {
	if w.timed {
		*total += time.Since(begun)
	}
}
