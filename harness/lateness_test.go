package harness

import "testing"

// TestLate: what a late wake-up pushes back is the load's own lateness, in all calls that it makes later; what a
// slow call pushes back is the system's.
func TestLate(t *testing.T) {
	type call struct{ intended, start, end, want int64 }
	for name, calls := range map[string][]call{
		"on time": {{100, 100, 110, 0}, {200, 200, 210, 0}},
		"woken late, and no call is due meanwhile": {{100, 130, 140, 30}, {200, 200, 210, 0}},
		"woken late, and two more are due meanwhile": {
			{100, 150, 160, 50}, // 100–110 were it not for the wake-up
			{120, 160, 170, 40}, // 120–130
			{140, 170, 180, 30}, // 140–150
			{200, 200, 210, 0},
		},
		"a slow call": {
			{100, 100, 200, 0},
			{120, 200, 210, 0}, // waited for the system
			{140, 210, 220, 0},
			{230, 230, 240, 0},
		},
		"a record that takes long to build behind a slow call": {
			{100, 100, 200, 0},
			{120, 225, 230, 25},
			{300, 300, 310, 0},
		},
		"a slow call that began late": {
			{100, 140, 240, 40}, // 100–200
			{190, 240, 250, 40}, // 200–210
			{205, 250, 260, 40}, // 210–220
			{300, 300, 310, 0},
		},
	} {
		w := &worker{}
		for i, c := range calls {
			if got := w.late(c.intended, c.start, c.end); got != c.want {
				t.Errorf("%s: call %d is late by %d, want %d", name, i, got, c.want)
			}
		}
	}
}
