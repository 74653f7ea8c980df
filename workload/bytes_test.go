package workload

import (
	"math"
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

// The bound of a paced run leaves room for all that is due, however long it lasts, before a producer is
// so near to its share that the window is closed.
func TestPacedBytesHoldWhatIsDue(t *testing.T) {
	for _, duration := range []time.Duration{time.Millisecond, time.Second, 65 * time.Second, 6 * time.Minute, 24 * time.Hour} {
		for producers, rate := range map[int]float64{1: 20000, 7: 20000, 8: 1, 16: 5, 50: 20} {
			w := Default()
			w.Producers, w.ProduceRate, w.BatchRecords, w.Prefill = producers, rate, 3, 1<<20
			w.Ramp, w.Duration = duration/5, duration
			share := float64(w.PacedBytes()-w.Prefill) / float64(producers)
			// At most one more than the even share falls to a producer.
			due := (w.ProduceRate/float64(w.BatchRecords*producers)*(w.Ramp+w.Duration).Seconds() + 1) * float64(BatchBytes(&w))
			if usable := share - share/64 - float64(BatchBytes(&w)); due > usable {
				t.Errorf("%v, %d producers: %.0f bytes are due of each, %.0f are usable", duration, producers, due, usable)
			}
		}
	}
}

// What is drawn, arrivals, sizes and the operations of a mix, stays within the bound of each producer's share.
func TestPacedBytesHoldWhatIsDrawn(t *testing.T) {
	for _, arrivals := range []string{ArrivalsConstant, ArrivalsPoisson} {
		for _, burst := range []int{1, 7, 500} {
			for _, mix := range []bool{false, true} {
				w := drawn(t, "lognormal:1KiB,1.5", "")
				w.Arrivals, w.Burst, w.Producers, w.ProduceRate = arrivals, burst, 10, 2000
				if mix {
					w.Producers, w.ProduceRate, w.Workers, w.Rate, w.ProducePercent = 0, 0, 10, 10000, 20
				}
				stop := w.Ramp + w.Duration
				p := NewPayload(1, w)
				share := float64(w.PacedBytes()) / 10
				usable := share - share/64 - float64(BatchBytes(w))
				for client := range 10 {
					d := NewDraw(1, client)
					s := NewSchedule(w, w.ProduceRate+w.Rate, 10, client, 1)
					written := 0.0
					for sequence := uint64(0); s.Next() < stop; sequence++ {
						if !mix || d.Produce(w.ProducePercent) {
							written += float64(p.Size(uint32(client), sequence) + batchHeaderBytes + recordOverheadBytes)
						}
					}
					if written > usable || written < share/50 && burst == 1 {
						t.Errorf("%s, burst %d, mix %v: client %d writes %.0f bytes, %.0f are usable", arrivals, burst, mix, client, written, usable)
					}
				}
			}
		}
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
