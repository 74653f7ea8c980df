package workload

import (
	"slices"
	"testing"
)

func TestFullPreset(t *testing.T) {
	for _, processors := range []int{1, 2, 4, 5, 6, 8, 12, 16, 64, 256} {
		presets := PresetsFor(processors)
		if presets[0].Name != "default" || presets[1].Name != "full" || len(presets) != 2 {
			t.Fatalf("presets %+v", presets)
		}
		seen := make(map[string]bool)
		for _, preset := range presets {
			clear(seen)
			for _, group := range preset.Groups {
				if seen[group[0].Name] {
					t.Errorf("%s: two groups named %s", preset.Name, group[0].Name)
				}
				seen[group[0].Name] = true
				for _, w := range group {
					if err := w.Validate(); err != nil {
						t.Errorf("%s, %d processors: %v", w.Name, processors, err)
					}
					if w.Name != group[0].Name || w.Strategies[0] != "mutex" || w.Primary != group[0].Primary {
						t.Errorf("%s in the group of %s: %+v", w.Name, group[0].Name, w)
					}
				}
			}
		}
		if !seen["share"] || !seen["workers"] || !seen["durable"] {
			t.Errorf("workloads %v", seen)
		}
	}
}

func TestLevelsForAScalingLaw(t *testing.T) {
	for processors := 1; processors <= 300; processors++ {
		levels := workerLevels(processors)
		within := slices.DeleteFunc(slices.Clone(levels), func(n int) bool { return n > processors })
		if processors >= 5 && len(within) < 5 {
			t.Errorf("%d processors: %v has fewer than five levels within", processors, levels)
		}
		if !slices.IsSorted(levels) || len(slices.Compact(slices.Clone(levels))) != len(levels) {
			t.Errorf("%d processors: %v", processors, levels)
		}
		if last := levels[len(levels)-1]; last < min(16, 2*processors) {
			t.Errorf("%d processors: %v has nothing beyond", processors, levels)
		}
	}
}

func TestPresetsOwnTheirStrategies(t *testing.T) {
	first := PresetsFor(2)[1]
	for _, group := range first.Groups {
		for _, w := range group {
			for i := range w.Strategies {
				w.Strategies[i] = "changed"
			}
		}
	}
	for _, group := range PresetsFor(2)[1].Groups {
		if group[0].Strategies[0] != "mutex" {
			t.Errorf("%s: a caller's change shows in the next copy", group[0].Name)
		}
	}
}
