package workload

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func FuzzLoad(f *testing.F) {
	f.Add([]byte(smallFile), true)
	f.Add([]byte(ownFile), false)
	for _, c := range badFiles {
		f.Add([]byte(c.text), false)
		f.Add([]byte(c.text), true)
	}
	for _, c := range badOwnFiles {
		f.Add([]byte(c.text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, scale bool) {
		if len(data) > maxFile {
			t.Skip("LoadGrid does not read so much")
		}
		var fits Scale
		if scale {
			fits = few
		}
		grid, err := parseFile("load.yaml", data, Overrides{}, fits)
		if err != nil {
			checkFileError(t, err)
			return
		}
		m, err := parseMapping("load.yaml", bytes.TrimPrefix(data, []byte("\ufeff")))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range grid {
			if line := w.Describe(); strings.ContainsAny(line, "\r\n") {
				t.Fatalf("description has several lines: %q", line)
			}
			err := w.Validate()
			var field *FieldError
			switch {
			case err == nil:
			case !errors.As(err, &field) || strings.ContainsAny(err.Error(), "\r\n"):
				t.Fatalf("not one line about a field: %v", err)
			// What is too large for a segment or the bound of a run is for the caller's flags to put right, and so is
			// a rate of almost nothing that is left of one.
			case isOMB(m) && !slices.Contains([]string{"--record-size", "--prefill", "--produce-rate"}, field.Field):
				t.Fatalf("loaded, but not valid: %v", err)
			}
		}
	})
}

func checkFileError(t *testing.T, err error) {
	t.Helper()
	var located *FileError
	if !errors.As(err, &located) {
		t.Fatalf("error %T has no place in the file: %v", err, err)
	}
	if located.Line < 1 || located.Column < 1 {
		t.Fatalf("place is %d:%d", located.Line, located.Column)
	}
	if strings.ContainsAny(err.Error(), "\r\n") || !strings.HasPrefix(err.Error(), "workload: load.yaml:") {
		t.Fatalf("not one line with the file's name: %q", err)
	}
}
