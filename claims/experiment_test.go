package claims

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// tinyBench is a bench whose turns show that everything is measured, and nothing else. A disk is what TempDir is on.
func tinyBench(t *testing.T) *bench {
	dir, err := os.MkdirTemp("/dev/shm", "claims-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("%d files are left in memory: %v", len(left), err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return &bench{
		ctx: context.Background(), blocks: 2, turn: time.Millisecond, random: rand.New(rand.NewPCG(1, 2)),
		dir: dir, disk: t.TempDir(), level: 0.95, warn: func(text string) { t.Error(text) },
	}
}

// checkFigures wants exactly these figures, finite and positive; those of cold may instead be NaN and say why, where
// the page cache of the disk can't be dropped.
func checkFigures(t *testing.T, figures []results.Figure, want []string, cold ...string) {
	t.Helper()
	var names []string
	dropped := true
	for _, f := range figures {
		names = append(names, f.Name)
		if math.IsNaN(f.Value) && slices.Contains(cold, f.Name) {
			t.Logf("%s: %s", f.Name, f.Text)
			dropped = false
			continue
		}
		for _, v := range []float64{f.Value, f.Low, f.High} {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%s is %v (%v–%v)", f.Name, f.Value, f.Low, f.High)
			}
		}
	}
	switch {
	case dropped:
		want = append(want, cold...)
	case len(cold) > 0:
		want = append(want, cold[0])
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("figures are %q, not %q", names, want)
	}
}

// checkRead wants what pattern has written to a file of size bytes, at several places.
func checkRead(t *testing.T, read readAt, size int64) {
	t.Helper()
	got, want := make([]byte, 1<<10), make([]byte, 1<<10)
	for _, position := range []int64{0, 1 << 10, size/2 + 3<<10, size - 1<<10} {
		pattern(want, position)
		if err := read(got, position); err != nil || !bytes.Equal(got, want) {
			t.Errorf("other bytes at %d, %v", position, err)
		}
	}
	if err := read(got, size-512); err == nil {
		t.Error("half a read behind the end is no error")
	}
}

func patternedFile(t *testing.T, b *bench, size int64) *os.File {
	t.Helper()
	f, err := scratchFile(b.dir, size, pattern)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Whoever interrupts an experiment does not wait for its end.
func TestStorageExperimentsEndWithTheirContext(t *testing.T) {
	b := tinyBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.ctx = ctx
	for name, experiment := range map[string]func(*bench) ([]results.Figure, error){
		"preads": preads, "indexes": indexes, "mapped": mapped, "copying": copying,
	} {
		if figures, err := experiment(b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gives %v, %v", name, figures, err)
		}
	}
}

func TestGaugesLeaveCalibrationOut(t *testing.T) {
	b := tinyBench(t)
	var amounts []float64
	_, got, err := b.gauges(gauge{"a", func(n int) (float64, error) {
		time.Sleep(b.turn) // ends the calibration
		amounts = append(amounts, float64(len(amounts)+1))
		return amounts[len(amounts)-1] * float64(n), nil
	}})
	if err != nil || len(amounts) <= b.blocks || !slices.Equal(got["a"], amounts[len(amounts)-b.blocks:]) {
		t.Errorf("of %v come %v, %v", amounts, got["a"], err)
	}
}

// A cold read is measured with no page in memory; where some stay, it is an error that says so.
func TestColdIsCold(t *testing.T) {
	b := tinyBench(t)
	f, err := b.coldFile(1<<20, pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := 0
	cold := coldly("", f, 1<<20, unix.MADV_NORMAL, func(mapped []byte) error {
		calls++
		if resident, err := residentPages(mapped); resident != 0 || err != nil {
			t.Errorf("%d pages are in memory, %v", resident, err)
		}
		want := make([]byte, 1<<20)
		if pattern(want, 0); !bytes.Equal(mapped, want) {
			t.Error("mapped bytes are others")
		}
		return nil
	})
	if _, err := cold.loop(3); err != nil && !errors.Is(err, errors.ErrUnsupported) || err == nil && calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}

	b.disk = ""
	if _, err := b.coldFile(1, pattern); !errors.Is(err, errNoDisk) {
		t.Errorf("without a disk: %v", err)
	}
	mapped, err := mapFile(f, 1<<20, unix.PROT_READ)
	if err != nil {
		t.Fatal(err)
	}
	touch(mapped, os.Getpagesize())
	if _, err := cold.loop(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("with pages that another mapping holds: %v", err)
	}
	if err := unix.Munmap(mapped); err != nil {
		t.Error(err)
	}
}
