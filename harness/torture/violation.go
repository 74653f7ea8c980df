package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Violation is a wrong answer. It is an error.
type Violation struct {
	Strategy string `json:"strategy"`
	Check    string `json:"check"`
	// What was violated, in a sentence.
	What string `json:"what"`
	// Seed makes the round that found it the first of another run.
	Seed uint64 `json:"seed"`
	// Hung: a call did not return.
	Hung bool `json:"hung"`

	// Evidence is files that help to understand it.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is a file.
type Evidence struct {
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

func (v *Violation) Error() string {
	return fmt.Sprintf("torture: %s: %s: %s", v.Strategy, v.Check, v.What)
}

func violationf(format string, args ...any) error {
	return &Violation{What: fmt.Sprintf(format, args...)}
}

// with adds a file to a violation; other errors stay as they are.
func with(err error, name string, content []byte) error {
	if v, ok := errors.AsType[*Violation](err); ok {
		v.Evidence = append(v.Evidence, Evidence{name, content})
	}
	return err
}

// Write puts what there is to see of a violation into a directory, which it makes, and returns the names of
// the files: the history and its picture for a browser, or the stacks of all goroutines.
func (v *Violation) Write(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("torture: %w", err)
	}
	files := append([]Evidence{{"violation.txt", []byte(v.text())}}, v.Evidence...)
	var names []string
	for _, e := range files {
		name := filepath.Join(dir, v.Strategy+"-"+e.Name)
		if err := os.WriteFile(name, e.Content, 0o666); err != nil {
			return names, fmt.Errorf("torture: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}

func (v *Violation) text() string {
	return fmt.Sprintf("strategy %s\ncheck    %s\nseed     %d\n\n%s\n", v.Strategy, v.Check, v.Seed, v.What)
}

// stacks are those of all goroutines.
func stacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		p := make([]byte, size)
		if n := runtime.Stack(p, true); n < size || size >= 64<<20 {
			return p[:n]
		}
	}
}
