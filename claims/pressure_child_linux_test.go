package claims

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestExecutePressureRefuses(t *testing.T) {
	for input, want := range map[string]string{
		"":                            "EOF",
		"{":                           "unexpected EOF",
		"[]":                          "cannot unmarshal",
		`{"Experiment":"no"}`:         "a log of a MiB",
		`{"Turns":1}`:                 `unknown field "Turns"`,
		goodRequest("no", "/x"):       `no experiment "no"`,
		goodRequest("", "/x"):         `no experiment ""`,
		goodRequest(workOfOthers, ""): "a log of a MiB",
	} {
		var out strings.Builder
		err := ExecutePressure(t.Context(), strings.NewReader(input), &out)
		if err == nil || !strings.HasPrefix(err.Error(), "claims: request of an experiment: ") || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("input %q: error %v, output %q", input, err, out.String())
		}
	}
}

func goodRequest(experiment, log string) string {
	return `{"Experiment":` + strconv.Quote(experiment) + `,"Log":` + strconv.Quote(log) + `,"Size":1048576,"Memory":8388608,"Turn":1000}` + "\n"
}

// What the machine can't do is an answer, what has failed an error; and who is interrupted ends.
func TestExecutePressureAnswers(t *testing.T) {
	b := tinyBench(t)
	inMemory, err := os.Create(filepath.Join(b.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(inMemory.Name())
	defer inMemory.Close()
	if err := inMemory.Truncate(1 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := inMemory.WriteAt(make([]byte, 1<<20), 0); err != nil {
		t.Fatal(err)
	}
	execute := func(ctx context.Context, request string) (pressureAnswer, error) {
		stdin, stdinEnd := io.Pipe() // that does not end
		defer stdin.Close()
		go func() { _, _ = io.WriteString(stdinEnd, request) }()
		var out bytes.Buffer
		var answer pressureAnswer
		err := ExecutePressure(ctx, stdin, &out)
		if err == nil {
			err = json.Unmarshal(out.Bytes(), &answer)
		}
		return answer, err
	}
	for _, experiment := range []string{shortOfMemory, workOfOthers} {
		if strings.HasPrefix(b.dir, "/dev/shm") {
			if answer, err := execute(t.Context(), goodRequest(experiment, inMemory.Name())); err != nil || answer.Unmeasured != errNotDropped.Error() || answer.Values != nil {
				t.Errorf("%s in memory: %v, %v", experiment, answer, err)
			}
		}
		if _, err := execute(t.Context(), goodRequest(experiment, filepath.Join(b.dir, "missing"))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s without a log: %v", experiment, err)
		}
	}
	if err := inMemory.Truncate(1<<20 - 1); err != nil {
		t.Fatal(err)
	}
	if _, err := execute(t.Context(), goodRequest(workOfOthers, inMemory.Name())); err == nil || !strings.Contains(err.Error(), "1048575 bytes, not 1048576") {
		t.Errorf("a log that is too short: %v", err)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := execute(interrupted, goodRequest(workOfOthers, inMemory.Name())); err == nil {
		t.Error("an interruption is no error")
	}
}
