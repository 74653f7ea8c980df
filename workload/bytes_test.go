package workload

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestBatchBytes(t *testing.T) {
	for _, c := range []struct{ record, records, want int }{
		{1024, 1, 61 + 1024 + 28}, {24, 1000, 61 + 1000*52}, {0, 0, 61}, {-100, 1, 61},
		{math.MaxInt32, math.MaxInt32, 61 + (math.MaxInt32+28)*math.MaxInt32},
		{math.MaxInt / 2, 3, math.MaxInt}, {math.MaxInt, math.MaxInt, math.MaxInt}, {math.MaxInt, 1, math.MaxInt},
	} {
		if got := BatchBytes(&Workload{RecordSize: c.record, BatchRecords: c.records}); got != c.want {
			t.Errorf("%d records of %d bytes: %d, want %d", c.records, c.record, got, c.want)
		}
	}
}

func TestMeanBatchBytes(t *testing.T) {
	for _, c := range []struct {
		sizes, payload string
		records        int
		want           float64
	}{{"1KiB", "", 3, 61 + 3*(1024+28)}, {"uniform:100-200", "", 2, 61 + 2*(150+28)}, {"lines", someLines, 1, 61 + 28 + (38+24+24+49)/4.0}} {
		w := drawn(t, c.sizes, c.payload)
		w.BatchRecords = c.records
		if got := MeanBatchBytes(w); math.Abs(got-c.want) > 1e-6 || got > float64(BatchBytes(w)) {
			t.Errorf("%s: %v, want %v", c.sizes, got, c.want)
		}
	}
}

// takes is what a load takes of its budget when its goroutines write so much each: whole pieces.
func takes(b Budget, batch int, written ...float64) (bytes int64) {
	for _, w := range written {
		for allowed := int64(0); w+float64(batch) > float64(allowed); allowed += b.Piece {
			bytes += b.Piece
		}
	}
	return bytes
}

// The bound of a paced run leaves room for all that is due, however long it lasts, before so little is left that the
// window is closed.
func TestPacedBytesHoldWhatIsDue(t *testing.T) {
	for _, duration := range []time.Duration{
		time.Millisecond, 100 * time.Millisecond, time.Second, 40 * time.Second, 70 * time.Second, 6 * time.Minute, time.Hour, 24 * time.Hour,
	} {
		for producers, rate := range map[int]float64{1: 20000, 7: 20000, 8: 1, 16: 5, 50: 20, 3: 200, 2: 3e6, 1000: 1} {
			for _, size := range []int{24, 1024, 16 << 10, 1 << 20} {
				w := Default()
				w.Producers, w.ProduceRate, w.RecordSize, w.Prefill = producers, rate, size, 1<<20
				w.Ramp, w.Duration = duration/5, duration
				w.MaxBytes = w.Bound()
				if w.MaxBytes == unbounded {
					continue
				}
				b := w.Budget()
				// At most one more than the even share falls to a producer.
				due := (w.ProduceRate/float64(producers)*(w.Ramp+w.Duration+5*time.Millisecond).Seconds() + 1) * float64(BatchBytes(&w))
				if taken := takes(b, BatchBytes(&w), slices.Repeat([]float64{due}, producers)...); taken > b.All-b.Reserve {
					t.Errorf("%v, %d producers at %v/s, %d bytes: %d are taken of %d with %d in reserve", duration, producers, rate, size, taken, b.All, b.Reserve)
				}
				// The headroom is a share, and what a moment and some batches more need.
				most := 1.15*(due*float64(producers)+rate/20*float64(BatchBytes(&w))) + 8*float64(BatchBytes(&w)*(producers+1))
				if float64(b.All) > most {
					t.Errorf("%v, %d producers at %v/s, %d bytes: the bound is %d, want %.0f at most", duration, producers, rate, size, b.All, most)
				}
			}
		}
	}
}

// What is drawn, arrivals, sizes and the operations of a mix, stays within the bound.
func TestPacedBytesHoldWhatIsDrawn(t *testing.T) {
	for _, arrivals := range []string{ArrivalsConstant, ArrivalsPoisson} {
		for _, burst := range []int{1, 7, 500} {
			for _, mix := range []bool{false, true} {
				for _, sizes := range []string{"lognormal:1KiB,1.5", "uniform:100-4KiB", "lines"} {
					w := drawn(t, sizes, someLines)
					w.Arrivals, w.Burst, w.Producers, w.ProduceRate = arrivals, burst, 10, 2000
					if mix {
						w.Producers, w.ProduceRate, w.Workers, w.Rate, w.ProducePercent = 0, 0, 10, 10000, 20
					}
					stop := w.Ramp + w.Duration
					p := NewPayload(1, w)
					w.MaxBytes = w.Bound()
					b := w.Budget()
					written := make([]float64, 10)
					for client := range written {
						d := NewDraw(1, client)
						s := NewSchedule(w, w.ProduceRate+w.Rate, 10, client, 1)
						for sequence := uint64(0); s.Next() < stop; sequence++ {
							if !mix || d.Produce(w.ProducePercent) {
								written[client] += float64(p.Size(uint32(client), sequence) + batchHeaderBytes + recordOverheadBytes)
							}
						}
					}
					if taken := takes(b, BatchBytes(w), written...); taken > b.All-b.Reserve || taken == 0 {
						t.Errorf("%s, %s, burst %d, mix %v: %d are taken of %d with %d in reserve", sizes, arrivals, burst, mix, taken, b.All, b.Reserve)
					}
				}
			}
		}
	}
}

// What was given is obeyed, by whoever asks; what was not is what the load needs.
func TestBound(t *testing.T) {
	paced := roles()
	paced.ProduceRate = 1000
	long := roles()
	long.Backlog = 1 << 20
	for _, w := range []Workload{roles(), mixed(), paced, long} {
		for _, given := range []int64{64 << 10, 2 << 30, 1 << 40} {
			grid, err := Grid(w, Overrides{MaxBytes: &given})
			if err != nil || grid[0].Bound() != given {
				t.Errorf("%s: --max-bytes %d: %d, %v", w.Describe(), given, grid[0].Bound(), err)
			}
		}
	}
	if got := paced.Bound(); got != paced.PacedBytes() || got == 0 {
		t.Errorf("a paced load: %d, want %d", got, paced.PacedBytes())
	}
	if w := roles(); w.Bound() != w.MaxBytes {
		t.Errorf("a closed loop: %d, want %d", w.Bound(), w.MaxBytes)
	}
	if got := long.Bound(); got != unbounded {
		t.Errorf("a sustained run: %d", got)
	}
}

func TestPacedBytesOfClosedLoops(t *testing.T) {
	for _, w := range []Workload{roles(), mixed()} {
		if got := w.PacedBytes(); got != 0 {
			t.Errorf("%s: %d", w.Describe(), got)
		}
	}
	w := roles()
	w.ProduceRate, w.RecordSize = maxRate, 1<<60
	if got := w.PacedBytes(); got != 1<<62 {
		t.Errorf("beyond all bounds: %d", got)
	}
}

// The number of bursts in a short window differs by more than that of single operations does; the bound holds them, too.
func TestPacedBytesHoldFewBursts(t *testing.T) {
	w := Default()
	w.Producers, w.ProduceRate, w.Arrivals, w.Burst = 4, 1000, ArrivalsPoisson, 100
	w.Ramp, w.Duration = 10*time.Millisecond, 400*time.Millisecond
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	w.MaxBytes = w.Bound()
	b := w.Budget()
	for seed := range uint64(2000) {
		written := make([]float64, w.Producers)
		for client := range written {
			for s := NewSchedule(&w, w.ProduceRate, w.Producers, client, seed); s.Next() < w.Ramp+w.Duration; {
				written[client] += float64(BatchBytes(&w))
			}
		}
		if taken := takes(b, BatchBytes(&w), written...); taken > b.All-b.Reserve {
			t.Fatalf("seed %d: %d are taken of %d with %d in reserve", seed, taken, b.All, b.Reserve)
		}
	}
}
