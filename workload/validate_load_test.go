package workload

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestValidateRefusesLoadsAndRuns(t *testing.T) {
	const arrivals = "a closed loop has no arrivals; give --rate for workers, or --produce-rate or --consume-rate"
	tests := []struct {
		change func(w *Workload)
		want   string
	}{
		{func(w *Workload) { w.Rate = 10 }, "--rate 10/s: nobody has this rate; it paces a mix, so give --workers; roles have --produce-rate and --consume-rate"},
		{func(w *Workload) { *w = mixed(); w.Rate = math.NaN() }, "--rate NaN/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { *w = mixed(); w.Rate = math.Inf(1) }, "--rate +Inf/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { *w = mixed(); w.Rate = -1 }, "--rate -1/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { *w = mixed(); w.ConsumeRate = 1 }, "--consume-rate 1/s: nobody has this rate; it paces a role; give --rate for the workers of a mix"},
		{func(w *Workload) { w.ProduceRate = 2e9 },
			"--produce-rate 2000000000/s: more than one in a nanosecond; leave it out for a closed loop, which is as fast as can be"},
		{func(w *Workload) { w.ConsumeRate = 1e-9 }, "--consume-rate 1e-09/s: less than one in 24h0m0s, the longest that a run may take"},
		{func(w *Workload) { w.Arrivals = "" }, `--arrivals "": unknown; give constant or poisson`},
		{func(w *Workload) { w.Arrivals = "random" }, "--arrivals random: unknown; give constant or poisson"},
		{func(w *Workload) { w.Arrivals = ArrivalsPoisson }, "--arrivals poisson: " + arrivals},
		{func(w *Workload) { w.Burst = 2 }, "--burst 2: " + arrivals},
		{func(w *Workload) { w.Burst = 0 }, "--burst 0: outside 1, which is none, to 2147483647"},
		{func(w *Workload) { w.Burst = -1 }, "--burst -1: outside 1, which is none, to 2147483647"},
		{func(w *Workload) { w.Think = -1 }, "--think -1ns: outside 0 to 24h0m0s"},
		{func(w *Workload) { w.Think = math.MaxInt64 }, "--think 2562047h47m16.854775807s: outside 0 to 24h0m0s"},
		{func(w *Workload) { *w = mixed(); w.Rate, w.Think = 1, 1 },
			"--think 1ns: everybody has a rate, and pauses as that says; leave out --think or a rate"},
		{func(w *Workload) { w.ProduceRate, w.ConsumeRate, w.Think = 1, 1, 1 },
			"--think 1ns: everybody has a rate, and pauses as that says; leave out --think or a rate"},
		{func(w *Workload) { w.Skew = 1 }, "--skew 1: --pattern tail has none; give --pattern zipf, or leave --skew out"},
		{func(w *Workload) { *w = mixed(); w.Pattern, w.Skew = Zipfian, math.NaN() }, "--skew NaN: not a skew; a number from 0, which is uniform, as in 0.99"},
		{func(w *Workload) { *w = mixed(); w.Pattern, w.Skew = Zipfian, math.Inf(1) }, "--skew +Inf: not a skew; a number from 0, which is uniform, as in 0.99"},
		{func(w *Workload) { *w = mixed(); w.Pattern, w.Skew = Zipfian, -1 }, "--skew -1: not a skew; a number from 0, which is uniform, as in 0.99"},
		{func(w *Workload) { w.Replicas = -1 }, "--replicas -1: outside 0 to 64"},
		{func(w *Workload) { w.Replicas = 65 }, "--replicas 65: outside 0 to 64"},
		{func(w *Workload) { w.Replicas, w.Partitions = 64, 157 }, "--replicas 64: with --partitions 157 it makes 10048 followers, more than 10000; lower either"},
		{func(w *Workload) { w.Sizes = Sizes{Kind: "some"} },
			"--record-size some: not a distribution of sizes; give one as in uniform:100-4KiB, lognormal:1KiB,0.8 or lines"},
		{func(w *Workload) { w.Sizes = Sizes{Max: 7} }, "--record-size 1KiB: not a distribution of sizes; give one as in uniform:100-4KiB, lognormal:1KiB,0.8 or lines"},
		{func(w *Workload) { w.Sizes = Sizes{Kind: SizesUniform, Min: 1, Max: 9} },
			"--record-size uniform:1-9: not a distribution of sizes; give one as in uniform:100-4KiB, lognormal:1KiB,0.8 or lines"},
		{func(w *Workload) { w.Sizes = lognormal; w.Sizes.Sigma = math.NaN() },
			"--record-size lognormal:1KiB,NaN: not a distribution of sizes; give one as in uniform:100-4KiB, lognormal:1KiB,0.8 or lines"},
		{func(w *Workload) { w.Sizes = lognormal }, "--record-size lognormal:1KiB,0.8: the largest record has 16384 bytes, not 1024"},
		{func(w *Workload) { w.Sizes.Kind = SizesLines },
			"--record-size lines: there are no lines to make records of; give --payload with a file that has some"},
		{func(w *Workload) { w.Sizes.Kind, w.Payload = SizesLines, []byte(strings.Repeat("a\n", maxLines+1)) },
			"--record-size lines: the payload has 1048577 lines, more than 1048576; give a shorter file"},
		{func(w *Workload) { w.Sizes, w.RecordSize, w.SegmentSize = lognormal, 16<<10, 8<<10 },
			"--record-size lognormal:1KiB,0.8: a batch of 16473 bytes does not fit in a segment of 8192 bytes; lower --record-size or --batch-records, or raise --segment-size"},
		{func(w *Workload) { w.Pattern = Zipfian },
			"--prefill 0: --pattern zipf reads what was written before the run; give at least one batch a partition, 1113 bytes"},
		{func(w *Workload) { w.Pattern = ByTime },
			"--prefill 0: --pattern time reads what was written before the run; give at least one batch a partition, 1113 bytes"},
		{func(w *Workload) { w.Producers = 0 },
			"--pattern tail: nobody appends what the consumers would wait for; give --producers, or --pattern catch-up, random, zipf or time"},
		{func(w *Workload) { w.ProduceRate, w.Burst, w.Duration = 1000, 101, 400*time.Millisecond },
			"--burst 101: at 1000/s one comes every 101ms, and a window of 400ms needs 4 of them; lower it, or raise the rate or --duration"},
		{func(w *Workload) { *w = mixed(); w.Rate, w.Burst = 10, 2 },
			"--burst 2: at 10/s one comes every 200ms, and a window of 400ms needs 4 of them; lower it, or raise the rate or --duration"},
		{func(w *Workload) { w.Think, w.Duration = 10*time.Second, 400*time.Millisecond },
			"--think 10s: longer than the window of 400ms, which may have no operation then; lower it, or raise --duration"},
		{func(w *Workload) { w.Prefill, w.DrainRatio = 1<<20, 1e-300 },
			"--drain 1e-300: less than one batch of each log in a backlog of 1MiB; raise it, or --prefill"},
		{func(w *Workload) { w.Backlog = -1 }, "--backlog -1: less than 0 bytes"},
		{func(w *Workload) { w.Backlog = 1 }, "--backlog 1: has no room for a batch of each producer, 2226 bytes; raise it"},
		{func(w *Workload) { w.Backlog, w.Consumers = 1<<20, 0 },
			"--backlog 1MiB: a sustained run needs who appends and who reads it all; give --producers and --consumers"},
		{func(w *Workload) { *w = mixed(); w.Backlog = 1 << 20 },
			"--backlog 1MiB: a sustained run needs who appends and who reads it all; give --producers and --consumers"},
		{func(w *Workload) { w.Backlog, w.Pattern, w.Prefill = 1<<20, CatchUp, 1<<20 },
			"--backlog 1MiB: what is read is trimmed, and --pattern catch-up would read it again; give --pattern tail"},
		{func(w *Workload) { w.DrainRatio = math.NaN() }, "--drain NaN: outside 0 to 1; it is the share of the backlog that is to be read"},
		{func(w *Workload) { w.DrainRatio = 1.1 }, "--drain 1.1: outside 0 to 1; it is the share of the backlog that is to be read"},
		{func(w *Workload) { w.DrainRatio = -1 }, "--drain -1: outside 0 to 1; it is the share of the backlog that is to be read"},
		{func(w *Workload) { w.DrainRatio, w.Consumers = 1, 0 }, "--drain 1: nobody reads the backlog; give --consumers"},
		{func(w *Workload) { w.DrainRatio, w.Pattern, w.Prefill = 1, Random, 1<<20 },
			"--drain 1: who drains a backlog reads it once, to the end; give --pattern tail"},
		{func(w *Workload) { w.DrainRatio = 0.9 }, "--drain 0.9: there is no backlog; give --prefill, which is what is drained"},
		{func(w *Workload) { w.DrainRatio, w.Prefill = 1, 10 },
			"--prefill 10: is the backlog to be drained; give at least one batch a partition, 1113 bytes"},
		{func(w *Workload) { w.DrainRatio, w.Prefill, w.Backlog = 1, 1<<20, 1<<20 },
			"--drain 1: excludes --backlog 1MiB, which holds producers while so much is unread; give either"},
		{func(w *Workload) { w.DrainRatio, w.Prefill, w.Search = 1, 1<<20, true }, "--drain 1: excludes --find-max-rate; give either"},
		{func(w *Workload) { *w = mixed(); w.Search = true }, "--find-max-rate true: it is the rate of the producers that is sought; give --producers"},
		{func(w *Workload) { w.Search, w.ProduceRate = true, 5 }, "--find-max-rate true: --produce-rate 5/s is a rate already; leave out either"},
		{func(w *Workload) { w.Objectives = objectives }, `--slo "produce p99 < 1ms": only a search for the highest rate is held to it; give --find-max-rate`},
		{func(w *Workload) { w.Search, w.Objectives = true, []Objective{{}} }, `--slo "  < 0s": not an objective; give one as in produce p99 < 2ms`},
		{func(w *Workload) { w.Search, w.Objectives, w.Consumers = true, objectives, 0 }, `--slo "consume max < 1ns": nobody reads; give --consumers`},
		{func(w *Workload) { w.Search, w.Objectives, w.Pattern, w.Prefill = true, objectives, CatchUp, 1<<20 },
			`--slo "e2e p999 < 1h0m0s": end to end is measured by consumers that follow the end; give --consumers, and --pattern tail`},
	}
	for _, test := range tests {
		w := roles()
		test.change(&w)
		err := w.Validate()
		var field *FieldError
		if !errors.As(err, &field) || !errors.Is(err, ErrInvalid) {
			t.Errorf("error is %v, want %s", err, test.want)
			continue
		}
		if err.Error() != "workload: "+test.want || strings.Contains(err.Error(), "\n") {
			t.Errorf("got  %s\nwant workload: %s", err, test.want)
		}
	}
}

func TestGridFollowsPatternAndSearch(t *testing.T) {
	tail, _ := Find("tail")
	mix, _ := Find("mix")
	for name, c := range map[string]struct {
		base  Workload
		flags Overrides
		seen  func(w Workload) any
		want  any
	}{
		"zipf has a skew":          {mix, Overrides{Pattern: new("zipf")}, func(w Workload) any { return w.Skew }, 0.99},
		"zipf of a skew":           {mix, Overrides{Pattern: new("zipf"), Skew: new(0.0)}, func(w Workload) any { return w.Skew }, 0.0},
		"zipf has a prefill":       {tail, Overrides{Pattern: new("zipf")}, func(w Workload) any { return w.Prefill }, int64(64 << 20)},
		"a search has no rate":     {tail, Overrides{Search: new(true)}, func(w Workload) any { return w.ProduceRate }, 0.0},
		"a search that is not":     {tail, Overrides{Search: new(false)}, func(w Workload) any { return w.ProduceRate }, 10000.0},
		"a mix with a rate":        {mix, Overrides{Rate: new(100.0)}, func(w Workload) any { return w.Primary }, "consume-p90-sec"},
		"a drain":                  {tail, Overrides{DrainRatio: new(1.0), Prefill: new(int64(1 << 20))}, func(w Workload) any { return w.Primary }, "drain-sec"},
		"a buffer for two largest": {tail, Overrides{RecordSize: &RecordSize{lognormal, 1 << 20}}, func(w Workload) any { return w.FetchBytes }, 2101248},
		"subscriptions":            {tail, Overrides{Consumers: []int{6}, Subscriptions: new(3)}, func(w Workload) any { return w.Subscriptions }, 3},
		"think":                    {mix, Overrides{Think: new(time.Millisecond)}, func(w Workload) any { return w.Think }, time.Millisecond},
	} {
		w := grid(t, c.base, c.flags)[0]
		if got := c.seen(w); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if err := w.Validate(); err != nil && name != "a buffer for two largest" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGridReadsPayload(t *testing.T) {
	w := grid(t, Default(), Overrides{PayloadFile: new("testdata/lines.txt"), RecordSize: &RecordSize{Sizes: Sizes{Kind: SizesLines}}, Producers: []int{1}})[0]
	if err := w.Validate(); err != nil || w.RecordSize != 89 || len(w.Payload) != 216 {
		t.Errorf("%v: records of %d bytes from %d", err, w.RecordSize, len(w.Payload))
	}
	if want := "Of the payload's 4 lines, 1 is shorter than the 24 bytes that verification needs and padded to it."; strings.Join(w.Notes, "|") != want {
		t.Errorf("notes %q", w.Notes)
	}
	for file, want := range map[string]string{
		"testdata/none": "workload: --payload testdata/none: no such file or directory",
		"testdata":      "workload: --payload testdata: not a regular file",
	} {
		if _, err := Custom(Overrides{Producers: []int{1}, PayloadFile: &file}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}
