package harness

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// demanded are loads of every kind that counts differently.
func demanded() map[string]workload.Workload {
	tail := tinyTail()
	tail.Partitions, tail.Consumers, tail.Subscriptions = 5, 40, 3
	paced := tail
	paced.ProduceRate, paced.ConsumeRate = 1000, 1000
	replicated := tail
	replicated.Replicas, replicated.Acks = 2, workload.AcksAll
	mix := tinyMix()
	mix.Partitions = 4
	pacedMix := mix
	pacedMix.Rate = 1000
	random := tinyMix()
	random.Workers, random.Producers, random.Consumers, random.Partitions = 0, 2, 7, 3
	thinking := random
	thinking.Think = time.Millisecond
	catchUp := random
	catchUp.Pattern, catchUp.Subscriptions = workload.CatchUp, 2
	synced := tail
	synced.Sync = "10ms"
	long := sustained()
	return map[string]workload.Workload{"tail": tail, "paced": paced, "replicated": replicated, "mix": mix, "paced mix": pacedMix,
		"random": random, "thinking": thinking, "catch-up": catchUp, "synced": synced, "sustained": long}
}

// What is counted of a load is what its run then makes: goroutines, handles, descriptors, tallies and buffers.
func TestDemandIsWhatIsMade(t *testing.T) {
	for name, load := range demanded() {
		for _, strategy := range []string{"mutex", "actor"} {
			t.Run(name+"/"+strategy, func(t *testing.T) {
				d := demandOf(&load)
				before := runtime.NumGoroutine()
				files := openFiles(t)
				var handles int
				var once sync.Once
				goroutines, opened := 0, 0
				spec := specOf(load, strategy, filepath.Join(scratchDir(t), "data"))
				r := wrap(t, spec, func(h strategies.Handle) strategies.Handle {
					handles++
					return &seenHandle{Handle: h, seen: func() {
						once.Do(func() { goroutines, opened = runtime.NumGoroutine()-before, openFiles(t)-files })
					}}
				})
				if err := r.prefill(); err != nil {
					t.Fatal(err)
				}
				handles, once = 0, sync.Once{} // that of the prefill is closed again
				workers, bodies := r.workers()
				if len(bodies) != d.workers()+d.followers || int64(handles) != d.clients || len(r.pausers) != d.timers {
					t.Errorf("%d goroutines, %d handles, %d timers; counted %d, %d, %d", len(bodies), handles, len(r.pausers),
						d.workers()+d.followers, d.clients, d.timers)
				}
				if got := talliesIn(r, workers); got+openIntervals*int64(len(notNil(newPart(&load, roleBoth)))) != d.tallies {
					t.Errorf("%d tallies, counted %d with those of sums", got, d.tallies)
				}
				if err := r.catchUp(r.followers); err != nil {
					t.Fatal(err)
				}
				once = sync.Once{}
				r.load(workers, bodies)
				const own = 3 // collector, keeper, and the wait for the producers
				if goroutines < len(bodies) || goroutines > d.goroutines(load.Partitions)+own {
					t.Errorf("%d goroutines ran, counted %d and %d", goroutines, d.goroutines(load.Partitions), own)
				}
				if most := d.files(&load, Place{Kind: StorageTmpfs}, false); int64(opened) > most || opened < d.timers+load.Partitions {
					t.Errorf("%d files were open, counted %d", opened, most)
				}
				for _, w := range workers {
					r.settle(w)
				}
				for _, p := range r.pausers {
					p.close()
				}
				for _, p := range r.partitions {
					if err := p.log.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// seenHandle tells when something is appended or read.
type seenHandle struct {
	strategies.Handle
	seen func()
}

func (h *seenHandle) Append(ctx context.Context, b segment.Batch, acks strategies.Acks) (int64, error) {
	h.seen()
	return h.Handle.Append(ctx, b, acks)
}

func (h *seenHandle) Read(offset int64, buf []byte) ([]byte, error) {
	h.seen()
	return h.Handle.Read(offset, buf)
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("descriptors can't be counted here: %v", err)
	}
	return len(names)
}

func notNil(p *part) (found []*tally) {
	for _, t := range p.tallies() {
		if t != nil {
			found = append(found, t)
		}
	}
	return found
}

// talliesIn counts those of a run before its load.
func talliesIn(r *run, workers []*worker) (n int64) {
	for _, w := range workers {
		n += int64(len(notNil(w.part)))
		if w.checks != nil {
			n++
		}
	}
	for _, spare := range r.collector.spare {
		for range len(spare) {
			p := <-spare
			n += int64(len(notNil(p)))
			spare <- p
		}
	}
	return n
}

// The memory that is counted is an upper bound of what a run makes before its load, and not far from it.
func TestDemandOfMemory(t *testing.T) {
	for name, load := range demanded() {
		load.Producers, load.Workers = 20*load.Producers, 20*load.Workers
		load.Partitions = 30
		load.MaxBytes = math.MaxInt64 / 2
		if load.Prefill > 0 {
			load.Prefill = 8 << 20
		}
		for _, strategy := range []string{"atomics"} { // whose logs are the largest
			before := allocated()
			r, err := newRun(specOf(load, strategy, filepath.Join(scratchDir(t), "data")))
			if err != nil {
				t.Fatal(err)
			}
			workers, _ := r.workers()
			made := allocated() - before
			if d := demandOf(&load); made > d.bytes || made < d.bytes/6 {
				t.Errorf("%s, %s: %d bytes were made, counted %d", name, strategy, made, d.bytes)
			}
			for _, w := range workers {
				r.settle(w)
			}
			for _, p := range r.pausers {
				p.close()
			}
			for _, p := range r.partitions {
				if err := p.log.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// No strategy's handle takes more than what is counted for a client, nor does any log.
func TestDemandOfClients(t *testing.T) {
	const clients = 2000
	load := tinyTail()
	for _, strategy := range strategies.List {
		before := allocated()
		r, err := newRun(specOf(load, strategy.Name, ""))
		if err != nil {
			t.Fatal(err)
		}
		opened := allocated()
		for range clients {
			r.client(r.partitions[0], roleProduce, false)
		}
		made := allocated() - opened
		if made > clients*clientBytes || opened-before > logBytes+load.SegmentSize {
			t.Errorf("%s: %d bytes a client, and %d bytes a log", strategy.Name, made/clients, opened-before)
		}
		if err := r.partitions[0].log.Close(); err != nil {
			t.Error(err)
		}
	}
}

// allocated is the bytes of all that was ever allocated.
func allocated() int64 {
	_, bytes := allocations()
	return bytes
}

// Very many handles are made when they are used, each once, and the run is verified all the same.
func TestHandlesOfManyAreMadeWhenUsed(t *testing.T) {
	load := tinyTail()
	load.Producers, load.Partitions, load.Consumers, load.Subscriptions = 2000, 40, 1, 1
	load.ProduceRate, load.SegmentSize = 20000, 64<<10
	load.MaxBytes = load.Bound()
	d := demandOf(&load)
	if !d.lazily || d.clients >= int64(load.Producers*load.Partitions) {
		t.Fatalf("%d handles are counted, lazily %t", d.clients, d.lazily)
	}
	var handles sync.Map
	made := func() (n int64) {
		handles.Range(func(any, any) bool { n++; return true })
		return n
	}
	r := wrap(t, specOf(load, "actor", ""), func(h strategies.Handle) strategies.Handle {
		handles.Store(h, true)
		return h
	})
	o := ends(t, r)
	if v := o.Run.Verification; v.Error != "" || v.RecordsAcked != v.RecordsWalked || v.RecordsAcked == 0 {
		t.Errorf("%+v", v)
	}
	if got := made(); got > d.clients || got < int64(load.Partitions) || got > o.Run.Verification.RecordsAcked+int64(load.Partitions) {
		t.Errorf("%d handles were made for %d appends, counted %d", got, o.Run.Verification.RecordsAcked, d.clients)
	}
}

// The sizes of loads of OpenMessaging Benchmark: what grows with producers times partitions, and not with consumers times
// partitions.
func TestDemandOfManyTopics(t *testing.T) {
	for _, c := range []struct{ topics, producers, consumers, subscriptions, goroutines, gigabytes int }{
		{100, 4, 4, 1, 500, 1},
		{1000, 4, 4, 1, 5000, 5},
		{1, 10000, 10000, 1, 10001, 10},
		{1000, 1, 100, 100, 101000, 70},
	} {
		w := workload.Default()
		w.Partitions, w.Producers, w.Consumers, w.Subscriptions = c.topics, c.topics*c.producers, c.topics*c.consumers, c.subscriptions
		w.ProduceRate, w.Ramp, w.Duration = 500_000, 20*time.Millisecond, 100*time.Millisecond
		w.MaxBytes = w.Bound()
		d := demandOf(&w)
		if d.workers() != c.goroutines || d.bytes > int64(c.gigabytes)<<30 || d.bytes < int64(c.gigabytes)<<30/8 {
			t.Errorf("%+v: %d goroutines, %d bytes", c, d.workers(), d.bytes)
		}
	}
}

// A load that is too large is refused for a reason that names what it really starts, and what to lower.
func TestTooLargeLoadsAreRefused(t *testing.T) {
	memory := availableMemory()
	if memory == 0 {
		t.Skip("available memory is not known here")
	}
	w := tinyTail()
	w.Partitions, w.FetchBytes, w.SegmentSize = 1000, 8<<20, 16<<20
	w.Subscriptions = int(min(memory/(8<<20)/1000+1, 10000))
	w.Consumers = w.Subscriptions
	d := demandOf(&w)
	err := checkResources(&w, Place{Kind: StorageDisk}, false)
	if err == nil {
		t.Fatalf("%d bytes fit in %d", d.bytes, memory)
	}
	for _, part := range []string{fmt.Sprintf("%d goroutines", d.goroutines(w.Partitions)), "--fetch-bytes", "1000 logs"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "--scale") {
			t.Errorf("%v: want it to say %q", err, part)
		}
	}
	w.Source = "file.yaml"
	if err := checkResources(&w, Place{Kind: StorageDisk}, false); !strings.Contains(err.Error(), "--scale") || Fits(&w) {
		t.Errorf("of a file: %v", err)
	}
}
