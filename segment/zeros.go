package segment

import "golang.org/x/sys/unix"

// writeZeros allocates space by writing zeros behind the end of a file.
func writeZeros(fd int, size int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	zeros := make([]byte, 64<<10)
	for at := st.Size; at < size; {
		n, err := unix.Pwrite(fd, zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil && err != unix.EINTR {
			return err
		}
		at += int64(max(n, 0))
	}
	return nil
}
