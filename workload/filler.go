package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// maxFiller bounds the bytes that are kept as filler of a workload's records.
const maxFiller = 64 << 20

// applyRecords sets the sizes of records and their payload. Where they are the lines of a file, it says
// how many were too short.
func (w *Workload) applyRecords(o *Overrides) error {
	if o.PayloadFile != nil {
		payload, err := readPayload(*o.PayloadFile)
		if err != nil {
			return err
		}
		w.Payload = payload
	}
	if o.RecordSize != nil {
		w.Sizes, w.RecordSize = o.RecordSize.Sizes, o.RecordSize.Largest
	}
	if w.Sizes.Kind != SizesLines || o.RecordSize == nil && o.PayloadFile == nil {
		return nil
	}
	lines, short, largest := lineStatistics(w.Payload)
	w.RecordSize = max(largest, MinRecordSize)
	if short > 0 {
		w.note("Of the payload's %s, %s shorter than the %d bytes that verification needs and padded to it.",
			plural(lines, "line"), areOf(short), MinRecordSize)
	}
	return nil
}

func areOf(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprint(n, " are")
}

func (w *Workload) note(format string, args ...any) {
	// Workloads share the notes of the one that they were made from.
	w.Notes = append(w.Notes[:len(w.Notes):len(w.Notes)], fmt.Sprintf(format, args...))
}

// readPayload reads the file of --payload.
func readPayload(path string) ([]byte, error) {
	data, err := readLimited(path, maxFiller)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return nil, fieldError("--payload", path, "%s", oneLine(file.Err.Error()))
	case err != nil:
		return nil, fieldError("--payload", path, "%s", oneLine(err.Error()))
	case len(data) == 0:
		return nil, fieldError("--payload", path, "the file is empty; give one with bytes to fill records with")
	}
	return data, nil
}

// readLimited reads a file that has at most limit bytes. It opens nothing but regular files: a pipe
// would block. Errors: *fs.PathError.
func readLimited(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path,
			Err: fmt.Errorf("larger than %s, too large to be what it is taken for", FormatSize(limit))}
	}
	return os.ReadFile(path)
}
