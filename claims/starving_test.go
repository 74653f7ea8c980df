package claims

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
)

func TestStarving(t *testing.T) {
	figures, err := starving(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"rwmutex-called-over-mutex", "rbmutex-called-over-mutex", "rwmutex-called-over-atomics", "rwmutex-over-mutex", "rbmutex-over-mutex"}
	for _, s := range []string{"rwmutex", "mutex", "rbmutex", "atomics"} {
		want = append(want, s+"-longest", s+"-called", s+"-done")
	}
	checkFigures(t, figures, want)
	for _, s := range []string{"rwmutex", "mutex", "rbmutex", "atomics"} {
		if f := figureNamed(t, figures, s+"-done"); f.Value > 1 {
			t.Errorf("%s: %s of the appends due are done", s, f.ValueText())
		}
		longest, called := figureNamed(t, figures, s+"-longest"), figureNamed(t, figures, s+"-called")
		if longest.Value < called.Value {
			t.Errorf("%s: the longest append from its due time, %s, is shorter than that from its call, %s", s, longest.ValueText(), called.ValueText())
		}
	}
}

// A lock that lets its writer in only when no reader is left is seen: the append under way gets the lock with the end of
// the window, and not before.
func TestLockThatStarvesIsSeen(t *testing.T) {
	unfair := &unfairLog{}
	s, err := tinyBench(t).starve(func(o strategies.Options) (log strategies.Log, err error) {
		unfair.Log, err = openLog("mutex", o)
		return unfair, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.called < starvingWindow/2 || s.longest < s.called {
		t.Errorf("its longest append took %v, and was %v late", s.called, s.longest)
	}
}

// unfairLog is a log whose appends wait until nobody reads any more. A reader counts from its first read to its end.
type unfairLog struct {
	strategies.Log
	readers atomic.Int64
}

type unfairHandle struct {
	strategies.Handle
	log   *unfairLog
	reads bool
}

func (l *unfairLog) NewHandle() strategies.Handle {
	return &unfairHandle{Handle: l.Log.NewHandle(), log: l}
}

func (h *unfairHandle) Read(offset int64, buf []byte) ([]byte, error) {
	if !h.reads {
		h.log.readers.Add(1)
		h.reads = true
	}
	return h.Handle.Read(offset, buf)
}

func (h *unfairHandle) Append(ctx context.Context, b segment.Batch, acks strategies.Acks) (int64, error) {
	for h.log.readers.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	return h.Handle.Append(ctx, b, acks)
}

func (h *unfairHandle) Close() error {
	if h.reads {
		h.log.readers.Add(-1)
	}
	return h.Handle.Close()
}

// slowHandle is a handle whose appends take a given time each, and the rest none.
type slowHandle struct {
	strategies.Handle
	takes []time.Duration
	fails error
}

func (h *slowHandle) Append(context.Context, segment.Batch, strategies.Acks) (int64, error) {
	if len(h.takes) == 0 {
		return 0, h.fails
	}
	time.Sleep(h.takes[0])
	h.takes = h.takes[1:]
	return 0, nil
}

func TestAppendWhenDue(t *testing.T) {
	const due = int(starvingWindow / starvingPause)
	for _, test := range []struct {
		name  string
		takes []time.Duration
		want  starved
	}{
		{"at once", nil, starved{done: due}},
		{"a slow one", []time.Duration{0, time.Millisecond}, starved{longest: time.Millisecond, called: time.Millisecond, done: due}},
		{
			// The second takes 7 ms, the third was due 5 ms before that was over, and takes 3: it is late by 8.
			"those behind a slow one are late", []time.Duration{0, 7 * time.Millisecond, 3 * time.Millisecond},
			starved{longest: 8 * time.Millisecond, called: 7 * time.Millisecond, done: due},
		},
		{"not done in time", []time.Duration{0, time.Second}, starved{longest: time.Second, called: time.Second, done: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := appendWhenDue(t.Context(), &slowHandle{takes: test.takes}, nil)
				if err != nil || got != test.want {
					t.Errorf("%+v, %v, want %+v", got, err, test.want)
				}
			})
		})
	}
	// A writer that keeps falling behind: what was due first and has not begun has waited longest.
	synctest.Test(t, func(t *testing.T) {
		h := &slowHandle{}
		for range 2 * due {
			h.takes = append(h.takes, 2*starvingPause)
		}
		got, err := appendWhenDue(t.Context(), h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := starvingWindow / 2; got.called != 2*starvingPause || got.longest < want-starvingPause || got.longest > want+3*starvingPause {
			t.Errorf("%+v, want about %v for the longest", got, want)
		}
		if got.done > due/2+1 {
			t.Errorf("%d appends of twice the time between them are done in a window for %d", got.done, due)
		}
	})
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		if _, err := appendWhenDue(t.Context(), &slowHandle{fails: broken}, nil); !errors.Is(err, broken) {
			t.Errorf("a failing append: %v", err)
		}
	})
}
