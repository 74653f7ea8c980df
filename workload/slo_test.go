package workload

import (
	"testing"
	"time"
)

func TestParseObjective(t *testing.T) {
	for text, want := range map[string]string{
		"produce p99 < 2ms":         "produce p99 < 2ms",
		"produce p99<2ms":           "produce p99 < 2ms",
		"  Produce   P99  <=  2 ms": "produce p99 < 2ms",
		"end-to-end p99.9 < 1s":     "e2e p999 < 1s",
		"e2e max < 1m30s":           "e2e max < 1m30s",
		"consume mean<=1500ns":      "consume mean < 1.5µs",
		"consume p50 < 10us":        "consume p50 < 10µs",
	} {
		o, err := ParseObjective(text)
		if err != nil || o.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, o, err, want)
		}
		if back, err := ParseObjective(o.String()); err != nil || back != o {
			t.Errorf("%s reads back as %v, %v", o, back, err)
		}
	}
	if o, _ := ParseObjective("consume p90 < 3ms"); o != (Objective{"consume", "p90", 3 * time.Millisecond}) {
		t.Errorf("%+v", o)
	}
	refused(t, "objective", func(s string) error { _, err := ParseObjective(s); return err },
		"", "<", "produce p99", "p99 < 2ms", "produce < 2ms", "produce p99 > 2ms", "produce p99 = 2ms", "produce p98 < 2ms",
		"read p99 < 2ms", "produce p99 < 2", "produce p99 < fast", "produce p99 < 0s", "produce p99 < -2ms", "produce p99 < 2ms < 3ms",
		"produce p99 < NaN", "produce p99 p50 < 2ms", "produce p99 <", "produce\np99 < 2msx")
}
