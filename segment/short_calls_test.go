package segment

import (
	"bytes"
	"testing"
)

// What a system call has left over is asked for again, wherever it has stopped: in a batch, or between two.
func TestShortCalls(t *testing.T) {
	random := newRand(40)
	for _, atMost := range []int{1, 2, 7, 68, 69, 100, 250, 1000, 5000} {
		d, err := OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d.ShortCalls(atMost)
		log, err := d.OpenLog(Name(0), true)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for range 20 {
			var group []Batch
			position := int64(len(want))
			for range 1 + random.IntN(5) {
				b := build(randomRecords(random)...)
				group = append(group, b)
				want = append(want, b...)
			}
			if len(group) == 1 {
				err = log.Pwrite(group[0], position)
			} else {
				err = log.PwriteBatches(group, position)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len(want)+1)
		n, err := log.Pread(got, 0)
		if err != nil || !bytes.Equal(got[:n], want) {
			t.Errorf("at most %d bytes a call: %d of %d bytes are read, or others than were written; %v", atMost, n, len(want), err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
