package claims

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestPublish(t *testing.T) {
	figures, err := publish(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"actor-10", "actor-100", "actor-1000", "actor-10000", "actor-bytes", "actor-seconds-1", "actor-seconds-10000",
		"plain-10", "plain-100", "plain-1000", "plain-10000", "plain-bytes", "plain-seconds-1", "plain-seconds-10000",
	}
	for _, n := range segmentCounts {
		for _, name := range []string{"actor", "plain"} {
			want = append(want, fmt.Sprintf("%s-publication-%d", name, n), fmt.Sprintf("%s-publication-bytes-%d", name, n))
		}
	}
	checkFigures(t, figures, want)
	// What is allocated does not depend on the machine: a head, and a list of at least a pointer a segment.
	if f := figureNamed(t, figures, "actor-bytes"); f.Value > 4096 {
		t.Errorf("an append to the actor allocates %s: the list is copied", f.ValueText())
	}
	for _, n := range segmentCounts {
		if f := figureNamed(t, figures, fmt.Sprintf("actor-publication-bytes-%d", n)); f.Value > 512 {
			t.Errorf("%d segments: a publication allocates %s", n, f.ValueText())
		}
	}
	if f := figureNamed(t, figures, "plain-bytes"); f.Value < 8*mostSegments {
		t.Errorf("an append to actor-plain allocates %s: the list is not copied", f.ValueText())
	}
}

// Logs have the segments that they are said to have, and a strategy opens them again and again.
func TestSegmented(t *testing.T) {
	const n = 7
	s, err := segmented(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range []string{"actor", "actor-plain"} {
		recovered := segment.Recovery{}
		log, err := openLog(strategy, strategies.Options{
			Storage: s, SegmentSize: publishedSegment, IndexInterval: publishedInterval,
			Recovered: func(r segment.Recovery) { recovered = r },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !recovered.Clean {
			t.Errorf("%s had to recover: %+v", strategy, recovered)
		}
		loop := appending(t.Context(), "", log.NewHandle()).loop
		if err := errors.Join(loop(3), log.Close()); err != nil {
			t.Error(err)
		}
	}
	names, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	logs := slices.DeleteFunc(names, func(name string) bool { return s.logs[name] == nil })
	if len(logs) != n {
		t.Errorf("%d log files of %d segments: %v", len(logs), n, logs)
	}
}

func TestWindowStorage(t *testing.T) {
	s := newWindowStorage()
	if _, err := s.OpenLog("a.log", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	l, err := s.OpenLog("a.tmp", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Pwrite([]byte("abc"), 0), l.Pwrite([]byte("de"), 3), s.Rename("a.tmp", "a.log")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenLog("a.log", true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	p := make([]byte, 8)
	if n, err := l.Pread(p, 1); n != 4 || string(p[:n]) != "bcde" || err != nil {
		t.Errorf("read %q, %v", p[:n], err)
	}
	// Around the window's end, and with what is older gone.
	if err := l.Pwrite([]byte("0123456789"), windowSize-5); err != nil {
		t.Fatal(err)
	}
	w := s.logs["a.log"]
	if size, err := s.Size("a.log"); size != windowSize+5 || err != nil || len(w.data) != windowSize {
		t.Errorf("size %d, %v, %d bytes kept", size, err, len(w.data))
	}
	if string(w.data[windowSize-5:])+string(w.data[:5]) != "0123456789" {
		t.Error("other bytes around the end of the window")
	}
	if _, err := l.Pread(p, 0); err == nil {
		t.Error("bytes that are gone can be read")
	}
	if err := s.Remove("a.log"); err != nil {
		t.Fatal(err)
	}
	if names, err := s.List(); len(names) != 0 || err != nil {
		t.Errorf("left are %v, %v", names, err)
	}
}
