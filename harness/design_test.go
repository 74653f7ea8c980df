package harness

import (
	"testing"

	"tailrace/workload"
)

// Sweeps of one design can be merged, whatever their order, and others not.
func TestDesign(t *testing.T) {
	design := func(edit func(o *Options, w *workload.Workload)) (design, plan string) {
		t.Helper()
		w := workload.DefaultMix()
		w.Name, w.Workers = "mix", 2
		second := w
		second.Name, second.Workers = "more", 3
		o := planned(t, w, second)
		edit(&o, &o.Workloads[0])
		p, err := NewPlan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Meta.Design, p.Meta.Plan
	}
	first, plan := design(func(*Options, *workload.Workload) {})
	for name, edit := range map[string]func(o *Options, w *workload.Workload){
		"seed":   func(o *Options, _ *workload.Workload) { o.Seed++ },
		"blocks": func(o *Options, _ *workload.Workload) { o.Blocks++ },
	} {
		if same, other := design(edit); same != first || same == "" || other == plan {
			t.Errorf("another %s: design %q and plan %q, of %q and %q", name, same, other, first, plan)
		}
	}
	for name, edit := range map[string]func(o *Options, w *workload.Workload){
		"payload":    func(_ *Options, w *workload.Workload) { w.Payload = []byte("text") },
		"bound":      func(_ *Options, w *workload.Workload) { w.MaxBytes *= 2 },
		"duration":   func(_ *Options, w *workload.Workload) { w.Duration *= 2 },
		"strategies": func(o *Options, _ *workload.Workload) { o.Strategies = []string{"mutex", "actor", "rwmutex"} },
		"workers":    func(_ *Options, w *workload.Workload) { w.Workers = 5 },
	} {
		if other, _ := design(edit); other == first || other == "" {
			t.Errorf("other %s: design %q, of %q", name, other, first)
		}
	}
	// The order of cells is that of chance anyway.
	forward := &Plan{Cells: []PlannedCell{{Workload: workload.Workload{Name: "a"}}, {Workload: workload.Workload{Name: "b"}}}}
	backward := &Plan{Cells: []PlannedCell{forward.Cells[1], forward.Cells[0]}}
	if forward.design() != backward.design() || forward.digest() == backward.digest() {
		t.Error("the order of cells makes another design, or no other plan")
	}
}
