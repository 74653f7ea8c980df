package claims

import (
	"context"
	"errors"
	"testing"
)

// An experiment that is ended must not pass for one that has found something, nor for one that failed by itself.
func TestEndedContextIsNoFinding(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range all() {
		if c.measure == nil {
			continue
		}
		b := tinyBench(t)
		b.ctx = ended
		b.child, b.looping, b.pressed, b.torturing = []string{"/nonexistent"}, []string{"/nonexistent"}, []string{"/nonexistent"}, []string{"/nonexistent"}
		if figures, err := c.measure(b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d figures, error %v of an ended context", c.Name, len(figures), err)
		}
	}
}
