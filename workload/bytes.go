package workload

import (
	"cmp"
	"math"
	"time"
)

// Encoded size of a Kafka RecordBatch v2 beyond the values in it.
const (
	batchHeaderBytes = 61
	// A record without key and headers has at most: length varint 5, attributes 1, timestamp delta
	// varlong 10, offset delta varint 5, key length −1 in 1, value length varint 5, header count 1.
	recordOverheadBytes = 28
)

// BatchBytes is an upper bound of the encoded size of one batch of the workload: 61 bytes of header
// and, for each record, the largest value and at most 28 bytes around it. It saturates.
func BatchBytes(w *Workload) int {
	if w.RecordSize < 0 || w.BatchRecords <= 0 {
		return batchHeaderBytes
	}
	const room = math.MaxInt - batchHeaderBytes
	if w.RecordSize > room/w.BatchRecords-recordOverheadBytes {
		return math.MaxInt
	}
	return batchHeaderBytes + w.BatchRecords*(w.RecordSize+recordOverheadBytes)
}

// MeanBatchBytes is BatchBytes of records of mean size: an upper bound of the mean encoded size of a
// batch. It reads the whole payload where records are its lines.
func MeanBatchBytes(w *Workload) float64 {
	mean, _ := w.recordMoments()
	return batchHeaderBytes + float64(max(w.BatchRecords, 0))*(max(mean, 0)+recordOverheadBytes)
}

// afterWindow is longer than the load goes on when its window has closed.
const afterWindow = 50 * time.Millisecond

// improbable is how many standard deviations a sum of many draws stays within for all that a run sees:
// more happens once in a thousand million times.
const improbable = 6

// Budget is how a run hands out the bytes that it may write: in pieces, so that its goroutines seldom meet there,
// down to a reserve. The window closes when only the reserve is left, which keeps the load up until it has closed.
type Budget struct {
	All     int64 // the prefill is not part of it
	Reserve int64
	Piece   int64
}

// Shares of a budget: its reserve, and the pieces of all goroutines together.
const (
	reserveShare = 16
	piecesShare  = 64
)

// Budget is that of a run which may write MaxBytes.
func (w *Workload) Budget() Budget {
	all := w.MaxBytes - w.Prefill
	appenders := int64(max(w.Producers+w.Workers, 1))
	return Budget{All: all, Reserve: all / reserveShare, Piece: max(int64(BatchBytes(w)), all/piecesShare/appenders)}
}

// Bound is what a run may write: MaxBytes where it was given. Else it is what a sustained run will ever write, what
// a paced load needs to last for the whole of its window, or the MaxBytes of a closed loop.
func (w *Workload) Bound() int64 {
	if w.Bounded {
		return w.MaxBytes
	}
	if w.Backlog > 0 {
		return unbounded
	}
	return cmp.Or(w.PacedBytes(), w.MaxBytes)
}

// unbounded is more bytes than any run writes.
const unbounded = math.MaxInt64 / 2

// PacedBytes is a MaxBytes with which a run whose producers, or whose mix, are paced never closes its window early,
// prefill included; 0 for a closed loop. Where sizes, arrivals or operations are drawn, the bound is one that chance
// does not reach in practice.
func (w *Workload) PacedBytes() int64 {
	appends, clients := w.pacedAppends()
	if appends == 0 {
		return 0
	}
	appends *= (w.Ramp + w.Duration + afterWindow).Seconds()
	group := float64(max(w.Burst, 1))
	if w.Arrivals == ArrivalsPoisson || w.Workers > 0 {
		// The variance of a Poisson process of groups is that of the operations times the operations of a
		// group. The tail of one of few groups is longer than that of a normal distribution (Bernstein).
		appends += improbable * (math.Sqrt(appends*group) + group)
	}
	appends += clients + group - 1
	_, deviation := w.recordMoments()
	bytes := appends*MeanBatchBytes(w) + improbable*(deviation*math.Sqrt(appends*float64(w.BatchRecords))+float64(BatchBytes(w)))
	// What each goroutine has taken and not written yet: its piece, but for the share of all pieces below, and a
	// batch that does not fit what is left of one.
	bytes += float64(BatchBytes(w)) * (4*clients + float64(w.Partitions))
	// All of that lies above the reserve and the pieces, which are shares of the whole.
	bytes /= 1 - 1./reserveShare - 1./piecesShare
	return int64(min(float64(w.Prefill)+bytes, unbounded))
}

// pacedAppends are the appends a second of a paced load, by so many goroutines; 0 for a closed loop.
func (w *Workload) pacedAppends() (perSecond, clients float64) {
	switch {
	case w.Producers > 0 && w.ProduceRate > 0:
		return w.ProduceRate / float64(max(w.BatchRecords, 1)), float64(w.Producers)
	case w.Workers > 0 && w.Rate > 0:
		return w.Rate * w.ProducePercent / 100, float64(w.Workers)
	default:
		return 0, 0
	}
}

// recordMoments are the mean and the standard deviation of the bytes of a record's value.
func (w *Workload) recordMoments() (mean, deviation float64) {
	var n, sum, squares float64
	add := func(size float64) { n, sum, squares = n+1, sum+size, squares+size*size }
	switch w.Sizes.Kind {
	case SizesUniform:
		width := float64(w.Sizes.Max) - float64(w.Sizes.Min) + 1
		return (float64(w.Sizes.Min) + float64(w.Sizes.Max)) / 2, math.Sqrt(max(width*width-1, 0) / 12)
	case SizesLognormal:
		for _, size := range w.Sizes.lognormalTable() {
			add(float64(size))
		}
	case SizesLines:
		for line := range payloadLines(w.Payload) {
			add(float64(max(len(line), MinRecordSize)))
		}
	}
	if n == 0 {
		return float64(w.RecordSize), 0
	}
	mean = sum / n
	return mean, math.Sqrt(max(squares/n-mean*mean, 0))
}
