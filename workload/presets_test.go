package workload

import (
	"errors"
	"testing"
)

func TestPresets(t *testing.T) {
	descriptions := []struct{ name, primary, line string }{
		{"mix", "op/s", "8 workers, 10 % produce, random 8 KiB reads of 1 KiB records, closed loop"},
		{"tail", "e2e-p90-sec", "2 producers at 10,000/s, 2 tail consumers, open loop"},
		{"ingest", "produce-op/s", "8 producers, closed loop"},
		{"durable", "produce-op/s", "16 producers, closed loop, sync on every batch"},
	}
	presets := Presets()
	if len(presets) != len(descriptions) {
		t.Fatalf("%d presets", len(presets))
	}
	for i, want := range descriptions {
		w := presets[i]
		if w.Name != want.name || w.Primary != want.primary || w.Describe() != want.line {
			t.Errorf("%s by %s: %s; want %+v", w.Name, w.Primary, w.Describe(), want)
		}
		if w.Primary != w.SuggestPrimary() {
			t.Errorf("%s: primary %s, and flags would make it %s", w.Name, w.Primary, w.SuggestPrimary())
		}
		if err := w.Validate(); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
		if w.Strategies[0] != "mutex" {
			t.Errorf("%s: baseline is %s", w.Name, w.Strategies[0])
		}
	}
}

func TestPresetsAreFresh(t *testing.T) {
	Presets()[0].Strategies[0] = "changed"
	for _, w := range Presets() {
		if w.Strategies[0] != "mutex" {
			t.Errorf("%s: a caller's change shows in the next copy", w.Name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, want := range Presets() {
		if got, err := Find(want.Name); err != nil || got.Describe() != want.Describe() {
			t.Errorf("%s: %v, %v", want.Name, got, err)
		}
	}
	for name, want := range map[string]string{
		"tial": "workload: --workloads tial: no such workload (there are mix, tail, ingest, durable; or give a YAML file); did you mean tail?",
		"zzzz": "workload: --workloads zzzz: no such workload (there are mix, tail, ingest, durable; or give a YAML file)",
	} {
		_, err := Find(name)
		if !errors.Is(err, ErrInvalid) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestDefaultNeedsRoles(t *testing.T) {
	w := Default()
	if err := w.Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("without roles: %v", err)
	}
	w.Producers, w.Consumers = 1, 8
	if err := w.Validate(); err != nil {
		t.Error(err)
	}
	m := DefaultMix()
	m.Workers = 1
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
}

func TestSuggestPrimary(t *testing.T) {
	for _, c := range []struct {
		w    Workload
		want string
	}{
		{Workload{Workers: 1}, "op/s"},
		{Workload{Producers: 1, Consumers: 1, ProduceRate: 1, Pattern: Tail}, "e2e-p90-sec"},
		{Workload{Producers: 1, Consumers: 1, ProduceRate: 1, Pattern: Random}, "produce-p90-sec"},
		{Workload{Producers: 1, Consumers: 1}, "produce-op/s"},
		{Workload{Consumers: 1}, "consume-op/s"},
		{Workload{Consumers: 1, ConsumeRate: 1}, "consume-p90-sec"},
		{Workload{Workers: 1, Rate: 1}, "consume-p90-sec"},
		{Workload{Workers: 1, Rate: 1, ProducePercent: 100}, "produce-p90-sec"},
		{Workload{Producers: 1, Consumers: 1, Search: true, Pattern: Tail}, "e2e-p90-sec"},
		{Workload{Producers: 1, Search: true}, "produce-p90-sec"},
		{Workload{Producers: 1, Consumers: 1, ProduceRate: 1, Pattern: Tail, DrainRatio: 1}, "drain-sec"},
	} {
		if got := c.w.SuggestPrimary(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.w, got, c.want)
		}
	}
}
