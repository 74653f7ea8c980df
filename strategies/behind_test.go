package strategies_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/segment/segmenttest"
	"tailrace/strategies"
)

// What a call does while another one is stuck in the storage, in the words of docs/strategies.md.
const (
	waits     = "waits"
	returns   = "returns"
	cancelled = "context's error"
	unknown   = "`ErrUnknownOutcome`"
)

// stuckTable reads a table of docs/strategies.md, whose first column names strategies, by strategy and column.
func stuckTable(t *testing.T, heading string) map[string]map[string]string {
	t.Helper()
	page, err := os.ReadFile("../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), heading)
	if !found {
		t.Fatalf("docs/strategies.md has no %q", heading)
	}
	_, text, _ = strings.Cut(text, "\n| ")
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")
	split := func(line string) []string {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells
	}
	columns := split(lines[0])
	table := make(map[string]map[string]string)
	for _, line := range lines[2:] {
		cells := split(line)
		row := make(map[string]string)
		for i, cell := range cells[1:] {
			row[columns[1+i]] = cell
		}
		table[strings.Trim(cells[0], "`")] = row
	}
	candidates := slices.DeleteFunc(strategies.Names(), func(name string) bool {
		s, err := strategies.Find(name)
		return err != nil || !isCore(s)
	})
	if names := slices.Collect(maps.Keys(table)); !sameNames(names, candidates) {
		t.Errorf("the table has rows of %q, want %q", names, candidates)
	}
	return table
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// endsWhenAsked is a context that ends once it has said that it has not, which every append asks for first.
type endsWhenAsked struct {
	context.Context
	end context.CancelFunc
}

func newEndsWhenAsked() endsWhenAsked {
	ctx, end := context.WithCancel(context.Background())
	return endsWhenAsked{ctx, end}
}

func (c endsWhenAsked) Err() error {
	defer c.end()
	return c.Context.Err()
}

// behindStuck runs a call; its name marks the goroutine that does so in a listing of all.
//
//go:noinline
func behindStuck(call func()) { call() }

// parked reports whether the call of behindStuck waits: at a lock, at a channel, or while it polls for the end of
// others. A select that sees a context that has ended is not parked.
func parked() bool {
	stacks := make([]byte, 1<<17)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if !strings.Contains(g, "strategies_test.behindStuck(") {
			continue
		}
		_, state, _ := strings.Cut(g, "[")
		for _, blocked := range []string{"sync.Mutex.Lock", "sync.RWMutex.", "chan receive", "chan send", "select", "sleep"} {
			if strings.HasPrefix(state, blocked) {
				return true
			}
		}
		if strings.Contains(g, "xsync/v4.(*RBMutex).Lock(") { // it gives way over and over, and is never parked
			return true
		}
	}
	return false
}

// doesBehind checks what a call does behind the one that is stuck, and lets that one go. A call that waits is seen to be
// parked.
func (s *heldUp) doesBehind(t *testing.T, want string, call func() error) error {
	t.Helper()
	var err error
	done := inBackground(func() { behindStuck(func() { err = call() }) })
	if want != waits {
		finishes(t, "what is to return", done)
		close(s.release)
		return err
	}
	for deadline := time.Now().Add(patience); !parked(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("what is to wait neither waits nor returns")
		}
		select {
		case <-done:
			t.Fatalf("what is to wait returns %v", err)
		default:
		}
	}
	select {
	case <-done:
		t.Fatalf("what is to wait returns %v", err)
	default:
	}
	close(s.release)
	finishes(t, "what has waited", done)
	return err
}

// stuckFixture is a log of some segments, the last of them with room for more, and the storage under it.
func (f *fixture) stuckFixture(ops []segmenttest.Op) (*heldUp, strategies.Log) {
	f.t.Helper()
	storage := holdUpLater(f.options.Storage, ops)
	f.options.Storage = storage
	log := f.open()
	h, m := log.NewHandle(), newMaker(1000, 290)
	for range 3*stuckUnits + 2 {
		put(f.t, h, m.makeUnit())
	}
	f.fetchAll(h, h.Offsets().LogEnd)
	storage.armed.Store(true)
	return storage, log
}

// stuckUnits is how many units a segment of these tests holds.
const stuckUnits = 8

// behind is a call that is made behind another one, and which column of the table it belongs to; "" if all models do
// the same.
type behind struct {
	name, column, want string
	call               func(log strategies.Log, h strategies.Handle) error
	isError            error // that the call returns
}

// behindCalls are all but Append; progress is the column of a follower's Fetch that tells of one.
func behindCalls(progress string) []behind {
	const reads = "`Read`, `Fetch`, `OffsetForTime`, `Offsets`"
	buf := make([]byte, 4096)
	return []behind{
		{name: "Read", column: reads, call: func(_ strategies.Log, h strategies.Handle) error { _, err := h.Read(3, buf); return err }},
		{name: "Fetch", column: reads, call: func(_ strategies.Log, h strategies.Handle) error {
			_, err := h.Fetch(0, 3*stuckUnits+2, buf)
			return err
		}},
		{name: "OffsetForTime", column: reads, call: func(_ strategies.Log, h strategies.Handle) error { _, err := h.OffsetForTime(0); return err }},
		{name: "Offsets", column: reads, call: func(_ strategies.Log, h strategies.Handle) error { h.Offsets(); return nil }},
		{name: "FetchWithProgress", column: progress, call: func(_ strategies.Log, h strategies.Handle) error {
			_, err := h.Fetch(0, 3, buf)
			return err
		}},
		{name: "Wait", want: returns, call: func(_ strategies.Log, h strategies.Handle) error { return h.Wait(context.Background(), 3) }},
		{name: "WaitForMore", want: returns, isError: context.Canceled, call: func(_ strategies.Log, h strategies.Handle) error {
			return h.Wait(newEndsWhenAsked(), 1000)
		}},
		{name: "LastSynced", want: returns, call: func(log strategies.Log, _ strategies.Handle) error { log.LastSynced(); return nil }},
		{name: "NewHandle", want: returns, call: func(log strategies.Log, _ strategies.Handle) error { return log.NewHandle().Close() }},
		{name: "Trim", want: waits, call: func(log strategies.Log, _ strategies.Handle) error { return log.Trim(2 * stuckUnits) }},
		{name: "Retain", want: waits, call: func(log strategies.Log, _ strategies.Handle) error {
			return log.Retain(strategies.Retention{Bytes: 1})
		}},
		{name: "Close", want: waits, call: func(log strategies.Log, _ strategies.Handle) error { return log.Close() }},
	}
}

// The first table in docs/strategies.md says which calls return while another one's write, or its sync, is stuck.
func TestBehindStuckWriteAsDocumented(t *testing.T) {
	table := stuckTable(t, "## Behind a write that is stuck")
	for _, c := range []struct {
		name string
		ops  []segmenttest.Op
		sync segment.SyncPolicy
	}{{"write", writes, segment.SyncPolicy{}}, {"sync", []segmenttest.Op{segmenttest.Sync}, segment.EveryBatch()}} {
		t.Run("stuck="+c.name, func(t *testing.T) {
			o := strategies.Options{SegmentSize: stuckUnits * unit, IndexInterval: 64, Replicas: 1, Sync: c.sync}
			forEachWith(t, o, isCore, func(f *fixture) {
				row := table[f.strategy.Name]
				f.t.Run("call=Append", func(t *testing.T) { f.fresh(t).appendBehind(c.ops, row["`Append` with a deadline"]) })
				for _, call := range behindCalls("`Fetch` with progress") {
					f.t.Run("call="+call.name, func(t *testing.T) {
						f.fresh(t).callBehind(c.ops, row, call, func(log strategies.Log) error {
							_, err := log.NewHandle().Append(context.Background(), newMaker(1, 80).makeUnit(), strategies.AcksLeader)
							return err
						})
					})
				}
			})
		})
	}
}

// The second table says so of a read that is stuck.
func TestBehindStuckReadAsDocumented(t *testing.T) {
	const changes = "`Append`, `Fetch` with progress"
	table := stuckTable(t, "A read can be stuck as well")
	o := strategies.Options{SegmentSize: stuckUnits * unit, IndexInterval: 64, Replicas: 1}
	forEachWith(t, o, isCore, func(f *fixture) {
		calls := append(behindCalls(changes), behind{name: "Append", column: changes, call: func(_ strategies.Log, h strategies.Handle) error {
			_, err := h.Append(context.Background(), newMaker(1, 80).makeUnit(), strategies.AcksLeader)
			return err
		}})
		for _, call := range calls {
			f.t.Run("call="+call.name, func(t *testing.T) {
				f.fresh(t).callBehind([]segmenttest.Op{segmenttest.Pread}, table[f.strategy.Name], call, func(log strategies.Log) error {
					_, err := log.NewHandle().Read(3, make([]byte, 4096))
					return err
				})
			})
		}
	})
}

// callBehind makes a call while another one, the first, is stuck in the storage.
func (f *fixture) callBehind(ops []segmenttest.Op, row map[string]string, c behind, first func(log strategies.Log) error) {
	f.t.Helper()
	storage, log := f.stuckFixture(ops)
	h := log.NewHandle()
	var firstErr error
	done := inBackground(func() { firstErr = first(log) })
	<-storage.entered
	want := c.want
	if c.column != "" {
		want = row[c.column]
	}
	if err := storage.doesBehind(f.t, want, func() error { return c.call(log, h) }); !errors.Is(err, c.isError) {
		f.t.Errorf("it gives %v, want %v", err, c.isError)
	}
	finishes(f.t, "the stuck call", done)
	if firstErr != nil {
		f.t.Errorf("the stuck call gives %v", firstErr)
	}
}

// appendBehind checks an append whose context ends behind a write that is stuck.
func (f *fixture) appendBehind(ops []segmenttest.Op, want string) {
	f.t.Helper()
	storage, log := f.stuckFixture(ops)
	h := log.NewHandle()
	first := begin(log, 0)
	<-storage.entered
	second := &attempt{batch: newMaker(1, 80).make(1, 100, 0)}
	second.bytes = string(second.batch)
	second.err = storage.doesBehind(f.t, want, func() error {
		_, err := h.Append(newEndsWhenAsked(), second.batch, strategies.AcksLeader)
		return err
	})
	isError := context.Canceled // also of who has waited
	if want == unknown {
		isError = strategies.ErrUnknownOutcome
	}
	if !errors.Is(second.err, isError) {
		f.t.Errorf("it gives %v, want %v", second.err, isError)
	}
	finishes(f.t, "the stuck append", first.done)
	f.fetchAll(h, h.Offsets().LogEnd)
	stored := byProducerFrom(f.t, h, 3*stuckUnits+2)
	first.check(f.t, 0, stored)
	second.check(f.t, 1, stored)
}
