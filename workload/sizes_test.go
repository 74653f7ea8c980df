package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseSizes(t *testing.T) {
	for text, want := range map[string]struct {
		canonical string
		largest   int
	}{
		"1KiB":                      {"", 1024},
		" 100 ":                     {"", 100},
		"10":                        {"", 10},
		"uniform:100-4KiB":          {"uniform:100-4KiB", 4096},
		"uniform: 24 - 24":          {"uniform:24-24", 24},
		"lognormal:1KiB,0.8":        {"lognormal:1KiB,0.8", 16 << 10},
		"lognormal:1024, 0.80,16KB": {"lognormal:1KiB,0.8,16000", 16000},
		"lognormal:1KiB,1,16KiB":    {"lognormal:1KiB,1", 16 << 10},
		"lognormal:2147483647,8":    {"lognormal:2147483647,8", MaxSegmentSize},
		"lines":                     {"lines", 0},
	} {
		sizes, largest, err := ParseSizes(text)
		if err != nil || sizes.String() != want.canonical || largest != want.largest {
			t.Errorf("%q: %q of at most %d, %v; want %+v", text, sizes, largest, err, want)
			continue
		}
		if both, err := ParseRecordSize(text); err != nil || both != (RecordSize{sizes, largest}) {
			t.Errorf("%q: %+v, %v", text, both, err)
		}
		if back, again, err := ParseSizes(want.canonical); want.canonical != "" && (err != nil || back != sizes || again != largest) {
			t.Errorf("%s reads back as %+v, %d, %v", want.canonical, back, again, err)
		}
	}
	refused(t, "record-size", func(s string) error { _, _, err := ParseSizes(s); return err },
		"", "big", "-1", "1.5KiB", "NaN", "uniform", "uniform:", "uniform:100", "uniform:100-", "uniform:-100", "uniform:4KiB-100",
		"uniform:10-100", "uniform:100-4GiB", "uniform:1-2-3", "lognormal", "lognormal:", "lognormal:1KiB", "lognormal:1KiB,", "lognormal:1KiB,x",
		"lognormal:1KiB,NaN", "lognormal:1KiB,Inf", "lognormal:1KiB,0", "lognormal:1KiB,-1", "lognormal:1KiB,9", "lognormal:1KiB,1,1", "lognormal:10,1",
		"lognormal:1KiB,1,2KiB,3", "lognormal:1KiB,1,4GiB", "lognormal:4GiB,1", "lines:", "lines:1", "zipf:1", "uniform:100-\n2x")
}

// drawn is a workload of records of such sizes.
func drawn(t *testing.T, text, payload string) *Workload {
	t.Helper()
	size, err := ParseRecordSize(text)
	if err != nil {
		t.Fatal(err)
	}
	w := Default()
	w.Producers = 1
	w.Payload = []byte(payload)
	if err := w.apply(&Overrides{RecordSize: &size}); err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return &w
}

const someLines = "the first line is longer than a header\r\n\nshort\na line of exactly 24 chr\nthe last line has no line feed and is the longest"

var distributions = []struct{ sizes, payload string }{
	{"1KiB", ""}, {"uniform:24-24", ""}, {"uniform:24-3000", ""}, {"uniform:100-200", "abc"}, {"lognormal:1KiB,0.8", ""},
	{"lognormal:24,3", ""}, {"lognormal:1KiB,0.8,1100", "abc"}, {"lines", someLines},
}

func TestPayloadOfDrawnSizes(t *testing.T) {
	for _, c := range distributions {
		w := drawn(t, c.sizes, c.payload)
		p, same, other := NewPayload(1, w), NewPayload(1, w), NewPayload(2, w)
		room := make([]byte, w.RecordSize)
		differs := false
		for sequence := range uint64(3000) {
			producer := uint32(sequence % 3)
			size := p.Size(producer, sequence)
			if size < MinRecordSize || size > w.RecordSize || same.Size(producer, sequence) != size {
				t.Fatalf("%s: record %d has %d bytes", c.sizes, sequence, size)
			}
			differs = differs || other.Size(producer, sequence) != size
			value := room[:size]
			p.Fill(value, producer, sequence, 7)
			gotProducer, gotSequence, gotTime, err := p.Check(value)
			if err != nil || gotProducer != producer || gotSequence != sequence || gotTime != 7 {
				t.Fatalf("%s, record %d: read %d %d %d, %v", c.sizes, sequence, gotProducer, gotSequence, gotTime, err)
			}
		}
		if c.sizes != "1KiB" && c.sizes != "uniform:24-24" && !differs {
			t.Errorf("%s: another seed draws the same sizes", c.sizes)
		}
	}
}

// A record that was cut, or that has grown, is found though records have several sizes; and so is every
// flipped byte.
func TestPayloadOfDrawnSizesFindsChanges(t *testing.T) {
	for _, c := range distributions {
		p := NewPayload(1, drawn(t, c.sizes, c.payload))
		for sequence := range uint64(20) {
			value := make([]byte, p.Size(3, sequence), 1<<15)
			p.Fill(value, 3, sequence, 5)
			for _, wrong := range [][]byte{nil, value[:len(value)-1], value[:23], append(bytes.Clone(value), 0), append(bytes.Clone(value), value...)} {
				var problem *PayloadError
				if _, _, _, err := p.Check(wrong); !errors.As(err, &problem) {
					t.Errorf("%s: %d bytes instead of %d pass", c.sizes, len(wrong), len(value))
				}
			}
			for at := range value {
				value[at] ^= 0x10
				if _, _, _, err := p.Check(value); err == nil {
					t.Fatalf("%s: byte %d of record %d may be anything", c.sizes, at, sequence)
				}
				value[at] ^= 0x10
			}
		}
	}
}

// The sizes that are drawn have the moments that bounds are computed from, and the distribution's own.
func TestPayloadSizesHaveTheirDistribution(t *testing.T) {
	const draws = 50_000
	for _, c := range distributions {
		w := drawn(t, c.sizes, c.payload)
		p := NewPayload(1, w)
		sizes := make([]float64, draws)
		sum := 0.0
		for i := range sizes {
			sizes[i] = float64(p.Size(1, uint64(i)))
			sum += sizes[i]
		}
		mean, deviation := w.recordMoments()
		if got := sum / draws; math.Abs(got-mean) > 5*deviation/math.Sqrt(draws)+1e-9 {
			t.Errorf("%s: mean %v, want %v", c.sizes, got, mean)
		}
		squares := 0.0
		for _, size := range sizes {
			squares += square(size - mean)
		}
		if got := math.Sqrt(squares / draws); math.Abs(got-deviation) > 0.05*deviation+1e-9 {
			t.Errorf("%s: deviation %v, want %v", c.sizes, got, deviation)
		}
	}
	p := NewPayload(1, drawn(t, "lognormal:1KiB,0.8", ""))
	var logs []float64
	for i := range uint64(draws) {
		logs = append(logs, math.Log(float64(p.Size(1, i))/1024)/0.8)
	}
	slices.Sort(logs)
	for quantile, want := range map[float64]float64{0.01: -2.326, 0.1: -1.2816, 0.5: 0, 0.9: 1.2816, 0.99: 2.326} {
		if got := logs[int(quantile*draws)]; math.Abs(got-want) > 0.1 {
			t.Errorf("quantile %v lies %v sigma from the median, want %v", quantile, got, want)
		}
	}
}

func TestPayloadOfLines(t *testing.T) {
	w := drawn(t, "lines", someLines)
	if w.RecordSize != 49 || strings.Join(w.Notes, "|") != "Of the payload's 4 lines, 1 is shorter than the 24 bytes that verification needs and padded to it." {
		t.Errorf("records of %d bytes, notes %q", w.RecordSize, w.Notes)
	}
	p := NewPayload(1, w)
	seen := make(map[string]int)
	value := make([]byte, w.RecordSize)
	for sequence := range uint64(4000) {
		record := value[:p.Size(2, sequence)]
		p.Fill(record, 2, sequence, 0)
		seen[string(record[MinRecordSize:])]++
	}
	for _, rest := range []string{" than a header", "e feed and is the longest", ""} {
		if seen[rest] == 0 {
			t.Errorf("no record ends with %q: %v", rest, seen)
		}
	}
	within(t, "lines without a rest", seen[""], 2000)
	if len(seen) != 3 {
		t.Errorf("records end with %v", seen)
	}
}

func TestPayloadOfNonsenseStillFills(t *testing.T) {
	for _, w := range []*Workload{
		{}, {RecordSize: -5}, {Sizes: Sizes{Kind: "none"}, RecordSize: 50}, {Sizes: Sizes{Kind: SizesLines}},
		{Sizes: Sizes{Kind: SizesLines}, Payload: []byte("\n\r\n\n")}, {Sizes: Sizes{Kind: SizesUniform, Min: 100, Max: -1}},
		{Sizes: Sizes{Kind: SizesLognormal}}, {Sizes: Sizes{Kind: SizesLognormal, Median: 100, Max: 50, Sigma: math.NaN()}},
	} {
		p := NewPayload(1, w)
		value := make([]byte, p.Size(1, 1))
		p.Fill(value, 1, 1, 1)
		if _, _, _, err := p.Check(value); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestPayloadOfDrawnSizesDoesNotAllocate(t *testing.T) {
	for _, c := range distributions {
		w := drawn(t, c.sizes, c.payload)
		p := NewPayload(1, w)
		room := make([]byte, w.RecordSize)
		var sequence uint64
		if allocs := testing.AllocsPerRun(500, func() {
			sequence++
			value := room[:p.Size(1, sequence)]
			p.Fill(value, 1, sequence, 0)
			if _, _, _, err := p.Check(value); err != nil {
				t.Fatal(err)
			}
		}); allocs != 0 {
			t.Errorf("%s: %v allocations", c.sizes, allocs)
		}
	}
}

func BenchmarkPayloadDrawnSizes(b *testing.B) {
	for _, text := range []string{"1KiB", "uniform:1000-1048", "lognormal:1KiB,0.02"} {
		b.Run(fmt.Sprint(text), func(b *testing.B) {
			size, err := ParseRecordSize(text)
			if err != nil {
				b.Fatal(err)
			}
			p := NewPayload(1, &Workload{RecordSize: size.Largest, Sizes: size.Sizes})
			room := make([]byte, size.Largest)
			b.ReportAllocs()
			var sequence uint64
			for b.Loop() {
				sequence++
				p.Fill(room[:p.Size(1, sequence)], 1, sequence, 0)
			}
		})
	}
}
