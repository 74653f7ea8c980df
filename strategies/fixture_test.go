package strategies_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
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

// fixture is one strategy on one storage under one configuration.
type fixture struct {
	t        *testing.T
	strategy strategies.Strategy
	options  strategies.Options
	dir      string // of the storage, "" for the heap
	opened   bool   // there was a log on the storage
}

func isCore(s strategies.Strategy) bool { return s.Kind != strategies.Control }

// stores: what was appended can be read back, at the latest through a new handle.
func stores(s strategies.Strategy) bool { return !s.StoresNothing }

// shares: all handles are clients of the same log.
func shares(s strategies.Strategy) bool { return !s.StoresNothing && !s.PrivateFiles }

// locks: an append waits for a mutex, which it can't leave when its context ends.
func locks(s strategies.Strategy) bool {
	return slices.Contains([]string{"mutex", "rwmutex", "mutex-brief", "rwmutex-brief", "mutex-rcu", "rbmutex"}, s.Name)
}

// publishes: an append, or several together, makes a picture for the readers.
func publishes(s strategies.Strategy) bool {
	return slices.Contains([]string{"actor", "actor-plain", "actor-mailbox", "mutex-rcu", "mutex-group"}, s.Name)
}

func every(strategies.Strategy) bool { return true }

// layout is how a log is cut: tiny segments roll every few batches.
type layout struct {
	name              string
	segment, interval int64
}

var layouts = []layout{{"whole", 1 << 20, 4096}, {"tiny", 700, 64}}

// forEach runs a test on every accepted strategy × storage × layout × sync policy.
func forEach(t *testing.T, accept func(strategies.Strategy) bool, test func(f *fixture)) {
	t.Helper()
	for _, l := range layouts {
		for _, sync := range []segment.SyncPolicy{segment.SyncPolicy{}, segment.EveryBatch()} {
			options := strategies.Options{SegmentSize: l.segment, IndexInterval: l.interval, Sync: sync}
			forEachWith(t, options, accept, func(f *fixture) {
				f.t.Run(fmt.Sprintf("layout=%s/sync=%v", l.name, sync), func(t *testing.T) {
					test(f.fresh(t))
				})
			})
		}
	}
}

// forEachWith runs a test on every accepted strategy × storage.
func forEachWith(t *testing.T, o strategies.Options, accept func(strategies.Strategy) bool, test func(f *fixture)) {
	t.Helper()
	for _, s := range strategies.List {
		if !accept(s) {
			continue
		}
		for _, storage := range []string{"dir", "heap"} {
			t.Run("strategy="+s.Name+"/storage="+storage, func(t *testing.T) {
				f := &fixture{t: t, strategy: s, options: o}
				f.options.Storage = segment.NewHeap()
				if storage == "dir" {
					f.dir = scratchDir(t)
					f.options.Storage = openDir(t, f.dir)
				}
				test(f)
			})
		}
	}
}

// fresh is the fixture of a subtest, on a new storage of the same kind.
func (f *fixture) fresh(t *testing.T) *fixture {
	c := *f
	c.t = t
	c.options.Storage = segment.NewHeap()
	if f.onDir() {
		c.dir = scratchDir(t)
		c.options.Storage = openDir(t, c.dir)
	}
	c.opened = false
	return &c
}

func (f *fixture) onDir() bool { return f.dir != "" }

// reopenStorage is the storage, opened again where a log that is closed has closed it.
func (f *fixture) reopenStorage() segment.Storage {
	f.t.Helper()
	if f.dir != "" && f.opened {
		f.options.Storage = openDir(f.t, f.dir)
		f.opened = false
	}
	return f.options.Storage
}

// stored is the storage, to look at where a log that is closed has closed it.
func (f *fixture) stored() segment.Storage {
	f.t.Helper()
	if f.dir == "" {
		return f.options.Storage
	}
	d, err := segment.OpenDirReadOnly(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { d.Close() })
	return d
}

// faulty puts a storage that can fail under the fixture.
func (f *fixture) faulty() (faults *segmenttest.Faults, underlying segment.Storage) {
	underlying = f.options.Storage
	faults = segmenttest.NewFaults(underlying)
	f.options.Storage = faults
	return faults, underlying
}

// tryOpen opens the log, again where there was one.
func (f *fixture) tryOpen() (strategies.Log, error) {
	f.t.Helper()
	f.reopenStorage()
	f.opened = true
	return f.strategy.Open(f.options)
}

// open opens the log, and closes it when the test ends well.
func (f *fixture) open() strategies.Log {
	f.t.Helper()
	log, err := f.tryOpen()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if !f.t.Failed() { // a log that hangs would hang here too
			log.Close()
		}
	})
	return log
}

// reader is a handle that sees what the writer has appended.
func (f *fixture) reader(log strategies.Log, writer strategies.Handle) strategies.Handle {
	f.t.Helper()
	if !f.strategy.PrivateFiles {
		return writer
	}
	if err := writer.Close(); err != nil {
		f.t.Fatal(err)
	}
	return log.NewHandle()
}

// scratchDir is a directory in memory where there is one, so that tests do not wait for a disk.
func scratchDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tailrace-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func openDir(t testing.TB, path string) *segment.Dir {
	t.Helper()
	d, err := segment.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// maker makes the batches of one producer. A batch is valid until the next call.
type maker struct {
	builder  segment.Builder
	random   *rand.Rand
	producer int
	sequence int
}

func newMaker(producer int, seed uint64) *maker {
	return &maker{producer: producer, random: rand.New(rand.NewPCG(seed, uint64(producer)))}
}

// messageSize is the size in bytes of the smallest message: producer and sequence number.
const messageSize = 12

// make builds a batch of messages with size bytes each.
func (m *maker) make(records, size int, timestamp int64) segment.Batch {
	m.builder.Reset()
	for range records {
		fillMessage(m.builder.Value(timestamp, size), m.producer, m.sequence)
		m.sequence++
	}
	return m.builder.Finish()
}

// next builds a batch of random shape that fits the tiny layout; timestamps are in no order.
func (m *maker) next() segment.Batch {
	m.builder.Reset()
	for range 1 + m.random.IntN(4) {
		fillMessage(m.builder.Value(m.random.Int64N(1000)-100, messageSize+m.random.IntN(110)), m.producer, m.sequence)
		m.sequence++
	}
	return m.builder.Finish()
}

func fillMessage(p []byte, producer, sequence int) {
	binary.BigEndian.PutUint32(p, uint32(producer))
	binary.BigEndian.PutUint64(p[4:], uint64(sequence))
	for i := messageSize; i < len(p); i++ {
		p[i] = byte(producer*17 + sequence*31 + i)
	}
}

var errMessage = errors.New("record is not what any producer wrote")

func parseMessage(p []byte) (producer, sequence int, err error) {
	if len(p) < messageSize {
		return 0, 0, errMessage
	}
	producer, sequence = int(binary.BigEndian.Uint32(p)), int(binary.BigEndian.Uint64(p[4:]))
	for i := messageSize; i < len(p); i++ {
		if p[i] != byte(producer*17+sequence*31+i) {
			return 0, 0, errMessage
		}
	}
	return producer, sequence, nil
}

// fill appends n random batches and returns what the log must hold for them.
func fill(t *testing.T, h strategies.Handle, m *maker, n int) []segment.Batch {
	t.Helper()
	var want []segment.Batch
	for range n {
		want = append(want, put(t, h, m.next()))
	}
	return want
}

// put appends a batch and returns what the log must hold for it.
func put(t *testing.T, h strategies.Handle, b segment.Batch) segment.Batch {
	t.Helper()
	base, err := h.Append(context.Background(), b, strategies.AcksLeader)
	if err != nil {
		t.Fatal(err)
	}
	stored := segment.Batch(bytes.Clone(b))
	stored.Stamp(base)
	return stored
}

// contents reads everything from an offset to the high watermark, and checks that the batches are
// whole, sound and without gaps.
func contents(t *testing.T, h strategies.Handle, from int64) []segment.Batch {
	t.Helper()
	var batches []segment.Batch
	end := h.Offsets().HighWatermark
	buf := make([]byte, 64<<10)
	for next := from; next < end; {
		p, err := h.Read(next, buf)
		if err != nil {
			t.Fatalf("read at %d: %v", next, err)
		}
		if len(p) == 0 {
			t.Fatalf("read at %d below the high watermark %d gives nothing", next, end)
		}
		for len(p) > 0 {
			var b segment.Batch
			if b, p, err = segment.NextBatch(p); err != nil {
				t.Fatalf("read at %d: %v", next, err)
			}
			if err := b.CheckCRC(); err != nil {
				t.Fatalf("read at %d: %v", next, err)
			}
			if b.BaseOffset() != next {
				t.Fatalf("batch has offset %d, want %d", b.BaseOffset(), next)
			}
			next = b.NextOffset()
			batches = append(batches, bytes.Clone(b))
		}
	}
	return batches
}

func sameBatches(t *testing.T, got, want []segment.Batch) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("log holds %d batches, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("batch %d at offset %d is not what was appended", i, want[i].BaseOffset())
		}
	}
}

// patience is how long a test waits for what must happen before it says that it hangs.
const patience = 20 * time.Second

// finishes fails the test, with all stacks, if done is not closed in time.
func finishes(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s hangs\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

// eventually polls a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come about", what)
		}
	}
}

// inBackground runs a function and returns a channel that is closed when it has returned.
func inBackground(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// waiting and appending count the goroutines that are blocked in Wait and Append of a handle.
func waiting() int   { return blockedIn("client).Wait(") + blockedIn("rawHandle).Wait(") }
func appending() int { return blockedIn("Handle).Append(") }

func blockedIn(function string) int {
	stacks := make([]byte, 4<<20)
	n := 0
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		state, _, _ := strings.Cut(g, "\n")
		if !strings.Contains(state, "[run") && strings.Contains(g, function) {
			n++
		}
	}
	return n
}
