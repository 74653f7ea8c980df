package harness

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// errUnwritable: the data of a run could not be written, which is no wrong answer of a strategy.
var errUnwritable = errors.New("harness: the data of a run cannot be written")

// unwritable is an error if what a run or its process said is that its storage is full, or may not grow, with where that is
// and what to do; else nil. Another build says so in no other way than by the text.
func unwritable(said, where string) error {
	for _, limit := range []struct {
		cause unix.Errno
		mend  string
	}{
		{unix.ENOSPC, "free some, or choose another directory with --dir"},
		{unix.EDQUOT, "free some, or choose another directory with --dir"},
		{unix.EFBIG, "raise the limit of file sizes (ulimit -f), or lower --segment-size"},
	} {
		if strings.Contains(said, limit.cause.Error()) {
			return fmt.Errorf("%w in %s: %w; %s", errUnwritable, where, limit.cause, limit.mend)
		}
	}
	return nil
}
