package strategies

// WaitCounter is a Handle that counts how often its appends have had to wait.
type WaitCounter interface {
	// Waits returns the counts since the handle was made. Like the calls of a Handle, it is for one goroutine at a
	// time.
	Waits() Waits
}

// Waits are how often the appends of a handle had to wait, and for what. One append can count in several.
type Waits struct {
	// Commit are appends that were written and not yet committed when they had tried it themselves: an earlier
	// one was not finished, or another writer was committing.
	Commit int64
	// Roll are those that found the segment full, and waited for the next one or made it.
	Roll int64
	// Ring are those that were so far ahead of the committed position that the completion ring had no room.
	Ring int64
	// Parked are the times that a goroutine was parked for a commit, after it had spun and given way; it can be
	// parked more than once in an append.
	Parked int64
}
