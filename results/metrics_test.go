package results_test

import (
	"strings"
	"testing"

	"tailrace/results"
)

func TestEveryMetricIsDescribed(t *testing.T) {
	seen := make(map[string]string)
	for _, d := range results.DescribeMetrics() {
		if d.Unit == "" || d.Meaning == "" || strings.HasPrefix(d.Meaning, " ") || strings.HasSuffix(d.Meaning, " ") {
			t.Errorf("%+v", d)
		}
		if other := seen[d.Meaning]; other != "" {
			t.Errorf("%s and %s mean the same: %s", d.Name, other, d.Meaning)
		}
		seen[d.Meaning] = d.Name
		if rate := strings.HasSuffix(d.Name, "/s"); rate != (d.Better == "more") || rate != strings.HasSuffix(d.Unit, "per second") {
			t.Errorf("%+v", d)
		}
	}
	if got, want := len(seen), len(results.MetricNames()); got != want {
		t.Errorf("%d descriptions of %d metrics", got, want)
	}
}
