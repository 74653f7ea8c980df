package workload

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func grid(t *testing.T, w Workload, o Overrides) []Workload {
	t.Helper()
	points, err := Grid(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func custom(t *testing.T, o Overrides) []Workload {
	t.Helper()
	points, err := Custom(o)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

func TestGridWithoutOverridesChangesNothing(t *testing.T) {
	for _, preset := range Presets() {
		if got := grid(t, preset, Overrides{}); !reflect.DeepEqual(got, []Workload{preset}) {
			t.Errorf("Grid(%s) = %+v, want the preset alone", preset.Name, got)
		}
	}
}

func TestGridSetsWhatWasGiven(t *testing.T) {
	base := Default()
	base.Producers = 1
	got := grid(t, base, Overrides{
		Partitions: new(3), RecordSize: &RecordSize{Largest: 2048}, BatchRecords: new(5), FetchBytes: new(int64(1 << 20)),
		Pattern: new("random"), Prefill: new(int64(1 << 20)), ProduceRate: new(7.0), ConsumeRate: new(8.0),
		Acks: new("none"), Sync: new("batch"), SegmentSize: new(int64(1 << 21)),
		Ramp: new(time.Second), Duration: new(time.Minute),
	})
	want := base
	want.Partitions, want.RecordSize, want.BatchRecords, want.FetchBytes = 3, 2048, 5, 1<<20
	want.Pattern, want.Prefill, want.ProduceRate, want.ConsumeRate = Random, 1<<20, 7, 8
	want.Acks, want.Sync, want.SegmentSize = AcksNone, SyncBatch, 1<<21
	want.Ramp, want.Duration = time.Second, time.Minute
	want.Primary = "produce-p90-sec"
	if !reflect.DeepEqual(got, []Workload{want}) {
		t.Errorf("Grid = %+v\nwant %+v", got, want)
	}
}

func TestGridCombinesLevels(t *testing.T) {
	base := Default()
	base.Name = "load"
	got := grid(t, base, Overrides{Producers: []int{1, 4}, Consumers: []int{0, 8}})
	var points []string
	for _, w := range got {
		points = append(points, fmt.Sprintf("%s %d+%d of %d subscriptions, %s", w.Name, w.Producers, w.Consumers, w.Subscriptions, w.Primary))
	}
	want := []string{
		"load 1+0 of 1 subscriptions, produce-op/s",
		"load 1+8 of 8 subscriptions, produce-op/s",
		"load 4+0 of 1 subscriptions, produce-op/s",
		"load 4+8 of 8 subscriptions, produce-op/s",
	}
	if !reflect.DeepEqual(points, want) {
		t.Errorf("points %q\nwant %q", points, want)
	}
}

func TestGridLeavesSharedSubscriptions(t *testing.T) {
	base := Default()
	base.Consumers, base.Subscriptions, base.Partitions = 8, 2, 4
	if got := grid(t, base, Overrides{Consumers: []int{4}})[0]; got.Subscriptions != 2 {
		t.Errorf("%d subscriptions for consumers who share 2, want 2", got.Subscriptions)
	}
}

func TestCustom(t *testing.T) {
	tests := []struct {
		name     string
		given    Overrides
		describe string
		primary  string
	}{
		{"workers", Overrides{Workers: []int{4}}, "4 workers, 10 % produce, random 8 KiB reads of 1 KiB records, closed loop", "op/s"},
		{"a mix", Overrides{Workers: []int{4}, ProducePercent: []float64{25}},
			"4 workers, 25 % produce, random 8 KiB reads of 1 KiB records, closed loop", "op/s"},
		{"both roles", Overrides{Producers: []int{2}, Consumers: []int{3}}, "2 producers, 3 tail consumers, closed loop", "produce-op/s"},
		{"paced", Overrides{Producers: []int{2}, Consumers: []int{2}, ProduceRate: new(1000.0)},
			"2 producers at 1,000/s, 2 tail consumers, open loop", "e2e-p90-sec"},
		{"readers alone", Overrides{Consumers: []int{3}}, "3 catch-up consumers, closed loop", "consume-op/s"},
		{"random", Overrides{Producers: []int{1}, Consumers: []int{1}, Pattern: new("random")},
			"1 producer, 1 random consumer, closed loop", "produce-op/s"},
		{"large records", Overrides{Workers: []int{1}, RecordSize: &RecordSize{Largest: 1 << 20}},
			"1 worker, 10 % produce, random 2052 KiB reads of 1 MiB records, closed loop", "op/s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, w := range custom(t, test.given) {
				if err := w.Validate(); err != nil {
					t.Errorf("cannot be run: %v", err)
				}
				if got := w.Describe(); got != test.describe {
					t.Errorf("describes itself as %q, want %q", got, test.describe)
				}
				if w.Primary != test.primary {
					t.Errorf("primary metric %s, want %s", w.Primary, test.primary)
				}
			}
		})
	}
}

func TestGridOfImpossibleSizesIsRefused(t *testing.T) {
	for _, o := range []Overrides{
		{Workers: []int{0}},
		{Workers: []int{1}, RecordSize: &RecordSize{Largest: 1 << 62}, BatchRecords: new(1 << 40)},
		{Workers: []int{1}, RecordSize: &RecordSize{Largest: -1}},
		{Producers: []int{-1}, Consumers: []int{1}},
		{Workers: []int{1}, Producers: []int{1}},
	} {
		for _, w := range custom(t, o) {
			if err := w.Validate(); err == nil {
				t.Errorf("Custom(%+v) can be run, want an error", o)
			}
		}
	}
}

// A short measurement of a workload that would warm up for a minute does not wait for that minute.
func TestGridRampFollowsDuration(t *testing.T) {
	long := Default()
	long.Ramp, long.Duration = time.Minute, 5*time.Minute
	second, hour := time.Second, time.Hour
	for _, test := range []struct {
		overrides Overrides
		want      time.Duration
	}{
		{Overrides{Duration: &second}, time.Second},
		{Overrides{Duration: &hour}, time.Minute},
		{Overrides{Duration: &second, Ramp: &hour}, time.Hour},
		{Overrides{}, time.Minute},
	} {
		if got := grid(t, long, test.overrides)[0].Ramp; got != test.want {
			t.Errorf("ramp with %+v is %v, want %v", test.overrides, got, test.want)
		}
	}
}
