package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errNotRegular: reading it might never end, as of a named pipe or a device.
var errNotRegular = errors.New("not a regular file")

// openRegular opens a file for reading, and nothing else than a file.
func openRegular(path string) (*os.File, error) {
	// Before it is opened: that of a pipe waits until somebody writes.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return os.Open(path)
}

// readRegular reads a whole file, and nothing else than a file.
func readRegular(path string) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return text, nil
}
