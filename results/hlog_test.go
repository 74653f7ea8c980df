package results_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

var hlogStart = time.Date(2026, 11, 2, 9, 30, 0, 123_456_789, time.UTC)

func hlog(t *testing.T, hists map[string]*results.Histogram) string {
	t.Helper()
	var out bytes.Buffer
	if err := results.WriteHlog(&out, hlogStart, whole(hists)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// whole is one interval of 0.4 s, as long as the window.
func whole(hists map[string]*results.Histogram) []results.IntervalHistograms {
	return []results.IntervalHistograms{{Length: 0.4, Histograms: hists}}
}

func twoKinds() map[string]*results.Histogram {
	return map[string]*results.Histogram{
		results.KindConsume:  record(900, 1000, 61*second),
		results.KindProduce:  record(5, 1_000_000),
		results.KindEndToEnd: results.NewHistogram(),
	}
}

func TestHlogRoundTrip(t *testing.T) {
	want := twoKinds()
	log := hlog(t, want)
	for _, part := range []string{
		"#[Histogram log format version 1.3]\n",
		"#[StartTime: 1793611800.123 (seconds since epoch), ",
		"#[BaseTime: 1793611800.123 (seconds since epoch)]\n",
		"\nTag=produce,0.000,0.400,1.000000,HISTFAAA",
	} {
		if !strings.Contains(log, part) {
			t.Errorf("no %q in\n%s", part, log)
		}
	}
	if strings.Index(log, "Tag=produce,") > strings.Index(log, "Tag=consume,") {
		t.Error("kinds are not in their order")
	}
	got, err := results.ReadHlog(strings.NewReader(log), "a.hlog")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Start != 0 || got[0].Length != 0.4 || len(got[0].Histograms) != 2 {
		t.Fatalf("intervals %+v, want one with the two histograms that are not empty", got)
	}
	for kind, h := range got[0].Histograms {
		if text(t, h) != text(t, want[kind]) {
			t.Errorf("%s came back as %s", kind, text(t, h))
		}
	}
}

// Workers that end late may write lines of their own: the same tag and start twice is one histogram.
func TestHlogAddsUpLinesOfOneInterval(t *testing.T) {
	var early, late bytes.Buffer
	produce := func(values ...int64) map[string]*results.Histogram {
		return map[string]*results.Histogram{results.KindProduce: record(values...)}
	}
	err := errors.Join(
		results.WriteHlog(&early, hlogStart, []results.IntervalHistograms{{0.1, 0.1, produce(5)}, {0, 0.1, produce(9, 61*second)}}),
		results.WriteHlog(&late, hlogStart, []results.IntervalHistograms{{0.1, 0.2, produce(1_000_000)}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := results.ReadHlog(strings.NewReader(early.String()+late.String()), "a.hlog")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Start != 0 || got[1].Start != 0.1 || got[1].Length != 0.2 {
		t.Fatalf("intervals %+v", got)
	}
	sameHistograms(t, got[0].Histograms, produce(9, 61*second))
	sameHistograms(t, got[1].Histograms, produce(5, 1_000_000))
	for _, bad := range []results.IntervalHistograms{{-1, 1, produce(1)}, {0, math.NaN(), produce(1)}, {math.Inf(1), 1, produce(1)}} {
		if err := results.WriteHlog(&early, hlogStart, []results.IntervalHistograms{bad}); err == nil {
			t.Errorf("an interval from %v was written", bad.Start)
		}
	}
}

func TestHlogRefuses(t *testing.T) {
	good := hlog(t, twoKinds())
	line := func(n int) string { return strings.SplitAfter(good, "\n")[n-1] }
	for name, c := range map[string]struct{ log, want string }{
		"empty":           {"", "a.hlog: no line"},
		"no version":      {strings.Replace(good, line(2), "", 1), "a.hlog:6:"},
		"garbage":         {strings.Replace(good, line(5), line(5)+"garbage\n", 1), "a.hlog:6:"},
		"no tag":          {strings.Replace(good, "Tag=produce,", "", 1), "a.hlog:7:"},
		"empty tag":       {strings.Replace(good, "Tag=produce,", "Tag=,", 1), "a.hlog:7:"},
		"infinite":        {strings.Replace(good, ",0.400,", ",+Inf,", 1), "a.hlog:7:"},
		"no exact values": {strings.Replace(good, line(6), "", 1), "a.hlog:6:"},
		"other exact":     {strings.Replace(good, line(6), line(8), 1), "a.hlog:7:"},
		"bad number":      {strings.Replace(good, ",0.400,", ",soon,", 1), "a.hlog:7:"},
		"not a number":    {strings.Replace(good, ",0.400,", ",NaN,", 1), "a.hlog:7:"},
		"bad payload":     {strings.Replace(good, "HISTF", "HISTG", 1), "a.hlog:7:"},
		"cut short":       {good[:len(good)-10], "a.hlog:9:"},
	} {
		_, err := results.ReadHlog(strings.NewReader(c.log), "a.hlog")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	for _, tag := range []string{"", "a,b", "a b", "a\nb", "a]"} {
		var out bytes.Buffer
		err := results.WriteHlog(&out, hlogStart, whole(map[string]*results.Histogram{tag: record(1)}))
		if err == nil || out.Len() > 0 {
			t.Errorf("tag %q: error %v, %d bytes written", tag, err, out.Len())
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
