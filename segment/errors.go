package segment

import (
	"errors"
	"fmt"
)

// Errors that callers decide on; test with errors.Is.
var (
	// ErrInvalid: bytes that are no valid batch.
	ErrInvalid = errors.New("segment: invalid batch")
	// ErrCorrupt: stored bytes are not what was written; a *CorruptError says where.
	ErrCorrupt = errors.New("segment: corrupt")
	// ErrForeign: a directory holds what this store does not write, and what no crash of it leaves; a
	// *ForeignError says where.
	ErrForeign = errors.New("segment: not written by this store")
	// ErrCompressed: the records of a compressed batch are not decoded.
	ErrCompressed = errors.New("segment: batch is compressed")
	// ErrLocked: the directory is the storage of another partition that is open.
	ErrLocked = errors.New("segment: directory is in use")
	// ErrOffsets: the partition has used up its offsets, which are 63-bit numbers.
	ErrOffsets = errors.New("segment: no offsets are left")
)

// invalidError says why bytes are no valid batch. It wraps ErrInvalid.
type invalidError string

func (e invalidError) Error() string { return "segment: invalid batch: " + string(e) }

func (e invalidError) Unwrap() error { return ErrInvalid }

func invalid(problem string) error { return invalidError(problem) }

// CorruptError is the place of stored bytes that are not what was written. It wraps ErrCorrupt and
// the cause.
type CorruptError struct {
	File     string // name in its storage
	Position int64  // byte position in the file
	Cause    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("segment: %s is corrupt at byte %d: %v", e.File, e.Position, e.Cause)
}

// Unwrap gives ErrCorrupt and the cause.
func (e *CorruptError) Unwrap() []error { return []error{ErrCorrupt, e.Cause} }

func corrupt(base, position int64, cause error) error {
	return &CorruptError{File: Name(base), Position: position, Cause: cause}
}

// ForeignError is the place of what this store does not write. Open gives it before it has changed anything. It
// wraps ErrForeign and the cause.
type ForeignError struct {
	File     string // name in its storage
	Position int64  // byte position in the file
	Cause    error
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("segment: %s, byte %d: %v; this store does not write that, and nothing was changed: "+
		"open another directory, or move the file away", e.File, e.Position, e.Cause)
}

// Unwrap gives ErrForeign and the cause.
func (e *ForeignError) Unwrap() []error { return []error{ErrForeign, e.Cause} }

// ShortBufferError is returned by a read whose first batch alone exceeds the buffer.
type ShortBufferError struct {
	Need int64 // bytes of that batch
}

func (e *ShortBufferError) Error() string {
	return fmt.Sprintf("segment: buffer too small: the batch has %d bytes", e.Need)
}
