package workload

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// ownFile has every key.
const ownFile = `name: every-key
title: all of it
base: tail
producers: [1, 4]
consumers: 2,6
workers: 0
mix: produce=10
partitions: 2
subscriptions: 2
record-size: lognormal:1KiB,0.8
payload: p.data
batch-records: 3
fetch-bytes: 1MiB
pattern: zipf
skew: 0.5
prefill: 1MiB
produce-rate: 20000/s
consume-rate: 500
rate: 1k/s
arrivals: poisson
burst: 7
think: 1ms
replicas: 2
acks: all
sync: 10ms
segment-size: 1MiB
max-bytes: 1GiB
ramp: 200ms
duration: 2s
backlog: 16MiB
drain: 90%
find-max-rate: false
slo: [produce p99 < 2ms, "e2e max<1s"]
primary: op/s
strategies: [mutex, actor]
`

func TestOwnFileHonoursEveryKey(t *testing.T) {
	grid, err := loadGrid(t, ownFile, map[string]string{"p.data": "abc"}, Overrides{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := Find("tail")
	want.Name, want.Title = "every-key", "all of it"
	want.Workers, want.ProducePercent = 0, 10
	want.Partitions, want.Subscriptions, want.BatchRecords, want.FetchBytes = 2, 2, 3, 1<<20
	want.Sizes, want.RecordSize, want.Payload = Sizes{Kind: SizesLognormal, Median: 1024, Sigma: 0.8, Max: 16 << 10}, 16<<10, []byte("abc")
	want.Pattern, want.Skew, want.Prefill = Zipfian, 0.5, 1<<20
	want.ProduceRate, want.ConsumeRate, want.Rate = 20000, 500, 1000
	want.Arrivals, want.Burst, want.Think, want.Replicas = ArrivalsPoisson, 7, time.Millisecond, 2
	want.Acks, want.Sync, want.SegmentSize, want.MaxBytes, want.Bounded = AcksAll, "10ms", 1<<20, 1<<30, true
	want.Ramp, want.Duration, want.Backlog, want.DrainRatio = 200*time.Millisecond, 2*time.Second, 16<<20, 0.9
	want.Objectives = []Objective{{KindProduce, "p99", 2 * time.Millisecond}, {KindEndToEnd, "max", time.Second}}
	want.Primary, want.Strategies = "op/s", []string{"mutex", "actor"}
	if len(grid) != 4 {
		t.Fatalf("%d workloads", len(grid))
	}
	for i, roles := range [][2]int{{1, 2}, {1, 6}, {4, 2}, {4, 6}} {
		want.Producers, want.Consumers = roles[0], roles[1]
		if filepath.Base(grid[i].Source) != "My Load.yaml" {
			t.Errorf("read from %q", grid[i].Source)
		}
		want.Source, want.SourceText = grid[i].Source, grid[i].SourceText
		if !reflect.DeepEqual(grid[i], want) {
			t.Errorf("got  %+v\nwant %+v", grid[i], want)
		}
	}
	var f ownWorkload
	for _, k := range f.keys() {
		if !strings.Contains(ownFile, "\n"+k.name+":") && k.name != "name" {
			t.Errorf("key %s is not tested", k.name)
		}
	}
}

func TestOwnFileDefaults(t *testing.T) {
	for _, c := range []struct{ text, name, line, primary string }{
		{"producers: 2\nconsumers: 2\n", "my-load", "2 producers, 2 tail consumers, closed loop", "produce-op/s"},
		{"mix: 25\n", "my-load", "8 workers, 25 % produce, random 8 KiB reads of 1 KiB records, closed loop", "op/s"},
		{"workers: 4\nrate: 100k/s\nthink: 0s\n", "my-load", "4 workers at 100,000/s, 10 % produce, random 8 KiB reads of 1 KiB records, open loop", "consume-p90-sec"},
		{"consumers: 3\n", "my-load", "3 catch-up consumers, closed loop", "consume-op/s"},
		{"base: mix\ntitle: mine\n", "my-load", "mine: 8 workers, 10 % produce, random 8 KiB reads of 1 KiB records, closed loop", "op/s"},
		{"base: mix\npattern: zipf\n", "my-load", "8 workers, 10 % produce, zipf 0.99 8 KiB reads of 1 KiB records, closed loop", "op/s"},
		{"consumers: 2\nprefill: 1GiB\ndrain: 1\nsubscriptions: 1\n", "my-load", "2 tail consumers, closed loop, drains a backlog of 1 GiB", "drain-sec"},
		{"name: n\nbase: tail\nfind-max-rate: true\nslo: produce p99 < 2ms\n", "n",
			"2 producers, 2 tail consumers, open loop, searching for the highest rate with produce p99 < 2ms", "e2e-p90-sec"},
		{"{producers: 1, record-size: 100}", "my-load", "1 producer, 100 B records, closed loop", "produce-op/s"},
		{"producers: 1\nprimary: cpu-sec/op\n", "my-load", "1 producer, closed loop", "cpu-sec/op"},
	} {
		grid, err := loadGrid(t, c.text, nil, Overrides{}, nil)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		w := grid[0]
		if err := w.Validate(); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if w.Name != c.name || w.Describe() != c.line || w.Primary != c.primary {
			t.Errorf("%q is %s by %s: %s", c.text, w.Name, w.Primary, w.Describe())
		}
	}
}

// What the flags say takes the place of what the file says, and what follows from it with it.
func TestOwnFileUnderFlags(t *testing.T) {
	const text = "producers: [1, 2]\nconsumers: [1, 3]\nramp: 10s\nduration: 60s\nproduce-rate: 100\nprimary: cpu-sec/op\npattern: zipf\nskew: 2\npayload: p.data\nfetch-bytes: 1113\n"
	files := map[string]string{"p.data": "abc"}
	elsewhere := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		flags Overrides
		want  string
	}{
		"nothing":         {Overrides{}, "1+1 1+3 2+1 2+3 10s 100 cpu-sec/op zipf 2 1113 false"},
		"levels":          {Overrides{Producers: []int{5}}, "5+1 5+3 10s 100 produce-p90-sec zipf 2 1113 false"},
		"other roles":     {Overrides{Consumers: []int{0}}, "1+0 2+0 10s 100 produce-p90-sec zipf 2 1113 false"},
		"a short window":  {Overrides{Duration: new(time.Second)}, "1+1 1+3 2+1 2+3 1s 100 cpu-sec/op zipf 2 1113 false"},
		"another pattern": {Overrides{Pattern: new("random")}, "1+1 1+3 2+1 2+3 10s 100 produce-p90-sec random 0 1113 false"},
		"a skew":          {Overrides{Skew: new(0.5)}, "1+1 1+3 2+1 2+3 10s 100 cpu-sec/op zipf 0.5 1113 false"},
		"a search":        {Overrides{Search: new(true)}, "1+1 1+3 2+1 2+3 10s 0 produce-p90-sec zipf 2 1113 true"},
		"large records":   {Overrides{RecordSize: &RecordSize{Largest: 4096}}, "1+1 1+3 2+1 2+3 10s 100 cpu-sec/op zipf 2 12288 false"},
	} {
		grid, err := loadGrid(t, text, files, c.flags, nil)
		if err != nil {
			t.Fatal(err)
		}
		var points []string
		for _, w := range grid {
			points = append(points, fmt.Sprintf("%d+%d", w.Producers, w.Consumers))
		}
		w := grid[0]
		got := fmt.Sprint(strings.Join(points, " "), " ", w.Ramp, " ", w.ProduceRate, " ", w.Primary, " ", w.Pattern, " ", w.Skew, " ", w.FetchBytes, " ", w.Search)
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	var field *FieldError
	if _, err := loadGrid(t, text, files, Overrides{PayloadFile: &elsewhere}, nil); !errors.As(err, &field) || field.Field != "--payload" {
		t.Errorf("missing file of a flag: %v", err)
	}
	if _, err := loadGrid(t, "producers: 1\npayload: none.data\n", nil, Overrides{PayloadFile: new("testdata/lines.txt")}, nil); err != nil {
		t.Errorf("the flag's payload is there, the file's is not: %v", err)
	}
	grid, err := loadGrid(t, "producers: 1\nfind-max-rate: true\nslo: produce max < 1s\n", nil, Overrides{ProduceRate: new(5.0)}, nil)
	if err != nil || grid[0].Search || grid[0].Validate() != nil {
		t.Errorf("%v: a rate does not end the search: %+v", err, grid)
	}
}

// badOwnFiles are texts that LoadGrid takes for files of our own and refuses, with the place and the sentence.
var badOwnFiles = []struct{ name, text, want string }{
	{"unknown key", "producers: 1\nconsumer: 2\n", "2:1: unknown key consumer; did you mean consumers?"},
	{"a flag's dashes", "--producers: 1\n", "1:1: unknown key --producers; did you mean producers?"},
	{"nothing near", "colour: red\n", "1:1: unknown key colour"},
	{"twice", "mix: 1\nmix: 2\n", "2:1: key mix is given twice; the first is on line 1"},
	{"no number", "producers: many\n", "1:12: producers many: not a whole number"},
	{"no number in a list", "producers: [1, many]\n", "1:16: producers many: not a whole number"},
	{"no number between commas", "producers: 1,,2\n", `1:12: producers "": not a whole number`},
	{"an empty list", "producers: []\n", "1:12: producers: the list is empty; give a value, or leave the key out"},
	{"a list in a list", "producers: [[1]]\n", "1:13: producers: of YAML type sequence; give values in the list"},
	{"a list for one", "partitions: [1, 2]\n", "1:13: partitions: of YAML type sequence; give a value"},
	{"a mapping", "producers: {a: 1}\n", "1:12: producers: of YAML type mapping; give a value or a list of them"},
	{"no value", "acks:\n", "1:7: acks: of YAML type null; give a value"},
	{"an alias", "acks: *a\n", "1:7: acks: of YAML type alias; give a value"},
	{"empty text", `acks: ""` + "\n", `1:7: acks "": empty; give a value, or leave the key out`},
	{"size", "record-size: 1.5KiB\n", "1:14: record-size 1.5KiB: not a size of records; give one as in 1KiB, uniform:100-4KiB, lognormal:1KiB,0.8 or lines"},
	{"small size", "record-size: uniform:1-100\n", "1:14: record-size uniform:1-100: 1 is less than the 24 bytes that verification needs in every record"},
	{"rate", "produce-rate: .nan\n", "1:15: produce-rate .nan: not a rate; a number per second as in 20000/s, 20000 or 20k/s"},
	{"infinite rate", "rate: Inf\n", "1:7: rate Inf: not a finite number; a rate is a number per second as in 20000/s, 20000 or 20k/s"},
	{"skew", "skew: -1\n", "1:7: skew -1: not a skew; a number from 0, which is uniform, as in 0.99"},
	{"drain", "drain: 110%\n", `1:8: drain 110%: not a share; a number above 0 and up to 1, or a percentage, as in 0.9 or 90%`},
	{"time", "think: 5\n", "1:8: think 5: not a time; give a number with its unit as in 400ms, 2s or 1m"},
	{"truth", "find-max-rate: perhaps\n", "1:16: find-max-rate perhaps: give true or false"},
	{"objective", "slo:\n  - produce p99 < 2ms\n  - produce p98 < 2ms\n",
		`3:5: slo "produce p98 < 2ms": p98 is no statistic of a latency; give one of p50, p90, p99, p999, max, mean`},
	{"base", "base: mixx\n", "1:7: base mixx: no such workload; there are mix, tail, ingest, durable; did you mean mix?"},
	{"name", "name: a b\n", `1:7: name "a b": give letters, digits, -, _ and . only; free text goes under title`},
	{"payload", "payload: none.data\n", `1:10: payload none.data: no such file or directory`},
	{"sync", "sync: always\n", "1:7: sync always: unknown; give none, batch, a size as in 1MiB, or a time as in 10ms"},
}

func TestOwnFileRefuses(t *testing.T) {
	for _, test := range badOwnFiles {
		_, err := loadGrid(t, test.text, nil, Overrides{}, nil)
		var located *FileError
		if !errors.As(err, &located) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: error is %T %v, want a *FileError", test.name, err, err)
			continue
		}
		if want := "workload: " + located.File + ":" + test.want; err.Error() != want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, err, want)
		}
	}
	for payload, want := range map[string]string{
		"sub": "not a regular file", "empty": "the file is empty; give one with bytes to fill records with",
	} {
		_, err := loadGrid(t, "producers: 1\npayload: "+payload+"\n", map[string]string{"sub/x": "", "empty": ""}, Overrides{}, nil)
		if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(`2:10: payload %s: %s`, payload, want)) {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

func TestExampleFiles(t *testing.T) {
	grid, err := LoadGrid("testdata/events.yaml", Overrides{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range grid {
		if err := w.Validate(); err != nil {
			t.Error(err)
		}
		lines = append(lines, w.Describe())
	}
	const rest = " at 20,000/s, 4 tail consumers, 2 subscriptions, records are lines of the payload, 10 records a batch, 2 partitions, 2 followers, " +
		"open loop, Poisson arrivals, in bursts of 5, acknowledged by all, sync every 10ms, sustained, producers held at 64 MiB unread"
	if want := []string{"events of a shop: 1 producer" + rest, "events of a shop: 8 producers" + rest}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}
