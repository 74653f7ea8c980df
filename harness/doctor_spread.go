package harness

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tailrace/results"
	"tailrace/workload"
)

// Spread is how much runs of the same code differ on this machine.
type Spread struct {
	Finding
	Blocks int     `json:"blocks"`
	Ratio  float64 `json:"ratio"` // geometric mean of the second arm to the first, with its interval at 95 %
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Deviation is the standard deviation of the logarithm of a block's ratio, with its interval at 95 %:
	// s·√((n−1)/χ²), n − 1 degrees of freedom. 0.03 is about 3 %.
	Deviation     float64 `json:"deviation"`
	DeviationLow  float64 `json:"deviation_low"`
	DeviationHigh float64 `json:"deviation_high"`
	// Detectable is what a sweep of so many blocks can tell apart.
	Detectable []Detectable `json:"detectable"`
}

// Detectable is the smallest difference that one comparison of a sweep finds.
type Detectable struct {
	Blocks int `json:"blocks"`
	// Difference is half the width of Student's interval at 95 % on the logarithms, t(0.975, n−1)·s/√n, as
	// a share: e^h − 1. A true difference of this size is found in about half of all sweeps.
	Difference float64 `json:"difference"`
}

// spreadBlocks is how often the two arms run.
const spreadBlocks = 12

// measureSpread runs the mutex against itself, under a short mix, and removes what it wrote.
func measureSpread(ctx context.Context, child []string, version string) (spread *Spread, err error) {
	const name = "A/A spread"
	out, err := os.MkdirTemp("", "tailrace-doctor-")
	if err != nil {
		return &Spread{Finding: unknown(name, "%v", err)}, nil
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	sweep, err := runSpread(ctx, Options{
		Workloads:  []workload.Workload{spreadLoad()},
		Strategies: []string{"mutex"},
		Blocks:     spreadBlocks,
		Seed:       1,
		Out:        filepath.Join(out, "results"),
		Child:      child,
		Version:    version,
	})
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrInterrupted):
		return nil, ErrInterrupted
	case errors.Is(err, ErrNotCaught):
		return &Spread{Finding: Finding{
			Name: name, Status: StatusUnfit, Seen: "the strategy that is wrong on purpose was not caught",
			Why: "what verification says is worth nothing then", Mend: "tailrace check --strategies busted",
		}}, nil
	case err != nil:
		return &Spread{Finding: unknown(name, "%s", strings.TrimPrefix(err.Error(), ErrUsage.Error()+": "))}, nil
	}
	return spreadOf(blockLogs(sweep)), nil
}

// spreadLoad is the default mix in little, so that a run takes a fifth of a second.
func spreadLoad() workload.Workload {
	w := workload.DefaultMix()
	w.Name, w.Workers, w.Prefill, w.MaxBytes = "mix", 8, 16<<20, 256<<20
	w.Ramp, w.Duration = 50*time.Millisecond, 150*time.Millisecond
	return w
}

// runSpread runs the two arms alone, without the limit that a sweep adds.
func runSpread(ctx context.Context, o Options) (*results.Sweep, error) {
	plan, err := NewPlan(ctx, o)
	if err != nil {
		return nil, err
	}
	plan.Cells = slices.DeleteFunc(plan.Cells, func(c PlannedCell) bool { return c.Cell.Strategy != "mutex" })
	plan.Meta.Cells = len(plan.Cells)
	return Run(ctx, plan)
}

// blockLogs are the logarithms of the ratio of the arms' throughput in each block that has both.
func blockLogs(sweep *results.Sweep) []float64 {
	byBlock := map[int]map[string]float64{}
	for i := range sweep.Runs {
		run := &sweep.Runs[i]
		if rate := run.Metrics[results.MetricOps]; run.Valid() && rate > 0 {
			if byBlock[run.Block] == nil {
				byBlock[run.Block] = map[string]float64{}
			}
			byBlock[run.Block][run.Cell.Arm] = rate
		}
	}
	var logs []float64
	for block := range spreadBlocks {
		if first, second := byBlock[block][""], byBlock[block]["A/A"]; first > 0 && second > 0 {
			logs = append(logs, math.Log(second/first))
		}
	}
	return logs
}

// spreadOf judges the logarithms of the ratios of some blocks.
func spreadOf(logs []float64) *Spread {
	const name = "A/A spread"
	n := len(logs)
	if n < 3 {
		return &Spread{Finding: unknown(name, "%d of %d blocks could be measured", n, spreadBlocks), Blocks: n}
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	half := halfWidth(deviation, n)
	s := &Spread{
		Blocks: n, Ratio: math.Exp(mean), Low: math.Exp(mean - half), High: math.Exp(mean + half),
		Deviation: deviation,
	}
	freedom := float64(n - 1)
	chi := distuv.ChiSquared{K: freedom}
	s.DeviationLow = deviation * math.Sqrt(freedom/chi.Quantile(0.975))
	s.DeviationHigh = deviation * math.Sqrt(freedom/chi.Quantile(0.025))
	for _, blocks := range []int{6, 12, 25, 50} {
		s.Detectable = append(s.Detectable, Detectable{blocks, math.Expm1(halfWidth(deviation, blocks))})
	}
	s.Finding = ok(name, "%s over %d blocks, %.1f %% from block to block (%.1f to %.1f %%)", results.FormatInterval(s.Ratio, s.Low, s.High),
		n, 100*deviation, 100*s.DeviationLow, 100*s.DeviationHigh)
	const mend = "mend what is unfit or a warning above; then more blocks (--blocks 25) or longer windows (--duration 1s)"
	switch {
	case s.Detectable[len(s.Detectable)-1].Difference > 0.1:
		s.Status, s.Mend = StatusUnfit, mend
		s.Why = "equal runs differ so much that not even 50 blocks tell 10 % apart"
	case s.Low > 1 || s.High < 1:
		s.Status, s.Mend = StatusWarning, "tailrace doctor again; if it stays, see the warnings above"
		s.Why = "the mutex differs from itself: by chance in one of twenty examinations, or something changes within the blocks"
	case s.Detectable[0].Difference > 0.1:
		s.Status, s.Mend = StatusWarning, mend
		s.Why = "the default 6 blocks do not tell 10 % apart"
	}
	return s
}

// halfWidth is that of Student's interval at 95 % for a mean of n values: t(0.975, n−1)·s/√n.
func halfWidth(deviation float64, n int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	return t * deviation / math.Sqrt(float64(n))
}
