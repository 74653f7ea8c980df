//go:build !linux

package claims

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errOnlyLinux is what experiments give that need calls of Linux.
var errOnlyLinux = fmt.Errorf("only on Linux: %w", errors.ErrUnsupported)

func dropCache(*os.File) error { return errOnlyLinux }

func residentPages([]byte) (int, error) { return 0, errOnlyLinux }

func growMapping(f *os.File, mapped []byte, size, protection int) ([]byte, error) {
	if err := unix.Munmap(mapped); err != nil {
		return nil, err
	}
	return mapFile(f, size, protection)
}

func sendFile(int, int, int64, int) (int, error) { return 0, errOnlyLinux }

func discard(int, []byte) (int, error) { return 0, errOnlyLinux }
