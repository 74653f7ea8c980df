package claims

import (
	"math"
	"time"

	"tailrace/results"
)

// gauge is an arm that measures by itself: a part of its time, or something else than time.
type gauge struct {
	name string
	loop func(n int) (float64, error) // the amount that n operations take
}

// gauges is race for arms that measure by themselves: seconds is how long an operation takes all in all, and
// amounts what the arms have measured, per operation; both by block.
func (b *bench) gauges(list ...gauge) (seconds, amounts map[string][]float64, err error) {
	amounts = make(map[string][]float64)
	var arms []arm
	for _, g := range list {
		arms = append(arms, arm{g.name, func(n int) error {
			amount, err := g.loop(n)
			amounts[g.name] = append(amounts[g.name], amount/float64(n))
			return err
		}})
	}
	if seconds, err = b.race(arms...); err != nil {
		return nil, nil, err
	}
	for name, all := range amounts {
		amounts[name] = all[len(all)-b.blocks:] // those before were for calibration
	}
	return seconds, amounts, nil
}

// unmeasured is a figure that this machine can't give.
func unmeasured(name, text, unit string, why error) results.Figure {
	return results.Figure{Name: name, Text: text + " (" + why.Error() + ")", Unit: unit, Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
}

// stopwatch adds up the parts of a loop that are to be counted.
type stopwatch struct {
	begun time.Time
	total time.Duration
}

func (s *stopwatch) start() { s.begun = time.Now() }

func (s *stopwatch) stop() { s.total += time.Since(s.begun) }

func (s *stopwatch) seconds() float64 { return s.total.Seconds() }
