package claims

import (
	"slices"

	"tailrace/results"
)

// claim is a claim of the article with its rule, and where its figures come from.
type claim struct {
	results.Claim
	// ratios are figures that the sweep gives, and measure is an experiment beside the sweep; nil if there is none.
	ratios  []ratio
	measure func(*bench) ([]results.Figure, error)
}

// rawLimits say what the comparison with raw leaves out.
const rawLimits = "Each handle of `raw` syncs a log of its own, and reads what was there before the run: it tells what the machine and the disk do to reads beside writes, and is no limit for a model that syncs for several at once, such as the actor. Where a file system has readers of a file wait for its writers, that counts as the model's, whose readers and producers share one. On a disk that can't sync 2,000 times a second the p99 beside syncs stays open."

// all are the claims in the order in which the article makes them, each with its rule: fixed here, before anything
// is measured.
func all() []claim {
	return []claim{
		{
			Claim: results.Claim{
				Name: "mutex-turns", Model: "mutex",
				Sentence:   "Readers under a mutex take turns: more of them do not read more.",
				Experiment: "1, 2, 4 and 8 readers in closed loops, random reads, under `mutex`, `rwmutex` and `raw`, which shares nothing",
				Conditions: []results.Condition{
					premise(atLeast("raw-2", 1.3, "two readers that share nothing read more than one")),
					atMost("mutex-2", 1.15, "two readers read no more than one"),
					atMost("mutex-4", 1.15, "four readers read no more than one"),
					atMost("mutex-8", 1.15, "eight readers read no more than one"),
				},
			},
			ratios: []ratio{
				readers("raw-2", "raw", 2), readers("raw-4", "raw", 4), readers("raw-8", "raw", 8),
				readers("mutex-2", "mutex", 2), readers("mutex-4", "mutex", 4), readers("mutex-8", "mutex", 8),
				readers("rwmutex-2", "rwmutex", 2), readers("rwmutex-4", "rwmutex", 4), readers("rwmutex-8", "rwmutex", 8),
			},
		},
		{
			Claim: results.Claim{
				Name: "mutex-kernel", Model: "mutex",
				Sentence:   "Blocking on a mutex costs context switches of the kernel, and they add up fast.",
				Experiment: "8 workers, 10 % appends, under `mutex` and `raw`: context switches, voluntary and not, and futex calls per operation, processor time, and how long a goroutine that is ready waits for a processor",
				Limits:     "The article's threads sleep in the kernel. Go parks goroutines first, and a thread sleeps only when it finds none to run: what is measured is Go's price.",
				Conditions: []results.Condition{
					premise(atLeast("processors", 2, "more than one goroutine runs at once")),
					atLeast("mutex-switches", 0.1, "an operation in ten, or more, costs a voluntary context switch"),
					atLeast("mutex-futex", 0.1, "an operation in ten, or more, costs a futex call"),
					atLeast("mutex-cpu", 1.5, "the processor time of an operation is at least one and a half times that without a lock"),
				},
			},
			ratios: []ratio{
				{"mutex-switches", "voluntary context switches per operation, mutex", switches("mix-10", "mutex"), none},
				{"raw-switches", "voluntary context switches per operation, raw", switches("mix-10", "raw"), none},
				{"mutex-cpu", "processor time per operation, mutex over raw", at("mix-10", "mutex", results.MetricCPU), at("mix-10", "raw", results.MetricCPU)},
				{"mutex-involuntary", "involuntary context switches per operation, mutex", preemptions("mix-10", "mutex"), none},
				{"raw-involuntary", "involuntary context switches per operation, raw", preemptions("mix-10", "raw"), none},
				{"mutex-scheduler", "wait of a ready goroutine for a processor, p99, mutex", schedulerP99("mix-10", "mutex"), none},
				{"raw-scheduler", "wait of a ready goroutine for a processor, p99, raw", schedulerP99("mix-10", "raw"), none},
			},
			measure: several(futexCalls("mutex", "raw"), processors),
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-scales", Model: "rwmutex",
				Sentence:   "Read-heavy loads scale much better under a read-write lock than under a mutex.",
				Experiment: "8 workers, random reads, 0, 1, 5, 10 and 50 % appends, operations per second of `rwmutex` over `mutex`",
				Limits:     "On few processors the lock is free most of the time; the gain grows with the processors, and so does what the shared count of readers costs.",
				Conditions: []results.Condition{
					premise(atLeast("raw-2", 1.3, "two readers that share nothing read more than one")),
					atLeast("rwmutex-0", 1.3, "at least 1.3 times the operations without appends"),
					atLeast("rwmutex-1", 1.3, "at least 1.3 times at 1 % appends"),
					atLeast("rwmutex-5", 1.3, "at least 1.3 times at 5 % appends"),
				},
			},
			ratios: []ratio{
				readers("raw-2", "raw", 2),
				overMutex("rwmutex-0", "rwmutex", "mix-0", "without appends"), overMutex("rwmutex-1", "rwmutex", "mix-1", "1 % appends"),
				overMutex("rwmutex-5", "rwmutex", "mix-5", "5 % appends"), overMutex("rwmutex-10", "rwmutex", "mix-10", "10 % appends"),
				overMutex("rwmutex-50", "rwmutex", "mix-50", "50 % appends"),
			},
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-writes-block", Model: "rwmutex",
				Sentence:   "Every write blocks all readers.",
				Experiment: "4 readers at 10,000 reads/s together beside 2 producers at 2,000 appends/s, and beside the same with fdatasync for each: the time that a read spends in its call, p99, over that under `raw`, where readers and producers share no log; and over that of reads alone",
				Limits:     rawLimits,
				Conditions: []results.Condition{
					atLeast("rwmutex-over-raw", 2, "beside appends the p99 of reads is at least double that where nothing is shared"),
					atLeast("rwmutex-over-raw-synced", 2, "beside synced appends the p99 of reads is at least double that where nothing is shared"),
				},
			},
			ratios: slices.Concat(pacedReads.overRaw("rwmutex"), pacedReads.overAlone("rwmutex"), pacedReads.overAlone("raw")),
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-starves", Model: "rwmutex",
				Sentence:   "Under a constant stream of readers a writer may wait indefinitely.",
				Experiment: "a producer at 500 appends/s beside 8 readers that never pause: its longest append in a quarter of a second, from its call to its return, under `rwmutex`, `mutex`, the reader-biased `rbmutex`, and `atomics`, which has no lock; and from when it was due, where what is due and not done at the end counts with its age",
				Limits:     "The readers pause after a quarter of a second, so that an append which they starve returns then. An append also waits for a processor, before its call and within: `atomics`, which has no lock, tells how long.",
				Conditions: []results.Condition{
					premise(atMost("atomics-called", 0.1, "without a lock no append takes a tenth of a second")),
					atLeast("rwmutex-called", 0.1, "the longest append takes a tenth of a second or more"),
					atLeast("rwmutex-called-over-mutex", 10, "the longest append takes at least ten times as long as under a mutex"),
				},
			},
			measure: starvingApart,
		},
		{
			Claim: results.Claim{
				Name: "atomics-overhead", Model: "atomics",
				Sentence:   "Atomics need no kernel, never block, and cost very little.",
				Experiment: "8 workers, 10 % appends: switches and futex calls per operation, operations per second over `mutex`, and reads alone; 8 producers: appends per second over `mutex`, and the share of appends that waited; as many producers as processors: the part of their time that they waited",
				Conditions: []results.Condition{
					premise(atLeast("processors", 2, "more than one goroutine runs at once")),
					atMost("atomics-switches", 0.01, "less than an operation in a hundred costs a voluntary switch"),
					atMost("atomics-futex", 0.01, "less than an operation in a hundred costs a futex call"),
					atMost("atomics-waited", 0.01, "less than an append in a hundred waits for another"),
					atLeast("atomics-mix", 1.5, "operations per second are at least one and a half times those of a mutex"),
					atLeast("atomics-ingest", 1, "appends alone are no fewer than under a mutex"),
					atLeast("atomics-reads", 1, "reads alone are no fewer than under a mutex"),
				},
			},
			ratios: []ratio{
				{"atomics-switches", "voluntary context switches per operation, atomics", switches("mix-10", "atomics"), none},
				overMutex("atomics-mix", "atomics", "mix-10", "10 % appends"),
				overMutex("atomics-reads", "atomics", "mix-0", "reads alone"),
				{"atomics-ingest", "appends/s of 8 producers, atomics over mutex", at("ingest-8", "atomics", results.MetricProduceOps), at("ingest-8", "mutex", results.MetricProduceOps)},
			},
			measure: several(futexCalls("atomics"), waits, processors),
		},
		{
			Claim: results.Claim{
				Name: "atomics-not-one", Model: "atomics",
				Sentence:   "Atomics work for simple values: a log can't be appended to in one atomic operation.",
				Experiment: "what `atomics` needed instead: the share of appends that wait for another one's write, for a segment (or make it), or for room in the ring, with 8 producers, and its code beside that of `mutex`",
				Conditions: []results.Condition{
					atLeast("atomics-waits", 1, "some appends wait for others"),
					atLeast("atomics-lines", 2, "it takes at least twice the code of a mutex"),
				},
			},
			measure: several(waits, lines("atomics", "mutex")),
		},
		{
			Claim: results.Claim{
				Name: "atomics-publication", Model: "atomics",
				Sentence:   "Publishing with release and reading with acquire makes partial state invisible.",
				Experiment: "the linearizability checker on `atomics`, and on a copy that commits a batch before it has written it",
				Limits:     "Go's atomics are sequentially consistent: the weaker pair that the article means can't be written. No finite run proves absence: what counts as none is none in ten times the time in which the copy shows one.",
				Conditions: []results.Condition{
					premise(atLeast("unordered-violations", 1, "without the order of publication some reader sees partial state")),
					atMost("ordered-violations", 0, "with the order of publication no reader sees partial state"),
				},
			},
			measure: publication,
		},
		{
			Claim: results.Claim{
				Name: "atomics-orderings", Model: "atomics",
				Sentence:   "Choosing weaker orderings than sequential consistency pays.",
				Experiment: "none: package sync/atomic has one ordering",
				Verdict:    results.NotMeasured,
				Reason: "Go's atomic operations are sequentially consistent (go.dev/ref/mem), so that Relaxed, Acquire, Release and SeqCst are one. " +
					"What a weaker store would save can be measured in Rust or C++: on amd64 the difference between a store and an exchange, on arm64 that between str and stlr.",
			},
		},
		{
			Claim: results.Claim{
				Name: "actor-reads", Model: "actor",
				Sentence:   "Reads never wait for writes.",
				Experiment: "4 readers at 10,000 reads/s together beside 2 producers at 2,000 appends/s, and beside the same with fdatasync for each: the time that a read spends in its call, p99; and the rate of a reader in a closed loop beside the same producers, also where these fell behind; each over that under `raw`, where readers and producers share no log, and over that of reads alone",
				Limits:     rawLimits,
				Conditions: []results.Condition{
					atMost("actor-over-raw", 1.25, "beside appends the p99 of reads is at most a quarter above that where nothing is shared"),
					atMost("actor-over-raw-synced", 1.25, "beside synced appends the p99 of reads is at most a quarter above that where nothing is shared"),
					atLeast("actor-rate-over-raw", 0.85, "beside appends a reader in a closed loop has at least 0.85 of its rate where nothing is shared"),
					atLeast("actor-rate-over-raw-synced", 0.85, "beside synced appends a reader in a closed loop has at least 0.85 of its rate where nothing is shared"),
				},
			},
			ratios: slices.Concat(
				pacedReads.overRaw("actor"), pacedReads.overRaw("mutex"),
				pacedReads.overAlone("actor"), pacedReads.overAlone("mutex"), pacedReads.overAlone("raw"),
				busyReads.overRaw("actor"), busyReads.overRaw("mutex"),
				busyReads.overAlone("actor"), busyReads.overAlone("mutex"), busyReads.overAlone("raw"),
			),
		},
		{
			Claim: results.Claim{
				Name: "actor-publish", Model: "actor",
				Sentence:   "Publishing a snapshot is cheap: reference counts go up, and nothing is copied that grows.",
				Experiment: "time and allocated bytes of an append to a log of 1 to 10,000 segments, in memory, and of the publication by itself: `actor`, which shares its list of segments, and `actor-plain`, which copies it as the article's excerpt does",
				Limits:     "A segment in the list takes 40 B here, and a pointer and an atomic count in the excerpt: both copies grow with the list, and not at the same rate.",
				Conditions: []results.Condition{
					atMost("actor-10000", 1.5, "with 10,000 segments the actor's append takes at most half as long again as with one"),
					atMost("actor-bytes", 256, "the actor's append allocates at most 256 B with 10,000 segments"),
					atMost("plain-10000", 1.5, "an append that copies the list takes at most half as long again with 10,000 segments as with one"),
				},
			},
			measure: apart("publish"),
		},
		{
			Claim: results.Claim{
				Name: "actor-ownership", Model: "actor",
				Sentence:   "Ownership needs no lock, and loses nothing by it.",
				Experiment: "1 and 8 producers in closed loops, unsynced, and 16 with fdatasync for each append: rate, processor time and p99 of `actor` over `mutex`; `mutex-rcu` and `mutex-group` tell what the channel costs and what draining buys",
				Limits:     "With syncs the actor commits what has queued up in one sync, and the mutex syncs each append: `actor-plain`, which does so too, tells what ownership by itself does.",
				Conditions: []results.Condition{
					atLeast("actor-1", 0.95, "one producer appends as fast as under a mutex"),
					atLeast("actor-8", 0.95, "eight producers append as fast as under a mutex"),
					atMost("actor-cpu", 1.05, "an append of eight producers costs no more processor time"),
					atMost("actor-p99", 1.05, "the p99 of appends of eight producers is no higher"),
					atLeast("actor-durable", 0.95, "sixteen producers that sync append as fast as under a mutex"),
				},
			},
			ratios: []ratio{
				appends("actor-1", "actor", "mutex", "ingest-1", "1 producer"), appends("actor-8", "actor", "mutex", "ingest-8", "8 producers"),
				appends("actor-durable", "actor", "mutex", "durable", "16 producers, synced"),
				appends("plain-durable", "actor-plain", "mutex", "durable", "16 producers, synced: ownership by itself"),
				{"actor-cpu", "processor time per append of 8 producers, actor over mutex", at("ingest-8", "actor", results.MetricCPU), at("ingest-8", "mutex", results.MetricCPU)},
				{"actor-p99", "p99 of appends of 8 producers (service time), actor over mutex", at("ingest-8", "actor", produceP99), at("ingest-8", "mutex", produceP99)},
				appends("channel", "actor", "mutex-group", "ingest-8", "8 producers: what the channel costs"),
				appends("draining", "actor", "actor-plain", "ingest-8", "8 producers: what draining buys"),
				appends("draining-durable", "actor", "actor-plain", "durable", "16 producers, synced: what draining buys"),
				appends("channel-durable", "actor", "mutex-group", "durable", "16 producers, synced: what the channel costs"),
				appends("rcu-8", "mutex-rcu", "mutex", "ingest-8", "8 producers"),
			},
		},
		{
			Claim: results.Claim{
				Name: "actor-handles", Model: "actor",
				Sentence:   "Handles cost nothing to make, as many as are needed.",
				Experiment: "time and memory of a handle, making and closing 1 to 10,000, and the rate of reads through 10,000 of them in turn over that through one",
				Conditions: []results.Condition{
					atMost("handle-seconds", 1e-6, "a handle takes at most a microsecond to make, when 10,000 are made"),
					atMost("handle-bytes", 1024, "a handle takes at most 1 KiB of memory, when 10,000 are made"),
					atLeast("handles-rate", 0.8, "reads through 10,000 handles keep 0.8 of the rate through one"),
				},
			},
			measure: apart("handles"),
		},
		{
			Claim: results.Claim{
				Name: "actor-complex", Model: "actor",
				Sentence:   "The actor is the more complex model.",
				Experiment: "lines of code, declarations, what is exported, and the states in which a command or a caller can be, of each core strategy, in its own files",
				Limits:     "Nothing here depends on the machine. How complex a model is for people is none of these numbers.",
				Conditions: []results.Condition{
					atLeast("actor-lines", 1.5, "it takes at least one and a half times the code of a mutex"),
					atLeast("actor-declarations", 1.5, "it takes at least one and a half times the declarations of a mutex"),
				},
			},
			measure: several(complexity),
		},
		{
			Claim: results.Claim{
				Name: "pread", Model: "storage",
				Sentence:   "pread lets any number of readers read at once, since it moves no cursor.",
				Experiment: "random reads of 1 KiB by 1, 2 and 4 readers: pread from one descriptor, a seek and a read from it under a lock, pread from a descriptor each of one file, and pread from a file each, which is what the processors allow",
				Conditions: []results.Condition{
					premise(atLeast("own-2-over-1", 1.3, "two readers with a file each read more than one")),
					atLeast("pread-2-over-1", 1.15, "two readers of one descriptor read more than one"),
					atLeast("pread-4-over-1", 1.15, "four readers of one descriptor read more than one"),
					atLeast("pread-2-over-own", 0.85, "two readers of one descriptor read at least 0.85 of what two with a file each do"),
					atLeast("pread-4-over-own", 0.85, "four readers of one descriptor read at least 0.85 of what four with a file each do"),
				},
			},
			measure: apart("preads"),
		},
		{
			Claim: results.Claim{
				Name: "index", Model: "storage",
				Sentence:   "A memory-mapped index is searched at the speed of memory, without a system call.",
				Experiment: "lookups of random offsets in an index of 16,384 entries: mapped, against bisection by pread, hot, and cold after the page cache was dropped",
				Limits:     "Cold, a fault in the mapping brings in what the disk reads ahead, and a pread one page: the ratio is that of this disk's setting, too.",
				Conditions: []results.Condition{
					atLeast("index-hot", 10, "a hot lookup in the mapped index is at least ten times as fast"),
					atLeast("index-cold", 1, "a cold lookup in the mapped index is no slower"),
					atMost("index-seconds", 1e-6, "a hot lookup takes less than a microsecond, the price of a system call or two"),
				},
			},
			measure: apart("indexes"),
		},
		{
			Claim: results.Claim{
				Name: "mapped-log", Model: "storage",
				Sentence:   "Mapping the log itself is not worth it, because it grows.",
				Experiment: "random reads of 1 KiB and 64 KiB from a mapped file and by pread; growing a mapping in steps of 1 MiB beside writing these; both kinds of read when the pages are not in memory, and in a process that has memory for a quarter of the log, and what other goroutines get done meanwhile",
				Limits:     "Short of memory, a mapping is advised that reads are random, as a store would; without the advice (`pressure-1k`) a fault reads ahead as much as the disk is set to (read_ahead_kb), and the ratio is mostly that of a setting. The log has 64 MiB. That a copy in memory is faster than a system call is known beforehand: it is what the cost of growing and of faults is weighed against.",
				Conditions: []results.Condition{
					atMost("mapped-1k", 1.2, "reads of 1 KiB from a mapping are at most 1.2 times as fast"),
					atMost("mapped-64k", 1.2, "reads of 64 KiB from a mapping are at most 1.2 times as fast"),
					atLeast("remap", 0.05, "growing the mapping costs at least a twentieth of writing what it grows by"),
					atMost("pressure-advised-1k", 1.2, "short of memory, reads of 1 KiB from a mapping are at most 1.2 times as fast"),
					atMost("pressure-others", 0.8, "while readers wait for pages of a mapping, other goroutines get no more than 0.8 of what they get done beside pread"),
				},
			},
			measure: several(apart("mapped"), pressure),
		},
		{
			Claim: results.Claim{
				Name: "copying", Model: "storage",
				Sentence:   "Avoid copying: what is read from the disk should go to the socket without passing through the process.",
				Experiment: "4 KiB, 64 KiB and 1 MiB from a file to a loopback socket: pread and write, against sendfile; processor time per byte",
				Conditions: []results.Condition{
					atLeast("copy-4k", 1.2, "pread and write of 4 KiB cost at least 1.2 times the processor time of sendfile"),
					atLeast("copy-64k", 1.2, "pread and write of 64 KiB cost at least 1.2 times the processor time of sendfile"),
					atLeast("copy-1m", 1.2, "pread and write of 1 MiB cost at least 1.2 times the processor time of sendfile"),
				},
			},
			measure: apart("copying"),
		},
		{
			Claim: results.Claim{
				Name: "batches", Model: "throughput",
				Sentence:   "Throughput before latency: batches buy throughput, and latency pays.",
				Experiment: "4 producers in closed loops, records of 100 B, 1, 10, 100 and 1,000 in a batch, under `mutex` and `actor`: records per second, processor time per record, p50 of an append",
				Limits:     "Batches are full when they are appended: the time until a batch is full, which records of a real producer wait as well, is not in it.",
				Conditions: []results.Condition{
					atLeast("mutex-100", 5, "batches of 100 append at least five times the records of single ones, under mutex"),
					atLeast("actor-100", 5, "batches of 100 append at least five times the records of single ones, under actor"),
					atMost("mutex-cpu-100", 0.2, "a record in a batch of 100 costs at most a fifth of the processor time, under mutex"),
					atLeast("mutex-p50-100", 2, "an append of 100 records takes at least twice as long as one of a single record, under mutex"),
				},
			},
			ratios: batchRatios(),
		},
	}
}

func atLeast(figure string, bound float64, text string) results.Condition {
	return results.Condition{Figure: figure, Text: text, AtLeast: &bound}
}

func atMost(figure string, bound float64, text string) results.Condition {
	return results.Condition{Figure: figure, Text: text, AtMost: &bound}
}

func premise(c results.Condition) results.Condition {
	c.Premise = true
	return c
}
