package claims

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// copying compares two ways of a fetch's bytes from the log to a socket: pread into a buffer and write, and sendfile,
// which hands the pages of the file to the socket. The file is in memory, the socket is TCP on the loopback interface.
//
// The processor time is that of the process, user and system, so that no work is left out which one way leaves to
// another thread: what is queued is transmitted by whichever thread opens the window. The receiver is part of it and
// the same for both ways; it throws away what comes without copying it, as a network card that fetches the bytes from
// memory by itself would cost this machine no copy either. Both descriptors block, so that both ways wait in the same
// system call and not in Go's poller.
func copying(b *bench) (figures []results.Figure, err error) {
	// 50 ms would be a dozen fetches of 1 MiB.
	b = b.unhurried().withTurns(4)
	f, err := scratchFile(b.dir, logBytes, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sizes := []struct {
		name, text string
		bytes      int
	}{{"4k", "4 KiB", 4 << 10}, {"64k", "64 KiB", 64 << 10}, {"1m", "1 MiB", 1 << 20}}
	var arms []gauge
	for _, size := range sizes {
		arms = append(arms,
			gauge{"copied-" + size.name, transfers(size.bytes, byWrite(f, size.bytes))},
			gauge{"sent-" + size.name, transfers(size.bytes, bySendfile(f, size.bytes))})
	}
	seconds, processor, err := b.gauges(arms...)
	if err != nil {
		return nil, err
	}
	for _, size := range sizes {
		copied, sent := "copied-"+size.name, "sent-"+size.name
		figures = append(figures,
			b.ratio("copy-"+size.name, "processor time per byte of pread and write over sendfile, fetches of "+size.text, processor[copied], processor[sent]),
			b.ratio("sendfile-rate-"+size.name, "B/s of sendfile over pread and write, fetches of "+size.text, seconds[copied], seconds[sent]),
			b.value(copied+"-seconds", "processor time of a fetch of "+size.text+", pread and write", "s", processor[copied]),
			b.value(sent+"-seconds", "processor time of a fetch of "+size.text+", sendfile", "s", processor[sent]))
	}
	return figures, nil
}

// transfer sends the bytes of a fetch, which lie at a position of the file, to a socket.
type transfer func(socket int, position int64) error

func byWrite(f *os.File, size int) transfer {
	read, p := byPread(f), make([]byte, size)
	return func(socket int, position int64) error {
		if err := read(p, position); err != nil {
			return err
		}
		for rest := p; len(rest) > 0; {
			n, err := unix.Write(socket, rest)
			if err != nil && err != unix.EINTR {
				return fmt.Errorf("write: %w", err)
			}
			rest = rest[max(n, 0):]
		}
		return nil
	}
}

func bySendfile(f *os.File, size int) transfer {
	file := int(f.Fd())
	return func(socket int, position int64) error {
		for end := position + int64(size); position < end; {
			n, err := sendFile(socket, file, position, int(end-position))
			switch {
			case err != nil && err != unix.EINTR:
				return fmt.Errorf("sendfile: %w", err)
			case err == nil && n == 0:
				return io.ErrUnexpectedEOF
			}
			position += int64(max(n, 0))
		}
		return nil
	}
}

// transfers is a loop of fetches one behind the other in the log, over a connection of its own, and ends when all
// have arrived. It measures the processor time of the process.
func transfers(size int, send transfer) func(n int) (float64, error) {
	return func(n int) (float64, error) {
		sender, receiver, err := loopback()
		if err != nil {
			return 0, err
		}
		drained := make(chan error, 1)
		begun, err := processorTime()
		go func() { drained <- drain(receiver, int64(n)*int64(size)) }()
		if err == nil {
			err = sendAll(int(sender.Fd()), n, size, send)
		}
		err = errors.Join(err, sender.Close(), <-drained)
		if err != nil {
			return 0, err
		}
		ended, err := processorTime()
		return ended - begun, err
	}
}

func sendAll(socket, n, size int, send transfer) error {
	for i := range n {
		if err := send(socket, int64(i)*int64(size)%logBytes); err != nil {
			return err
		}
	}
	return nil
}

// processorTime is what the process has had, user and system, in seconds.
func processorTime() (float64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds(), err
}

// drain takes what comes, to the end, and closes the socket: a sender that still has some then gets an error.
func drain(receiver *os.File, want int64) (err error) {
	defer func() { err = errors.Join(err, receiver.Close()) }()
	socket, p := int(receiver.Fd()), make([]byte, 1<<20)
	var got int64
	for {
		n, err := discard(socket, p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		case n == 0 && got < want:
			return io.ErrUnexpectedEOF
		case n == 0:
			return nil
		}
		got += int64(max(n, 0))
	}
}

// loopback connects two sockets on the loopback interface, which block.
func loopback() (sender, receiver *os.File, err error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	// The kernel answers for the listener, which accepts afterwards.
	dialed, err := net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr))
	if err != nil {
		return nil, nil, err
	}
	defer dialed.Close()
	accepted, err := listener.AcceptTCP()
	if err != nil {
		return nil, nil, err
	}
	defer accepted.Close()
	if sender, err = dialed.File(); err != nil { // copies, which are set to block by Fd
		return nil, nil, err
	}
	if receiver, err = accepted.File(); err != nil {
		return nil, nil, errors.Join(err, sender.Close())
	}
	return sender, receiver, nil
}
