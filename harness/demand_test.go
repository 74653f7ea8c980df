package harness

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
				dir := filepath.Join(scratchDir(t), "data")
				handles := 0
				r := wrap(t, specOf(load, strategy, dir), func(h strategies.Handle) strategies.Handle {
					handles++
					return h
				})
				if err := r.prefill(); err != nil {
					t.Fatal(err)
				}
				handles = 0 // that of the prefill is closed again
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
				r.load(workers, atOnce(bodies, func() {
					const own = 4 // collector, keeper, and the waits for the producers and for all
					if n := runtime.NumGoroutine() - before; n < len(bodies) || n > d.goroutines(load.Partitions)+own {
						t.Errorf("%d goroutines ran, counted %d and %d", n, d.goroutines(load.Partitions), own)
					}
					if n, most := openFiles(t, dir), int64((1+logFiles)*load.Partitions); n < int64(load.Partitions) || n > most {
						t.Errorf("%d files were open, counted %d", n, most)
					}
				}))
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

// openFiles counts the descriptors of this process below a directory.
func openFiles(t *testing.T, dir string) (n int64) {
	t.Helper()
	const descriptors = "/proc/self/fd"
	names, err := os.ReadDir(descriptors)
	if err != nil {
		t.Skipf("descriptors can't be counted here: %v", err)
	}
	for _, name := range names {
		if path, err := os.Readlink(filepath.Join(descriptors, name.Name())); err == nil && strings.HasPrefix(path, dir) {
			n++
		}
	}
	return n
}

// atOnce calls look when all of the goroutines of a load run, before any of them does anything.
func atOnce(bodies []func() error, look func()) []func() error {
	var running sync.WaitGroup
	running.Add(len(bodies))
	looked := make(chan struct{})
	waiting := make([]func() error, len(bodies))
	for i, body := range bodies {
		waiting[i] = func() error {
			running.Done()
			if i == 0 {
				running.Wait()
				look()
				close(looked)
			}
			<-looked
			return body()
		}
	}
	return waiting
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
	const tries = 20 // on a busy machine a short window may have no append
	for range tries {
		var handles atomic.Int64
		r := wrap(t, specOf(load, "actor", ""), func(h strategies.Handle) strategies.Handle {
			handles.Add(1)
			return h
		})
		v := ends(t, r).Run.Verification
		if v.Error != "" || v.RecordsAcked != v.RecordsWalked {
			t.Fatalf("%+v", v)
		}
		most := min(d.clients, v.RecordsAcked+int64(load.Partitions))
		if n := handles.Load(); n > most || n < int64(load.Partitions) {
			t.Fatalf("%d handles were made for %d appends, counted %d", n, v.RecordsAcked, d.clients)
		}
		if v.RecordsAcked > 0 {
			return
		}
	}
	t.Fatalf("none of %d runs has appended", tries)
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
