package claims

import "tailrace/results"

// claim is a claim of the article with its rule, and where its figures come from.
type claim struct {
	results.Claim
	// ratios are figures that the sweep gives, and measure is an experiment of this process; nil if there is none.
	ratios  []ratio
	measure func(*bench) ([]results.Figure, error)
}

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
				Experiment: "8 workers, 10 % appends, under `mutex` and `raw`: voluntary context switches and futex calls per operation, and processor time",
				Limits:     "The article's threads sleep in the kernel. Go parks goroutines first, and a thread sleeps only when it finds none to run: what is measured is Go's price.",
				Conditions: []results.Condition{
					atLeast("mutex-switches", 0.1, "an operation in ten, or more, costs a voluntary context switch"),
					atLeast("mutex-futex", 0.1, "an operation in ten, or more, costs a futex call"),
					atLeast("mutex-cpu", 1.5, "the processor time of an operation is at least one and a half times that without a lock"),
				},
			},
			ratios: []ratio{
				{"mutex-switches", "voluntary context switches per operation, mutex", switches("mix-10", "mutex"), none},
				{"raw-switches", "voluntary context switches per operation, raw", switches("mix-10", "raw"), none},
				{"mutex-cpu", "processor time per operation, mutex over raw", at("mix-10", "mutex", results.MetricCPU), at("mix-10", "raw", results.MetricCPU)},
			},
			measure: futexCalls("mutex", "raw"),
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-scales", Model: "rwmutex",
				Sentence:   "Read-heavy loads scale much better under a read-write lock than under a mutex.",
				Experiment: "8 workers, random reads, 0, 1, 5, 10 and 50 % appends, operations per second of `rwmutex` over `mutex`",
				Limits:     "On few processors the lock is free most of the time; the gain grows with the processors, and so does what the shared count of readers costs.",
				Conditions: []results.Condition{
					atLeast("rwmutex-0", 1.3, "at least 1.3 times the operations without appends"),
					atLeast("rwmutex-1", 1.3, "at least 1.3 times at 1 % appends"),
					atLeast("rwmutex-5", 1.3, "at least 1.3 times at 5 % appends"),
				},
			},
			ratios: []ratio{
				overMutex("rwmutex-0", "rwmutex", "mix-0", "without appends"), overMutex("rwmutex-1", "rwmutex", "mix-1", "1 % appends"),
				overMutex("rwmutex-5", "rwmutex", "mix-5", "5 % appends"), overMutex("rwmutex-10", "rwmutex", "mix-10", "10 % appends"),
				overMutex("rwmutex-50", "rwmutex", "mix-50", "50 % appends"),
			},
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-writes-block", Model: "rwmutex",
				Sentence:   "Every write blocks all readers.",
				Experiment: "4 readers at 10,000 reads/s together, alone, beside 2 producers at 2,000 appends/s, and beside the same with fdatasync for each: the time that a read spends in its call, p99",
				Conditions: []results.Condition{
					atLeast("rwmutex-unsynced", 2, "appends at least double the p99 of reads"),
					atLeast("rwmutex-synced", 2, "synced appends at least double the p99 of reads"),
				},
			},
			ratios: []ratio{
				waiting("rwmutex-unsynced", "rwmutex", besideWrites), waiting("rwmutex-synced", "rwmutex", besideSyncs),
			},
		},
		{
			Claim: results.Claim{
				Name: "rwmutex-starves", Model: "rwmutex",
				Sentence:   "Under a constant stream of readers a writer may wait indefinitely.",
				Experiment: "a producer at 500 appends/s beside 8 readers that never pause: its longest append, from when it was due, under `rwmutex`, `mutex`, the reader-biased `rbmutex`, and `atomics`, which has no lock; what is due and not done at the end counts with its age",
				Limits:     "An append can only be seen to wait as long as a window is, a quarter of a second.",
				Conditions: []results.Condition{
					atLeast("rwmutex-longest", 0.1, "the longest append takes a tenth of a second or more"),
					atLeast("rwmutex-over-mutex", 10, "the longest append takes at least ten times that under a mutex"),
				},
			},
			measure: starving,
		},
		{
			Claim: results.Claim{
				Name: "atomics-overhead", Model: "atomics",
				Sentence:   "Atomics need no kernel, never block, and cost very little.",
				Experiment: "8 workers, 10 % appends: switches and futex calls per operation, operations per second over `mutex`, and reads alone; 8 producers: appends per second over `mutex`, the share of appends that waited, and of their time",
				Conditions: []results.Condition{
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
			measure: both(futexCalls("atomics"), waits),
		},
		{
			Claim: results.Claim{
				Name: "atomics-not-one", Model: "atomics",
				Sentence:   "Atomics work for simple values: a log can't be appended to in one atomic operation.",
				Experiment: "what `atomics` needed instead: the share of appends that wait for another one's write, a roll or the ring, with 8 producers, and its code beside that of `mutex`",
				Conditions: []results.Condition{
					atLeast("atomics-waited", 1e-6, "some appends wait for others"),
					atLeast("atomics-lines", 2, "it takes at least twice the code of a mutex"),
				},
			},
			measure: both(waits, lines("atomics", "mutex")),
		},
		{
			Claim: results.Claim{
				Name: "atomics-publication", Model: "atomics",
				Sentence:   "Publishing with release and reading with acquire makes partial state invisible.",
				Experiment: "the linearizability checker on `atomics`, and on a copy that commits a batch before it has written it",
				Limits:     "Go's atomics are sequentially consistent: the weaker pair that the article means can't be written. No finite run proves absence.",
				Conditions: []results.Condition{
					atMost("ordered-violations", 0, "no reader sees partial state"),
					atLeast("unordered-violations", 1, "without the order of publication some reader does"),
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
				Experiment: "4 readers at 10,000 reads/s together, alone, beside 2 producers at 2,000 appends/s, and beside the same with fdatasync for each: the time that a read spends in its call, p99; and a reader in a closed loop, alone and beside the producers, unsynced and synced. `raw`, where each has a log of its own, tells what the machine does to reads beside writes",
				Conditions: []results.Condition{
					atMost("actor-unsynced", 1.25, "the p99 of reads beside appends is at most a quarter above that of reads alone"),
					atMost("actor-synced", 1.25, "the p99 of reads beside synced appends is at most a quarter above that of reads alone"),
					atLeast("actor-rate", 0.85, "a reader in a closed loop loses at most 15 % of its rate beside appends"),
					atLeast("actor-rate-synced", 0.85, "a reader in a closed loop loses at most 15 % of its rate beside synced appends"),
				},
			},
			ratios: []ratio{
				waiting("actor-unsynced", "actor", besideWrites), waiting("actor-synced", "actor", besideSyncs),
				waiting("mutex-unsynced", "mutex", besideWrites), waiting("mutex-synced", "mutex", besideSyncs),
				waiting("raw-unsynced", "raw", besideWrites), waiting("raw-synced", "raw", besideSyncs),
				overRaw("actor-over-raw", "actor"), overRaw("mutex-over-raw", "mutex"),
				keeping("actor-rate", "actor", besideWrites), keeping("actor-rate-synced", "actor", besideSyncs),
				keeping("mutex-rate", "mutex", besideWrites), keeping("mutex-rate-synced", "mutex", besideSyncs),
				keeping("raw-rate", "raw", besideWrites), keeping("raw-rate-synced", "raw", besideSyncs),
			},
		},
		{
			Claim: results.Claim{
				Name: "actor-publish", Model: "actor",
				Sentence:   "Publishing a snapshot is cheap: reference counts go up, and nothing is copied that grows.",
				Experiment: "time and allocated bytes of an append to a log of 1 to 10,000 segments, in memory, and of the publication by itself: `actor`, which shares its list of segments, and `actor-plain`, which copies it as the article's excerpt does",
				Conditions: []results.Condition{
					atMost("actor-10000", 1.5, "with 10,000 segments the actor's append takes at most half as long again as with one"),
					atMost("actor-bytes", 256, "the actor's append allocates at most 256 B with 10,000 segments"),
					atMost("plain-10000", 1.5, "the append of the excerpt takes at most half as long again with 10,000 segments as with one"),
				},
			},
			measure: publish,
		},
		{
			Claim: results.Claim{
				Name: "actor-ownership", Model: "actor",
				Sentence:   "Ownership needs no lock, and loses nothing by it.",
				Experiment: "1 and 8 producers in closed loops, unsynced, and 16 with fdatasync for each append: rate, processor time and p99 of `actor` over `mutex`; `mutex-rcu` and `mutex-group` tell what the channel costs and what draining buys",
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
				Experiment: "time and memory of a handle, making 1 to 10,000, and the rate of reads through 10,000 of them in turn over that through one",
				Conditions: []results.Condition{
					atMost("handle-seconds", 1e-6, "a handle takes at most a microsecond to make"),
					atMost("handle-bytes", 1024, "a handle takes at most 1 KiB of memory"),
					atLeast("handles-rate", 0.8, "reads through 10,000 handles keep 0.8 of the rate through one"),
				},
			},
			measure: handles,
		},
		{
			Claim: results.Claim{
				Name: "actor-complex", Model: "actor",
				Sentence:   "The actor is the more complex model.",
				Experiment: "lines of code, declarations, what is exported, and the states in which a command or a caller can be, of each core strategy, in its own files; and mistakes made in these by a machine, of which a single client sees no effect and only the concurrent checker does",
				Conditions: []results.Condition{
					atLeast("actor-lines", 1.5, "it takes at least one and a half times the code of a mutex"),
					atLeast("actor-declarations", 1.5, "it takes at least one and a half times the declarations of a mutex"),
					atMost("actor-over-atomics", 1, "it takes no more code than atomics"),
					atLeast("actor-hidden", 1.5, "at least one and a half times as many mistakes in it as in a mutex go unseen by a single client"),
				},
			},
			measure: both(complexity, mistakes),
		},
		{
			Claim: results.Claim{
				Name: "pread", Model: "storage",
				Sentence:   "pread lets any number of readers read at once, since it moves no cursor.",
				Experiment: "random reads of 1 KiB from one descriptor: pread, against a seek and a read under a lock, with 1, 2 and 4 readers",
				Conditions: []results.Condition{
					atLeast("pread-1", 1, "one reader is no slower with pread"),
					atLeast("pread-2", 1.3, "two readers are at least 1.3 times as fast with pread"),
					atLeast("pread-4", 1.3, "four readers are at least 1.3 times as fast with pread"),
				},
			},
			measure: preads,
		},
		{
			Claim: results.Claim{
				Name: "index", Model: "storage",
				Sentence:   "A memory-mapped index is searched at the speed of memory, without a system call.",
				Experiment: "lookups of random offsets in an index of 16,384 entries: mapped, against bisection by pread, hot, and cold after the page cache was dropped",
				Conditions: []results.Condition{
					atLeast("index-hot", 10, "a hot lookup in the mapped index is at least ten times as fast"),
					atLeast("index-cold", 1, "a cold lookup in the mapped index is no slower"),
					atMost("index-seconds", 1e-6, "a hot lookup takes less than a microsecond, the price of a system call or two"),
				},
			},
			measure: indexes,
		},
		{
			Claim: results.Claim{
				Name: "mapped-log", Model: "storage",
				Sentence:   "Mapping the log itself is not worth it, because it grows.",
				Experiment: "random reads of 1 KiB and 64 KiB from a mapped file and by pread; growing a mapping in steps of 1 MiB beside writing these; both kinds of read when the pages are not in memory, and in a process that has memory for a quarter of the log, and what other goroutines get done meanwhile",
				Conditions: []results.Condition{
					atMost("mapped-1k", 1.2, "reads of 1 KiB from a mapping are at most 1.2 times as fast"),
					atMost("mapped-64k", 1.2, "reads of 64 KiB from a mapping are at most 1.2 times as fast"),
					atLeast("remap", 0.05, "growing the mapping costs at least a twentieth of writing what it grows by"),
					atMost("pressure-1k", 1, "short of memory, reads of 1 KiB from a mapping are no faster"),
					atMost("pressure-others", 0.8, "while readers wait for pages of a mapping, other goroutines get no more than 0.8 of what they get done beside pread"),
				},
			},
			measure: mappedLog,
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
			measure: copying,
		},
		{
			Claim: results.Claim{
				Name: "batches", Model: "throughput",
				Sentence:   "Throughput before latency: batches buy throughput, and latency pays.",
				Experiment: "4 producers in closed loops, records of 100 B, 1, 10, 100 and 1,000 in a batch, under `mutex` and `actor`: records per second, processor time per record, p50 of an append",
				Conditions: []results.Condition{
					atLeast("mutex-100", 5, "batches of 100 append at least five times the records of single ones, under mutex"),
					atLeast("actor-100", 5, "batches of 100 append at least five times the records of single ones, under actor"),
					atMost("mutex-cpu-100", 0.2, "a record in a batch of 100 costs at most a fifth of the processor time, under mutex"),
					atLeast("mutex-p50-1000", 2, "an append of 1,000 records takes at least twice as long as one of a single record"),
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
