package workload_test

import (
	"testing"

	"tailrace/workload"
)

func TestSuggestion(t *testing.T) {
	names := []string{"op/s", "produce-op/s", "cpu-sec/op", "allocs/op", "produce-p90-sec", "produce-p99-sec", "produce-p999-sec", "consume-p99-sec",
		"e2e-p99-sec", "produce-service-p99-sec"}
	for name, want := range map[string]string{
		"p99":             "; did you mean produce-p99-sec, consume-p99-sec or e2e-p99-sec?",
		"p99.9":           "; did you mean produce-p999-sec?",
		"Produce_P99":     "; did you mean produce-p99-sec or produce-service-p99-sec?",
		"e2e-p99":         "; did you mean e2e-p99-sec?",
		"produce-p95-sec": "; did you mean produce-p90-sec?",
		"ops":             "; did you mean op/s?",
		"cpu":             "; did you mean cpu-sec/op?",
		"beauty":          "",
		"":                "",
		"--":              "",
	} {
		if got := workload.Suggestion(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
