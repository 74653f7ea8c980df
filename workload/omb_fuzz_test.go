package workload

import (
	"errors"
	"strings"
	"testing"
)

func FuzzLoad(f *testing.F) {
	f.Add([]byte(smallFile))
	for _, c := range badFiles {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFile {
			t.Skip("Load does not read so much")
		}
		w, err := parseOMB("load.yaml", data)
		if err == nil {
			if err := w.Validate(); err != nil {
				// Messages larger than a segment are for the caller's flags to put right.
				var field *FieldError
				if !errors.As(err, &field) || !(field.Field == "--record-size" || field.Field == "--prefill") {
					t.Fatalf("loaded, but not valid: %v", err)
				}
			}
			if line := w.Describe(); strings.ContainsAny(line, "\r\n") {
				t.Fatalf("description has several lines: %q", line)
			}
			return
		}
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
	})
}
