package results

import (
	"strings"
	"testing"
)

// A window that a byte bound has shortened is told, and so is how much was planned.
func TestShortenedWindows(t *testing.T) {
	s := &Sweep{
		Meta: Meta{Blocks: 2, Cells: 3, Workloads: []Workload{{Name: "ingest", Duration: 0.4, MaxBytes: 64 << 20}}},
		Runs: []Run{
			{Cell: Cell{Workload: "ingest", Strategy: "mutex"}, Window: 0.1, ByteBound: true},
			{Cell: Cell{Workload: "ingest", Strategy: "actor"}, Window: 0.4},
		},
	}
	if got := strings.Join(s.Summary().Warnings, "\n"); !strings.Contains(got, "1 of 2 runs had written all that they may before their window was over, one after 25 % of it: rates are over the shorter window (--max-bytes above 64 MiB allows more)") {
		t.Errorf("warnings are %q", got)
	}
	if got := s.index().headline(); !strings.HasPrefix(got, "3 cells × 2 blocks = 6 runs") {
		t.Errorf("headline is %q", got)
	}
	s.Runs[0].ByteBound = false
	if got := s.shortened(); got != nil {
		t.Errorf("warnings without a shortened window: %q", got)
	}
}
