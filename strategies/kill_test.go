package strategies_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace/segment"
	"tailrace/strategies"
)

// childVariable is set in the environment of a process that is started to be killed: it has the arguments
// of runChild.
const childVariable = "TAILRACE_TEST_CHILD"

// childProducers is the number of producers of a child. That of round n has the identities from
// n·childProducers on.
const childProducers = 6

var childOptions = strategies.Options{SegmentSize: 256 << 10, IndexInterval: 512}

// note is what a child tells, in one write that a kill can't split: an acknowledgement, or a trim.
type note struct {
	Kind     int64
	Offset   int64 // of the acknowledged batch, or of the trim
	Producer int64
	Sequence int64 // of the batch's first record
}

const (
	acknowledged int64 = iota
	trimming           // before the call
	trimmedTo          // after it: the start
)

func (n note) tell() error {
	p, err := binary.Append(nil, binary.BigEndian, n)
	if err == nil {
		_, err = os.Stdout.Write(p)
	}
	return err
}

// runChild appends, and tells of it, until it is killed or nobody listens any more. Its arguments are a
// strategy, a directory, the number of the round, and what it also does: sync, trim.
func runChild(arguments string) error {
	var name, dir, also string
	var round int
	if _, err := fmt.Sscan(arguments, &name, &dir, &round, &also); err != nil {
		return err
	}
	s, err := strategies.Find(name)
	if err != nil {
		return err
	}
	o := childOptions
	if strings.Contains(also, "sync") {
		o.Sync = segment.EveryBatch()
	}
	if o.Storage, err = segment.OpenDir(dir); err != nil {
		return err
	}
	log, err := s.Open(o)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, childProducers+1)
	for i := range childProducers {
		wg.Go(func() { errs[i] = childProduce(log, round*childProducers+i) })
	}
	if strings.Contains(also, "trim") {
		wg.Go(func() { errs[childProducers] = childTrim(log) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func childProduce(log strategies.Log, id int) error {
	h, m := log.NewHandle(), newMaker(id, 270)
	for {
		sequence := m.sequence
		b := m.make(1+m.random.IntN(3), messageSize+m.random.IntN(20_000), int64(sequence))
		base, err := h.Append(context.Background(), b, strategies.AcksLeader)
		if err == nil {
			err = note{acknowledged, base, int64(id), int64(sequence)}.tell()
		}
		if err != nil {
			return err
		}
	}
}

func childTrim(log strategies.Log) error {
	for h := log.NewHandle(); ; {
		before := h.Offsets().HighWatermark - 100
		if before <= h.Offsets().Start {
			if err := h.Wait(context.Background(), h.Offsets().HighWatermark); err != nil {
				return err
			}
			continue
		}
		err := note{Kind: trimming, Offset: before}.tell()
		if err == nil {
			err = log.Trim(before)
		}
		if err == nil {
			err = note{Kind: trimmedTo, Offset: h.Offsets().Start}.tell()
		}
		if err != nil {
			return err
		}
	}
}

// killed is a directory in which one process after the other is killed.
type killed struct {
	f      *fixture
	random *rand.Rand
	acked  map[int64]note // by offset
	// A trim had come to completed, and none had gone beyond requested.
	completed, requested int64
	cuts                 int
}

// A process that is killed with parallel appends under way loses nothing that it has acknowledged, and the
// next one goes on where it was.
func TestKill(t *testing.T) {
	forEachWith(t, childOptions, isCore, func(f *fixture) {
		if !f.onDir() {
			return
		}
		if err := f.options.Storage.Close(); err != nil { // it has the lock
			f.t.Fatal(err)
		}
		f.opened = true
		k := &killed{f: f, random: rand.New(rand.NewPCG(271, 0)), acked: map[int64]note{}}
		rounds := 6
		if f.strategy.Name == "atomics" { // the only one whose writes can leave a hole
			rounds = 20
		}
		for round := range rounds {
			also := []string{"nothing", "sync", "trim", "sync,trim"}[round%4]
			k.runAndKill(round, also)
			k.check(round, also)
		}
		f.t.Logf("in %d of %d rounds something was cut", k.cuts, rounds)
	})
}

func (k *killed) runAndKill(round int, also string) {
	t := k.f.t
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", childVariable, k.f.strategy.Name, k.f.dir, round, also))
	var complaints strings.Builder
	child.Stderr = &complaints
	notes, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	victim := k.random.IntN(100)
	for n := 0; ; n++ {
		var told note
		err := binary.Read(notes, binary.BigEndian, &told)
		if err == io.EOF {
			if n <= victim {
				t.Errorf("the child ends by itself: %s", &complaints)
			}
			break
		}
		if err != nil {
			t.Errorf("reading what the child tells: %v", err)
			break
		}
		k.hear(told)
		if n == victim {
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := child.Wait(); !strings.Contains(fmt.Sprint(err), "killed") || complaints.Len() > 0 {
		t.Fatalf("the child ends with %v: %s", err, &complaints)
	}
}

func (k *killed) hear(n note) {
	switch n.Kind {
	case acknowledged:
		if other, ok := k.acked[n.Offset]; ok {
			k.f.t.Errorf("offset %d is acknowledged as %+v and %+v", n.Offset, other, n)
		}
		k.acked[n.Offset] = n
	case trimming:
		k.requested = max(k.requested, n.Offset)
	case trimmedTo:
		k.completed = max(k.completed, n.Offset)
	}
}

// check opens what a kill has left.
func (k *killed) check(round int, also string) {
	t := k.f.t
	t.Helper()
	var found segment.Recovery
	k.f.options.Recovered = func(r segment.Recovery) { found = r }
	log, err := k.f.tryOpen()
	if err != nil {
		t.Fatal(err)
	}
	h := log.NewHandle()
	o := h.Offsets()
	if o.Start < k.completed || o.Start > k.requested {
		t.Errorf("round %d: the log starts at %d after trims up to %d, requested up to %d", round, o.Start, k.completed, k.requested)
	}
	stored := map[int64]note{}
	s := newStream((round+1)*childProducers, true)
	s.next = o.Start
	for _, b := range contents(t, h, o.Start) {
		if err := s.check(b); err != nil { // none twice, and each producer's in order
			t.Fatalf("round %d: %v", round, err)
		}
		r := b.Records()
		r.Next()
		producer, sequence, _ := parseMessage(r.Record.Value)
		stored[b.BaseOffset()] = note{acknowledged, b.BaseOffset(), int64(producer), int64(sequence)}
	}
	for offset, n := range k.acked {
		if offset < o.Start {
			delete(k.acked, offset)
		} else if stored[offset] != n {
			t.Errorf("round %d (%s): %+v was acknowledged, and %+v is in the log of %+v", round, also, n, stored[offset], o)
		}
	}
	k.checkReport(round, found, o)
	if strings.Contains(also, "sync") && len(k.acked) > 0 {
		// The recovery point lies in mapped memory, which outlives the process.
		if last := slices.Max(slices.Collect(maps.Keys(k.acked))); found.Point.Offset <= last {
			t.Errorf("round %d: recovery point %+v, with a sync for the batch at %d", round, found.Point, last)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkReport compares what Open says of the recovery with what is there.
func (k *killed) checkReport(round int, found segment.Recovery, o strategies.Offsets) {
	t := k.f.t
	t.Helper()
	if found.Clean || found.Scanned == 0 || found.Point.Offset > o.HighWatermark {
		t.Errorf("round %d: %+v of a log of %+v", round, found, o)
	}
	cut := found.Cut
	if cut == nil {
		return
	}
	k.cuts++
	size, err := k.f.options.Storage.Size(cut.File)
	if err != nil || size != cut.Position || cut.Offset != o.HighWatermark || cut.Bytes <= 0 || cut.Cause == nil {
		t.Errorf("round %d: %v, in a log of %+v; the file has %d bytes, %v", round, cut, o, size, err)
	}
}
