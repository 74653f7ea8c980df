package harness

import (
	"tailrace/results"
)

// recorder is what one worker measures of one kind of operation, inside the window.
type recorder struct {
	latency *results.Histogram // from the intended start in an open loop, else from the actual one
	// Open loop only.
	service  *results.Histogram // from the actual start
	lateness *results.Histogram // of the start, where the worker was free before its time

	operations, records, bytes int64
	empty                      int64 // reads that found nothing: no operations, but calls that were due
}

func newRecorder(openLoop bool) recorder {
	r := recorder{latency: results.NewHistogram()}
	if openLoop {
		r.service, r.lateness = results.NewHistogram(), results.NewHistogram()
	}
	return r
}

// add records an operation; free says that the worker waited for its intended start.
func (r *recorder) add(intended, start, end int64, free bool, records, bytes int64) {
	r.operations++
	r.records += records
	r.bytes += bytes
	if r.service == nil {
		r.latency.Record(end - start)
		return
	}
	r.latency.Record(end - intended)
	r.service.Record(end - start)
	if free {
		r.lateness.Record(start - intended)
	}
}

// merge adds what another worker measured.
func (r *recorder) merge(from *recorder) {
	r.operations += from.operations
	r.records += from.records
	r.bytes += from.bytes
	r.empty += from.empty
	for _, pair := range [][2]*results.Histogram{
		{r.latency, from.latency}, {r.service, from.service}, {r.lateness, from.lateness},
	} {
		if pair[0] != nil && pair[1] != nil {
			pair[0].Merge(pair[1])
		}
	}
}
