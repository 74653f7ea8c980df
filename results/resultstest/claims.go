package resultstest

import (
	"math"

	"tailrace/results"
)

// Claims are invented claims with every verdict, and with figures of every kind.
func Claims() *results.Claims {
	at := func(v float64) *float64 { return &v }
	figure := func(name, text, unit string, value, low, high float64, blocks int) results.Figure {
		return results.Figure{Name: name, Text: text, Unit: unit, Value: value, Low: low, High: high, Blocks: blocks}
	}
	return &results.Claims{
		Schema: results.Schema, Version: "0.0.0-test", Command: []string{"tailrace", "claims", "--seed", "7"}, Seed: 7, Started: started,
		Environment: results.Environment{
			Host: "example", OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "Invented CPU", CPUs: 2, Affinity: 2, Quota: "none",
			Governor: "performance", Virtual: "hypervisor", Memory: 8 << 30, GoVersion: "go1.26", Commit: "0123456", GOMAXPROCS: 2, GOGC: "100", Load1: 0.25,
		},
		Warnings: []string{"virtual machine"},
		Claims: []results.Claim{
			{
				Name: "turns", Model: "mutex", Sentence: "Readers under a mutex take turns.", Experiment: "readers in closed loops under `mutex` and `raw`",
				Conditions: []results.Condition{
					{Text: "two readers that share nothing read more than one", Figure: "raw-2", AtLeast: at(1.3), Premise: true, Outcome: "met"},
					{Text: "two readers under `mutex` read no more than one", Figure: "mutex-2", AtMost: at(1.15), Outcome: "met"},
				},
				Figures: []results.Figure{
					figure("raw-2", "reads/s of 2 readers over 1, `raw`", "×", 1.8, 1.7, 1.9, 15),
					figure("mutex-2", "reads/s of 2 readers over 1, `mutex`", "×", 0.9, 0.85, 0.95, 15),
					figure("rwmutex-2", "reads/s of 2 readers over 1, `rwmutex`", "×", 1.1, 1.05, 1.16, 15),
				},
				Verdict: results.Holds, Finding: "two readers under `mutex` read no more than one (0.90× (0.85–0.95))",
			},
			{
				Name: "kernel", Model: "mutex", Sentence: "Blocking costs context switches.", Experiment: "8 workers under `mutex`",
				Conditions: []results.Condition{
					{Text: "an operation in ten costs a switch", Figure: "switches", AtLeast: at(0.1), Outcome: "not met"},
					{Text: "and a futex call", Figure: "futex", AtLeast: at(0.1), Outcome: "open"},
					{Text: "the processor time is half as much again", Figure: "cpu", AtLeast: at(1.5), Outcome: "met"},
				},
				Figures: []results.Figure{
					figure("switches", "voluntary switches", "per operation", 0.012, 0.011, 0.0134, 15),
					figure("futex", "futex calls: not measured, strace is not installed", "per operation", math.NaN(), math.NaN(), math.NaN(), 0),
					figure("cpu", "processor time, `mutex` over `raw`", "×", 2.1, 1.9, 2.3, 15),
					figure("scheduler", "wait for a processor, p99", "s", 6.3e-3, 2e-4, 0.2, 15),
				},
				Verdict: results.HoldsInPart,
				Finding: "the processor time is half as much again (2.10× (1.90–2.30)); not so: an operation in ten costs a switch (0.012 (0.011–0.0134) per operation)",
				Limits:  "Go parks goroutines first.",
			},
			{
				Name: "publish", Model: "actor", Sentence: "Publishing is cheap.", Experiment: "appends to a log of many segments",
				Conditions: []results.Condition{
					{Text: "it takes no longer with 10,000 segments", Figure: "time", AtMost: at(1.5), Outcome: "not met"},
					{Text: "and allocates at most 256 B", Figure: "bytes", AtMost: at(256), Outcome: "not met"},
				},
				Figures: []results.Figure{
					figure("time", "with 10,000 segments over one", "×", 40, 5, math.Inf(1), 4),
					figure("bytes", "allocated by an append", "B", 80<<10, 80<<10, 80<<10, 0),
				},
				Verdict: results.DoesNotHold, Finding: "not so: it takes no longer with 10,000 segments (40.0× (5.00–>100))",
			},
			{
				Name: "reads", Model: "actor", Sentence: "Reads never wait.", Experiment: "readers beside writers",
				Conditions: []results.Condition{{Text: "the p99 is at most a quarter higher", Figure: "p99", AtMost: at(1.25), Outcome: "open"}},
				Figures:    []results.Figure{figure("p99", "p99 beside appends over alone", "×", 1.2, 0.7, 2.1, 4)},
				Verdict:    results.NotSettled, Finding: "open: the p99 is at most a quarter higher (1.20× (0.70–2.10))",
			},
			{
				Name: "orderings", Model: "atomics", Sentence: "Weaker orderings pay.", Experiment: "none", Verdict: results.NotMeasured,
				Reason: "Go's atomics have one ordering | sequentially consistent",
			},
		},
	}
}
