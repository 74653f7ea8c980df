package strategies_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tailrace/segment"
	"tailrace/strategies"
)

// Compare the models with
//
//	go test -run '^$' -bench . -benchtime 200000x -count 6 ./strategies > new.txt
//	go tool benchstat -col "/strategy@(mutex rwmutex atomics actor raw null)" new.txt
//
// ns/op is wall time over the operations of all goroutines; the latencies are what one goroutine waits
// for one operation, in a closed loop. Appends are 1 KiB; a read gives what fits its buffer.

const (
	benchRecord  = 1024 - 80 // value size that makes a batch of about 1 KiB
	benchPrefill = 16 << 10  // batches that reads draw from
	// benchRound is the number of operations after which a benchmark goes on with a fresh log, so that it
	// never holds more than about 512 MiB, however many it is asked for.
	benchRound = 512 << 10
	// benchBuffer lets a random read be one pread: an index interval and a batch, with room to spare.
	benchBuffer = 6 << 10
)

func TestMain(m *testing.M) {
	if arguments := os.Getenv(childVariable); arguments != "" {
		if err := runChild(arguments); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if f := flag.Lookup("test.bench"); f != nil && f.Value.String() != "" {
		for _, role := range []string{"produce", "consume"} {
			fmt.Printf("Unit %s-p50-ns better=lower\nUnit %s-p99-ns better=lower\nUnit %s-op/s better=higher\n", role, role, role)
		}
	}
	os.Exit(m.Run())
}

func BenchmarkAppend(b *testing.B) {
	for _, producers := range []int{1, 8, 32} {
		benchEach(b, fmt.Sprintf("producers=%d", producers), bench{workers: producers, produce: 100})
	}
}

// BenchmarkAppendSynced is on the disk of the temporary directory, fdatasync before every acknowledgement.
func BenchmarkAppendSynced(b *testing.B) {
	for _, producers := range []int{1, 32} {
		benchOn(b, "disk", fmt.Sprintf("producers=%d", producers), bench{workers: producers, produce: 100, sync: segment.EveryBatch()})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, consumers := range []int{1, 8} {
		benchEach(b, fmt.Sprintf("consumers=%d", consumers), bench{workers: consumers})
	}
}

func BenchmarkMixed(b *testing.B) {
	benchEach(b, "workers=8/produce=10pct", bench{workers: 8, produce: 10})
	benchEach(b, "workers=8/produce=50pct", bench{workers: 8, produce: 50})
}

// benchEach runs a load on both storages that do not wait for a disk.
func benchEach(b *testing.B, name string, load bench) {
	for _, storage := range []string{"tmpfs", "heap"} {
		benchOn(b, storage, name, load)
	}
}

func benchOn(b *testing.B, storage, name string, load bench) {
	for _, s := range strategies.List {
		if s.Faulty {
			continue
		}
		b.Run(fmt.Sprintf("strategy=%s/%s/storage=%s", s.Name, name, storage), func(b *testing.B) {
			b.ReportAllocs()
			b.StopTimer()
			load.strategy, load.storage = s, storage
			load.run(b)
		})
	}
}

// bench is a closed loop of workers, each of which draws its operations.
type bench struct {
	strategy strategies.Strategy
	workers  int
	produce  int // percent of the operations that append
	sync     segment.SyncPolicy
	storage  string
}

// benchWorker is one goroutine's private share, merged when all have ended.
type benchWorker struct {
	random           *rand.Rand
	batch            segment.Batch
	buf              []byte
	produce, consume *hdrhistogram.Histogram
	err              error
}

func (l bench) run(b *testing.B) {
	workers := make([]*benchWorker, l.workers)
	for i := range workers {
		workers[i] = &benchWorker{
			random:  rand.New(rand.NewPCG(1, uint64(i))),
			batch:   newMaker(i, 1).make(1, benchRecord, 0),
			buf:     make([]byte, benchBuffer),
			produce: hdrhistogram.New(1, int64(time.Minute), 3),
			consume: hdrhistogram.New(1, int64(time.Minute), 3),
		}
	}
	for left := b.N; left > 0; left -= benchRound {
		l.round(b, workers, min(left, benchRound))
	}
	all := workers[0]
	for _, w := range workers[1:] {
		all.produce.Merge(w.produce)
		all.consume.Merge(w.consume)
	}
	report(b, "produce", all.produce)
	report(b, "consume", all.consume)
}

func report(b *testing.B, role string, h *hdrhistogram.Histogram) {
	if h.TotalCount() == 0 {
		return
	}
	b.ReportMetric(float64(h.ValueAtQuantile(50)), role+"-p50-ns")
	b.ReportMetric(float64(h.ValueAtQuantile(99)), role+"-p99-ns")
	b.ReportMetric(float64(h.TotalCount())/b.Elapsed().Seconds(), role+"-op/s")
}

// round spreads n operations over the workers, on a log of its own. Only the operations are timed.
func (l bench) round(b *testing.B, workers []*benchWorker, n int) {
	options := strategies.Options{Storage: segment.NewHeap(), Sync: l.sync}
	if l.storage != "heap" {
		path, err := os.MkdirTemp(l.parent(b), "tailrace-bench-")
		if err != nil {
			b.Fatal(err)
		}
		defer os.RemoveAll(path)
		options.Storage = openDir(b, path)
	}
	log, err := l.strategy.Open(options)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	if l.produce < 100 {
		prefill(b, log)
	}
	// As in a program that can be stopped: whatever a model pays for a context, all pay.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := make(chan time.Time)
	var ready, done sync.WaitGroup
	for i, w := range workers {
		share := n / len(workers)
		if i < n%len(workers) {
			share++
		}
		h := log.NewHandle()
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			epoch := <-start
			w.err = l.work(ctx, h, w, share, epoch)
		})
	}
	ready.Wait()
	b.StartTimer()
	epoch := time.Now()
	for range workers {
		start <- epoch
	}
	done.Wait()
	b.StopTimer()
	for _, w := range workers {
		if w.err != nil {
			b.Fatal(w.err)
		}
	}
}

func (l bench) work(ctx context.Context, h strategies.Handle, w *benchWorker, n int, epoch time.Time) error {
	for range n {
		if w.random.IntN(100) < l.produce {
			begin := time.Since(epoch)
			_, err := h.Append(ctx, w.batch, strategies.AcksLeader)
			took := time.Since(epoch) - begin
			if err != nil {
				return err
			}
			if err := w.produce.RecordValue(max(1, int64(took))); err != nil {
				return err
			}
			continue
		}
		offset := w.random.Int64N(benchPrefill)
		begin := time.Since(epoch)
		p, err := h.Read(offset, w.buf)
		took := time.Since(epoch) - begin
		if err == nil && !l.strategy.StoresNothing && segment.Batch(p).BaseOffset() != offset {
			err = fmt.Errorf("read at %d gives offset %d", offset, segment.Batch(p).BaseOffset())
		}
		if err != nil {
			return err
		}
		if err := w.consume.RecordValue(max(1, int64(took))); err != nil {
			return err
		}
	}
	return nil
}

func prefill(b *testing.B, log strategies.Log) {
	h, batch := log.NewHandle(), newMaker(0, 1).make(1, benchRecord, 0)
	for range benchPrefill {
		if _, err := h.Append(context.Background(), batch, strategies.AcksLeader); err != nil {
			b.Fatal(err)
		}
	}
	if err := h.Close(); err != nil { // raw shows a log once its handle is closed
		b.Fatal(err)
	}
}

// parent is in memory where it can be and is asked for, since a disk's write-back would be measured otherwise.
func (l bench) parent(b *testing.B) string {
	if info, err := os.Stat("/dev/shm"); l.storage == "tmpfs" && err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return b.TempDir()
}
