package segment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An inspection needs no right to change anything, and changes nothing, not even a time.
func TestInspectReadOnly(t *testing.T) {
	dir := tempDir(t)
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	closedLog(t, s, 104, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1_000_000_000, 0)
	for _, path := range append(paths, dir) {
		mode := fs.FileMode(0o444)
		if path == dir {
			mode = 0o555
		}
		if err := errors.Join(os.Chtimes(path, old, old), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Error(err)
		}
	}()
	look, err := OpenDirReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, look)
	if _, err := inspect(t, look, InspectOptions{Records: true}); err != nil {
		t.Error(err)
	}
	if _, err := Verify(t.Context(), look, InspectOptions{}); err != nil {
		t.Error(err)
	}
	sameFiles(t, snapshot(t, look), before)
	for _, path := range append(paths, dir) {
		if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) {
			t.Errorf("%s was changed at %v, %v", path, info.ModTime(), err)
		}
	}
	if err := look.Close(); err != nil {
		t.Error(err)
	}
}

// While a writer works, an inspection finds a log or something unfinished, and never more than that.
func TestInspectWhileWriting(t *testing.T) {
	dir := tempDir(t)
	s, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := openPartition(t, Config{Storage: s, Size: 3000, Interval: 64})
	look, err := OpenDirReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for {
			if err := lookOnce(t.Context(), look); err != nil {
				done <- err
				return
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	p.fill(105, 300)
	p.close()
	close(stop)
	if err := errors.Join(<-done, look.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// lookOnce inspects and verifies; a fault is no error.
func lookOnce(ctx context.Context, s Storage) error {
	var fault *Fault
	_, err := Verify(ctx, s, InspectOptions{Interval: 64})
	if err != nil && !errors.As(err, &fault) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("verify: %w", err)
	}
	err = Inspect(ctx, s, InspectOptions{Records: true, Interval: 64}, func(Item) error { return nil })
	if err != nil && !errors.As(err, &fault) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("inspect: %w", err)
	}
	return nil
}
