package claims

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropCache asks the kernel to forget the pages of a file. Those that are mapped, or not written back, stay; on
// tmpfs all do.
func dropCache(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// residentPages counts the pages of a mapping that are in memory.
func residentPages(mapped []byte) (int, error) {
	pages := make([]byte, (len(mapped)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return 0, errno
	}
	resident := 0
	for _, page := range pages {
		resident += int(page & 1) // the other bits are reserved
	}
	return resident, nil
}

// growMapping makes a mapping longer. It may move: the old one is gone.
func growMapping(_ *os.File, mapped []byte, size, _ int) ([]byte, error) {
	return unix.Mremap(mapped, size, unix.MREMAP_MAYMOVE)
}

// sendFile moves up to size bytes of a file to a socket within the kernel.
func sendFile(socket, file int, position int64, size int) (int, error) {
	return unix.Sendfile(socket, file, &position, size)
}

// discard takes up to len(p) bytes from a TCP socket and does not copy them anywhere: MSG_TRUNC, in tcp(7).
func discard(socket int, p []byte) (int, error) {
	n, _, err := unix.Recvfrom(socket, p, unix.MSG_TRUNC)
	return n, err
}
