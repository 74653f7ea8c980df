package claims

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestCopying(t *testing.T) {
	figures, err := copying(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, size := range []string{"4k", "64k", "1m"} {
		want = append(want, "copy-"+size, "sendfile-rate-"+size, "copied-"+size+"-seconds", "sent-"+size+"-seconds")
	}
	checkFigures(t, figures, want)
}

// Both ways bring the file's bytes to the other end.
func TestTransfersBringTheBytes(t *testing.T) {
	const size = 1 << 20
	f := patternedFile(t, tinyBench(t), 3*size)
	for name, send := range map[string]transfer{"write": byWrite(f, size), "sendfile": bySendfile(f, size)} {
		sender, receiver, err := loopback()
		if err != nil {
			t.Fatal(err)
		}
		received := make(chan []byte, 1)
		go func() {
			all, err := io.ReadAll(receiver)
			if err := errors.Join(err, receiver.Close()); err != nil {
				t.Error(err)
			}
			received <- all
		}()
		err = sendAll(int(sender.Fd()), 3, size, send)
		if err := errors.Join(err, sender.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := make([]byte, 3*size)
		pattern(want, 0)
		if got := <-received; !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes came, or others", name, len(got))
		}
	}
}

// The receiver counts what it throws away.
func TestDrainMissesBytes(t *testing.T) {
	for missing, want := range map[int64]error{0: nil, 1: io.ErrUnexpectedEOF} {
		sender, receiver, err := loopback()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sender.Write(make([]byte, 100_000)); err != nil {
			t.Error(err)
		}
		if err := sender.Close(); err != nil {
			t.Error(err)
		}
		if err := drain(receiver, 100_000+missing); !errors.Is(err, want) {
			t.Errorf("%d bytes missing: %v", missing, err)
		}
	}
}

// A failure at either end ends both.
func TestTransfersThatFail(t *testing.T) {
	f := patternedFile(t, tinyBench(t), 6<<10)
	for name, send := range map[string]transfer{"write": byWrite(f, 4<<10), "sendfile": bySendfile(f, 4<<10)} {
		if _, err := transfers(4<<10, send)(2); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s of a file that is too short: %v", name, err)
		}
		sender, receiver, err := loopback()
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Close(); err != nil {
			t.Error(err)
		}
		// The first may be sent before the other end has answered that it is closed.
		for err = nil; err == nil; {
			err = send(int(sender.Fd()), 0)
		}
		if err := sender.Close(); err != nil {
			t.Error(err)
		}
	}
}
