package workload

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// roles is a valid workload of producers and consumers to spoil in one place.
func roles() Workload {
	w := Default()
	w.Producers, w.Consumers = 2, 3
	return w
}

func mixed() Workload {
	w := DefaultMix()
	w.Workers = 8
	return w
}

func TestValidateAccepts(t *testing.T) {
	tests := map[string]func(w *Workload){
		"roles":                        func(w *Workload) {},
		"a mix":                        func(w *Workload) { *w = mixed() },
		"a mix that only reads":        func(w *Workload) { *w = mixed(); w.ProducePercent = 0 },
		"a mix that only appends":      func(w *Workload) { *w = mixed(); w.ProducePercent, w.Pattern, w.Prefill = 100, Tail, 0 },
		"only producers":               func(w *Workload) { w.Consumers, w.FetchBytes = 0, 1 },
		"only consumers":               func(w *Workload) { w.Producers, w.Pattern, w.Prefill = 0, CatchUp, 1<<20 },
		"random without readers":       func(w *Workload) { w.Consumers, w.Pattern = 0, Random },
		"the smallest record":          func(w *Workload) { w.RecordSize = MinRecordSize },
		"a batch that fills a segment": func(w *Workload) { w.SegmentSize = int64(BatchBytes(w)) },
		"the largest segment":          func(w *Workload) { w.SegmentSize = MaxSegmentSize },
		"a buffer of one batch":        func(w *Workload) { w.FetchBytes = BatchBytes(w) },
		"both rates":                   func(w *Workload) { w.ProduceRate, w.ConsumeRate = 10, 0.5 },
		"no acknowledgements":          func(w *Workload) { w.Acks = AcksNone },
		"all acknowledge":              func(w *Workload) { w.Acks, w.Replicas = AcksAll, 2 },
		"all, without followers":       func(w *Workload) { w.Acks = AcksAll },
		"the most followers":           func(w *Workload) { w.Replicas, w.Partitions = MaxReplicas, 156 },
		"a paced mix":                  func(w *Workload) { *w = mixed(); w.Rate, w.Arrivals, w.Burst = 1e7, ArrivalsPoisson, 50 },
		"a thinking mix":               func(w *Workload) { *w = mixed(); w.Think = time.Millisecond },
		"thinking beside a rate":       func(w *Workload) { w.ConsumeRate, w.Think = 10, time.Millisecond },
		"a burst above the clients":    func(w *Workload) { w.ProduceRate, w.Burst = 1e6, 5000 },
		"zipf":                         func(w *Workload) { *w = mixed(); w.Pattern, w.Skew = Zipfian, 1.2 },
		"zipf of no skew":              func(w *Workload) { *w = mixed(); w.Pattern = Zipfian },
		"by time":                      func(w *Workload) { *w = mixed(); w.Pattern = ByTime },
		"drawn sizes":                  func(w *Workload) { w.Sizes, w.RecordSize = lognormal, 16<<10 },
		"lines":                        func(w *Workload) { w.Sizes, w.RecordSize, w.Payload = Sizes{Kind: SizesLines}, 49, []byte(someLines) },
		"sustained":                    func(w *Workload) { w.Backlog = 1 << 20 },
		"a drain":                      func(w *Workload) { w.Prefill, w.DrainRatio = 1<<20, 0.9 },
		"a drain without producers":    func(w *Workload) { w.Producers, w.Prefill, w.DrainRatio = 0, 1<<20, 1 },
		"a search":                     func(w *Workload) { w.Search, w.Arrivals, w.Objectives = true, ArrivalsPoisson, objectives },
		"sync on every batch":          func(w *Workload) { w.Sync = SyncBatch },
	}
	for name, change := range tests {
		w := roles()
		change(&w)
		if err := w.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var objectives = []Objective{{KindProduce, "p99", time.Millisecond}, {KindConsume, "max", 1}, {KindEndToEnd, "p999", time.Hour}}

func TestValidateRefuses(t *testing.T) {
	tests := []struct {
		change func(w *Workload)
		want   string
	}{
		{func(w *Workload) { w.Producers, w.Consumers = 0, 0 },
			"--workers 0: nobody to do anything; give --workers with --mix, or --producers and --consumers"},
		{func(w *Workload) { w.Workers = 8 },
			"--workers 8: a mix of operations per worker excludes the roles --producers 2 and --consumers 3; give either"},
		{func(w *Workload) { w.Workers = -1 }, "--workers -1: outside 0 to 10000"},
		{func(w *Workload) { w.Producers = -2 }, "--producers -2: outside 0 to 10000"},
		{func(w *Workload) { w.Consumers = 10001 }, "--consumers 10001: outside 0 to 10000"},
		{func(w *Workload) { *w = mixed(); w.ProducePercent = -1 }, "--mix produce=-1: the share of appends lies outside 0 to 100"},
		{func(w *Workload) { *w = mixed(); w.ProducePercent = 100.5 }, "--mix produce=100.5: the share of appends lies outside 0 to 100"},
		{func(w *Workload) { *w = mixed(); w.ProducePercent = math.NaN() }, "--mix produce=NaN: the share of appends lies outside 0 to 100"},
		{func(w *Workload) { *w = mixed(); w.Pattern = Tail },
			"--pattern tail: the workers of a mix would wait for each other at the end of the log; give random, zipf, time or catch-up"},
		{func(w *Workload) { *w = mixed(); w.ProduceRate = 10 }, "--produce-rate 10/s: nobody has this rate; it paces a role; give --rate for the workers of a mix"},
		{func(w *Workload) { w.Consumers = 0; w.ConsumeRate = 10 }, "--consume-rate 10/s: nobody has this rate; it paces a role, so give --consumers"},
		{func(w *Workload) { w.ProduceRate = math.NaN() }, "--produce-rate NaN/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { w.ProduceRate = math.Inf(1) }, "--produce-rate +Inf/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { w.ConsumeRate = -5 }, "--consume-rate -5/s: not a rate; a finite number per second, or none for a closed loop"},
		{func(w *Workload) { w.Partitions = 0 }, "--partitions 0: outside 1 to 1024"},
		{func(w *Workload) { w.Partitions = 1025 }, "--partitions 1025: outside 1 to 1024"},
		{func(w *Workload) { w.Subscriptions = 0 }, "subscriptions 0: outside 1 to 10000"},
		{func(w *Workload) { w.BatchRecords = 0 }, "--batch-records 0: outside 1 to 2147483647"},
		{func(w *Workload) { w.BatchRecords = -3 }, "--batch-records -3: outside 1 to 2147483647"},
		{func(w *Workload) { w.Name = "" },
			`name "": give letters, digits, -, _ and . only; it becomes part of file names and benchmark names`},
		{func(w *Workload) { w.Name = "a b" },
			`name "a b": give letters, digits, -, _ and . only; it becomes part of file names and benchmark names`},
		{func(w *Workload) { w.Pattern = "zipfian" }, "--pattern zipfian: unknown; give tail, catch-up, random, zipf or time"},
		{func(w *Workload) { w.Pattern = "" }, `--pattern "": unknown; give tail, catch-up, random, zipf or time`},
		{func(w *Workload) { w.Acks = "quorum" }, "--acks quorum: unknown; give none, leader or all"},
		{func(w *Workload) { w.Sync = "always" }, "--sync always: unknown; give none, batch, a size as in 1MiB, or a time as in 10ms"},
		{func(w *Workload) { w.Ramp = 0 }, "--ramp 0s: the load needs some time before the measured window; give more than 0, as in 150ms"},
		{func(w *Workload) { w.Duration = -time.Second }, "--duration -1s: the measured window needs some time; give more than 0, as in 400ms"},
		{func(w *Workload) { w.Duration = math.MaxInt64 }, "--duration 2562047h47m16.854775807s: longer than 24h0m0s"},
		{func(w *Workload) { w.SegmentSize = 0 }, "--segment-size 0: outside 1 to 2147483647 bytes, a byte less than 2GiB"},
		{func(w *Workload) { w.SegmentSize = 2 << 30 }, "--segment-size 2GiB: outside 1 to 2147483647 bytes, a byte less than 2GiB"},
		{func(w *Workload) { w.RecordSize = 0 }, "--record-size 0: less than the 24 bytes that verification needs in every record"},
		{func(w *Workload) { w.RecordSize = 23 }, "--record-size 23: less than the 24 bytes that verification needs in every record"},
		{func(w *Workload) { w.RecordSize = 64 << 20 },
			"--record-size 64MiB: a batch of 67108953 bytes does not fit in a segment of 67108864 bytes; lower --record-size or --batch-records, or raise --segment-size"},
		{func(w *Workload) { w.RecordSize, w.BatchRecords = math.MaxInt, math.MaxInt32 },
			"--record-size 9223372036854775807: a batch of 9223372036854775807 bytes does not fit in a segment of 67108864 bytes; lower --record-size or --batch-records, or raise --segment-size"},
		{func(w *Workload) { w.FetchBytes = 0 }, "--fetch-bytes 0: a reader needs a buffer"},
		{func(w *Workload) { w.FetchBytes = 1 << 10 },
			"--fetch-bytes 1KiB: too small for one batch of 1113 bytes; raise it, or lower --record-size or --batch-records"},
		{func(w *Workload) { w.Pattern = Random },
			"--prefill 0: --pattern random reads what was written before the run; give at least one batch a partition, 1113 bytes"},
		{func(w *Workload) { w.Pattern, w.Partitions, w.Prefill = CatchUp, 4, 4<<10 },
			"--prefill 4KiB: --pattern catch-up reads what was written before the run; give at least one batch a partition, 4452 bytes"},
		{func(w *Workload) { w.Prefill = -1 }, "--prefill -1: less than 0 bytes"},
		{func(w *Workload) { w.MaxBytes = 0 }, "--max-bytes 0: a run needs a bound on what it may write"},
		{func(w *Workload) { w.Prefill = 4 << 30 }, "--prefill 4GiB: more than the 2GiB that a run may write; lower it, or raise --max-bytes"},
		{func(w *Workload) { w.Prefill = 2<<30 - 1<<10 }, "--prefill 2097151KiB: leaves less than one batch for each producer of the 2GiB that a run may write; lower it, or raise --max-bytes"},
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

func TestNamesAreShort(t *testing.T) {
	w := roles()
	for length, want := range map[int]string{MaxName: "", MaxName + 1: "has 101 characters, and may have 100"} {
		w.Name = strings.Repeat("n", length)
		_, fromFile := parseFileName(w.Name)
		for _, err := range []error{w.Validate(), fromFile} {
			if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d characters: %v, want %q", length, err, want)
			}
		}
	}
}
