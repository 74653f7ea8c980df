package results

import (
	"fmt"
)

// Health is the outcome of an A/A arm: the baseline against itself.
type Health struct {
	Workload string
	Point    Cell // as in Effect
	Metric   string
	Interval
	// Healthy: the interval contains 1, so that the sweep did not see a difference where there is none, and is narrow
	// enough to have seen one.
	Healthy bool
	Reason  string // why it is not healthy
}

// tooWideForHealth is the difference from which an A/A arm that can't exclude it tells nothing.
const tooWideForHealth = 1.5

// tellsNothing reports whether the interval is too wide to have seen a difference.
func (h *Health) tellsNothing() bool { return h.Blocks >= 2 && max(h.High, 1/h.Low) > tooWideForHealth }

// Text is the ratio with its interval and whether it is healthy.
func (h Health) Text() string {
	switch {
	case h.Healthy:
		return h.Interval.Text() + " healthy"
	case h.Excludes1():
		return h.Interval.Text() + " NOT HEALTHY"
	default:
		return h.Interval.Text() + " " + undecidedSign
	}
}

// sickness says which A/A arm differs; "" if none does.
func sickness(arms []Health) string {
	for _, h := range arms {
		if h.Excludes1() {
			return h.Reason
		}
	}
	return ""
}

// Health returns the outcome of the A/A arms, on the primary metric of their workloads, in the order of
// Meta.Workloads. Each interval is 95 % by itself: not corrected for the number of comparisons, because
// here a false alarm is cheaper than a fault overlooked. About one healthy arm in twenty alarms.
func (s *Sweep) Health() []Health { return s.index().health }

func (s *index) findHealth() []Health {
	var found []Health
	for _, name := range s.names {
		metric := s.primary(name)
		for _, arm := range s.cellsOf(name) {
			if arm.Arm == "" {
				continue
			}
			h := Health{Workload: name, Point: arm.Point(), Metric: metric}
			var distrust string
			h.Interval, distrust, _ = s.compare(arm, cellAt(h.Point, arm.Strategy, arm.Build), metric, confidence)
			switch {
			case distrust != "":
				h.Reason = distrust
			case h.Excludes1():
				h.Reason = fmt.Sprintf("the A/A arm of %s%s, `%s` under a second name, differs from the first: %s",
					name, parenthesis(s.pointLabel(h.Point)), arm.Strategy, FormatInterval(h.Ratio, h.Low, h.High))
			case h.tellsNothing():
				h.Reason = fmt.Sprintf("the A/A arm of %s%s tells nothing: its interval, %s, is too wide; more blocks, or an idle machine, make it narrower",
					name, parenthesis(s.pointLabel(h.Point)), FormatInterval(h.Ratio, h.Low, h.High))
			default:
				h.Healthy = true
			}
			found = append(found, h)
		}
	}
	return found
}
