package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/results"
	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// scratchDir is a directory in memory where there is one, so that tests do not wait for a disk.
func scratchDir(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(sharedMemory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(sharedMemory, "tailrace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// sustained is a load that rolls all the time, and whose log is trimmed behind its consumers.
func sustained() workload.Workload {
	w := tinyTail()
	w.Name = "sustained"
	w.RecordSize, w.Partitions, w.FetchBytes = 1000, 2, 32<<10
	w.Subscriptions, w.Consumers = 1, 2
	w.SegmentSize, w.Backlog = 64<<10, 256<<10
	w.Ramp, w.Duration = 20*time.Millisecond, 200*time.Millisecond
	return w
}

// segmentsLeft counts the segments that a run has on its storage.
func segmentsLeft(t *testing.T, r *run) (n int) {
	t.Helper()
	for i := range r.partitions {
		bases, err := segment.Bases(left(t, r, i))
		if err != nil {
			t.Fatal(err)
		}
		n += len(bases)
	}
	return n
}

// left is the storage of a partition whose run is over.
func left(t *testing.T, r *run, partition int) segment.Storage {
	t.Helper()
	if r.spec.Dir == "" {
		return r.partitions[partition].storage
	}
	d, err := segment.OpenDirReadOnly(fmt.Sprintf("%s/%04d", r.spec.Dir, partition))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestSustained(t *testing.T) {
	for i, strategy := range strategies.List {
		if strategy.Kind == strategies.Control {
			continue
		}
		t.Run(strategy.Name, func(t *testing.T) {
			spec := specOf(sustained(), strategy.Name, "")
			if i%2 == 0 {
				spec.Dir = filepath.Join(scratchDir(t), "data")
			}
			spec.Workload.Prefill = int64(i%3) * 256 << 10
			r := wrap(t, spec, func(h strategies.Handle) strategies.Handle { return h })
			run := &ends(t, r).Run
			if !run.Valid() {
				t.Fatal(run.Verification.Error)
			}
			wantFiniteMetrics(t, run)
			v, s := run.Verification, run.Sustained
			if v.RecordsAcked == 0 || v.RecordsWalked != v.RecordsAcked {
				t.Errorf("%d records acknowledged, %d walked", v.RecordsAcked, v.RecordsWalked)
			}
			switch {
			case s == nil:
				t.Fatal("the run does not say what it held")
			case s.Trimmed == 0 || s.Verified == 0 || s.Verified > v.RecordsWalked:
				t.Errorf("%d segments trimmed, %d of %d records verified before", s.Trimmed, s.Verified, v.RecordsWalked)
			case s.Held < 0 || s.Held > 1:
				t.Errorf("producers were held for %v of the window", s.Held)
			}
			if run.ByteBound {
				t.Error("a sustained run has no byte bound")
			}
			for name, r := range map[string]results.Range{"bytes": s.Bytes, "files": s.Files, "maps": s.Maps, "RSS": s.RSS} {
				if r.Most < max(r.First, r.Last) || r.First < 0 || r.Last < 0 || r.Most == 0 {
					t.Errorf("%s: %+v", name, r)
				}
			}
			// What was trimmed is gone, and all that was written is accounted for. Segments and batches have no
			// more bytes than they may, so the estimate is a little above what there is.
			written := v.RecordsAcked * int64(workload.BatchBytes(&spec.Workload)) / spec.Workload.SegmentSize
			if left := int64(segmentsLeft(t, r)); left+s.Trimmed < written*9/10 || left >= s.Trimmed {
				t.Errorf("%d segments written, %d left and %d trimmed", written, left, s.Trimmed)
			}
		})
	}
}

// slow is a handle whose reads take their time.
type slow struct{ strategies.Handle }

func (h slow) Read(offset int64, buf []byte) ([]byte, error) {
	time.Sleep(2 * time.Millisecond)
	return h.Handle.Read(offset, buf)
}

// Producers wait for consumers that are slow, and what is on the storage stays bounded.
func TestSustainedHoldsProducers(t *testing.T) {
	for _, dir := range []string{"", scratchDir(t)} {
		spec := specOf(sustained(), "mutex", "")
		if dir != "" {
			spec.Dir = filepath.Join(dir, "data")
		}
		spec.Workload.FetchBytes = 8 << 10
		r := wrap(t, spec, func(h strategies.Handle) strategies.Handle { return slow{h} })
		run := &ends(t, r).Run
		if !run.Valid() {
			t.Fatal(run.Verification.Error)
		}
		if s := run.Sustained; !(s.Held > 0 && s.Held <= 1) || s.Bytes.Most < spec.Workload.Backlog/2 {
			t.Errorf("held for %v of the window, at most %d bytes stored", s.Held, s.Bytes.Most)
		}
		if r.holding.Load() {
			t.Error("producers are held after the run")
		}
	}
}

// The keeper holds producers while too much is unread, and lets go once it is read and trimmed.
func TestKeeperHolds(t *testing.T) {
	w := sustained()
	w.Partitions, w.Consumers = 1, 1
	k, producer, c := kept(t, w, "")
	turn := func() bool {
		if err := k.turn(); err != nil {
			t.Fatal(err)
		}
		return k.run.holding.Load()
	}
	if turn() {
		t.Error("nothing is unread, and the producers are held")
	}
	appendBytes(t, producer, w.Backlog/2)
	if turn() {
		t.Error("half of the backlog is unread, and the producers are held")
	}
	appendBytes(t, producer, w.Backlog)
	if !turn() {
		t.Error("more than the backlog is unread, and the producers are not held")
	}
	readAll(t, c)
	turn() // trims
	if turn() {
		t.Error("all is read and trimmed, and the producers are held")
	}
	if n := segmentsLeft(t, k.run); n > 2 {
		t.Errorf("%d segments are left of what is read", n)
	}
}

// kept is a sustained run under way, whose keeper is the test's, with a producer and a consumer of it.
func kept(t *testing.T, w workload.Workload, dir string) (*keeper, *worker, *worker) {
	t.Helper()
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := newRun(specOf(w, "mutex", dir))
	if err != nil {
		t.Fatal(err)
	}
	r.ctx = t.Context()
	workers, _ := r.workers()
	r.placeReaders(workers)
	r.closing.Store(int64(time.Hour))
	for _, worker := range workers {
		worker.boundary = int64(time.Hour)
	}
	k := newKeeper(r)
	t.Cleanup(func() {
		for _, p := range r.partitions {
			_ = p.log.Close()
		}
	})
	return k, workers[0], workers[len(workers)-1]
}

func appendBytes(t *testing.T, w *worker, n int64) {
	t.Helper()
	for until := w.written + n; w.written < until; {
		if _, err := w.append(w.run.clock.now(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func readAll(t *testing.T, w *worker) {
	t.Helper()
	c := w.clients[0]
	for n := 1; n > 0; {
		var err error
		if n, err = w.read(c, c.position, 0, nil, true); err != nil {
			t.Fatal(err)
		}
	}
}

// flip changes a byte of a segment that nothing but its checksum shows: of the producer id of a batch.
func flip(storage segment.Storage, base int64) error {
	file, err := storage.OpenLog(segment.Name(base), false)
	if err != nil {
		return err
	}
	defer file.Close()
	const producerID = 50
	return file.Pwrite([]byte{1}, producerID)
}

// A segment is verified before it is trimmed: a damaged one is told, and stays.
func TestKeeperVerifiesBeforeItTrims(t *testing.T) {
	for _, dir := range []string{"", scratchDir(t)} {
		w := sustained()
		w.Partitions, w.Consumers = 1, 1
		if dir != "" {
			dir = filepath.Join(dir, "data")
		}
		k, producer, c := kept(t, w, dir)
		appendBytes(t, producer, 5*w.SegmentSize)
		readAll(t, c)
		storage := k.run.partitions[0].storage
		bases, err := segment.Bases(storage)
		if err != nil || len(bases) < 5 {
			t.Fatalf("segments at %v, %v", bases, err)
		}
		if err := flip(storage, bases[2]); err != nil {
			t.Fatal(err)
		}
		wantViolation(t, k.turn(), segment.Name(bases[2]), "checksum")
		if after, err := segment.Bases(storage); err != nil || !bytes.Contains([]byte(fmt.Sprint(after)), []byte(fmt.Sprint(bases[2]))) {
			t.Errorf("segments at %v after the damage in %d was found, %v", after, bases[2], err)
		}
	}
}

// The same in a run: what was damaged under the load is found before it is trimmed.
func TestSustainedFindsDamage(t *testing.T) {
	spec := specOf(sustained(), "actor", filepath.Join(scratchDir(t), "data"))
	spec.Workload.Prefill, spec.Workload.Duration = 1<<20, time.Minute
	var opened atomic.Int64
	var r *run
	r = wrap(t, spec, func(h strategies.Handle) strategies.Handle {
		// Each partition is prefilled through one handle; then the clients get theirs.
		if opened.Add(1) == int64(spec.Workload.Partitions)+1 {
			if err := flip(r.partitions[1].storage, 0); err != nil {
				t.Error(err)
			}
		}
		return h
	})
	o := ends(t, r)
	if text := o.Run.Verification.Error; !strings.Contains(text, segment.Name(0)) || !strings.Contains(text, "checksum") {
		t.Errorf("the run says %q, want the damage of %s", text, segment.Name(0))
	}
	if _, err := left(t, r, 1).Size(segment.Name(0)); err != nil {
		t.Errorf("the damaged segment is gone: %v", err)
	}
}

// A segment that was verified may still be there when the run is over: a log may keep what it was told to trim
// while a roll is under way.
func TestWalkPassesOverVerifiedSegments(t *testing.T) {
	p, bases, ledgers, producer := verifiedAhead(t)
	if err := p.walk.finish(p.storage, ledgers); err != nil {
		t.Error(err)
	}
	if records := ledgers[producer].records; p.walk.records != records || p.walk.ahead != bases[2] {
		t.Errorf("walked %d of %d records, %d of them ahead; want %d ahead", p.walk.records, records, p.walk.ahead, bases[2])
	}
}

// A segment that lies among others is told, although there are some that were verified.
func TestWalkFindsOverlapBehindVerifiedSegments(t *testing.T) {
	p, bases, ledgers, _ := verifiedAhead(t)
	file, err := p.storage.OpenLog(segment.Name(bases[3]+1), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Pwrite(make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	wantViolation(t, p.walk.finish(p.storage, ledgers), segment.Name(bases[3]+1))
}

// verifiedAhead is a partition of several segments, of which the keeper has verified two, and what was
// acknowledged to its producer.
func verifiedAhead(t *testing.T) (p *partition, bases []int64, ledgers []ledger, producer uint32) {
	t.Helper()
	w := sustained()
	w.Partitions, w.Consumers = 1, 1
	k, worker, _ := kept(t, w, "")
	appendBytes(t, worker, 4*w.SegmentSize)
	p = k.run.partitions[0]
	bases, err := segment.Bases(p.storage)
	if err != nil || len(bases) < 5 {
		t.Fatalf("segments at %v, %v", bases, err)
	}
	for _, base := range bases[:2] {
		if err := p.walk.segment(p.storage, base); err != nil {
			t.Fatal(err)
		}
	}
	ledgers = make([]ledger, len(p.ledgers))
	ledgers[worker.id] = worker.clients[0].ledger
	return p, bases, ledgers, worker.id
}
