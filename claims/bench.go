package claims

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"tailrace/results"
)

// bench times loops, whose arms take turns in blocks, so that drift of the machine hits all alike.
type bench struct {
	ctx    context.Context
	blocks int
	turn   time.Duration // that each arm takes in each block
	random *rand.Rand
	dir    string  // for files, on memory where there is one; empty, and removed by the caller
	disk   string  // the same on a disk; "" if there is none
	level  float64 // confidence of each interval
	// found are the figures of experiments that several claims share; nil if none are kept.
	found map[string][]results.Figure
	// child is the command that calls harness.Execute in a new process.
	child []string
	// looping is the same of ExecuteLoops, pressed of ExecutePressure, both empty if there is none, and torturing of
	// torture.Execute.
	looping, pressed, torturing []string
	// warn tells what the reader of the outcome should know of an experiment that went well otherwise.
	warn func(text string)
}

// arm is one side of a comparison: a loop over n operations.
type arm struct {
	name string
	loop func(n int) error
}

// race returns the seconds that an operation of each arm takes, by block.
func (b *bench) race(arms ...arm) (map[string][]float64, error) {
	n := make([]int, len(arms))
	for i, a := range arms {
		var err error
		if n[i], err = b.calibrate(a); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	seconds := make(map[string][]float64)
	for range b.blocks {
		for _, i := range b.random.Perm(len(arms)) {
			if err := b.ctx.Err(); err != nil {
				return nil, err
			}
			begun := time.Now()
			if err := arms[i].loop(n[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", arms[i].name, err)
			}
			seconds[arms[i].name] = append(seconds[arms[i].name], time.Since(begun).Seconds()/float64(n[i]))
		}
	}
	return seconds, nil
}

// calibrate finds how many operations fill a turn.
func (b *bench) calibrate(a arm) (int, error) {
	for n := 1; ; {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := a.loop(n); err != nil {
			return 0, err
		}
		took := time.Since(begun)
		if took >= b.turn/4 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(b.turn)/float64(max(took, 1)))), nil
		}
		n *= int(min(100, 1+b.turn/4/max(took, 1)))
		n++
	}
}

// ratio is the figure of one arm's values over those of another, paired by block. Blocks in which one of them is zero
// lack it.
func (b *bench) ratio(name, text string, over, under []float64) results.Figure {
	var logs []float64
	for i := range min(len(over), len(under)) {
		if over[i] > 0 && under[i] > 0 {
			logs = append(logs, math.Log(over[i]/under[i]))
		}
	}
	return figureOfMost(name, text, "×", logs, min(len(over), len(under)), b.level)
}

// value is the figure of values of one arm: their geometric mean. Blocks with zero lack it.
func (b *bench) value(name, text, unit string, values []float64) results.Figure {
	var logs []float64
	for _, v := range values {
		if v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	return figureOfMost(name, text, unit, logs, len(values), b.level)
}

// longerTurn is what an arm takes at least where a time slice of the Go scheduler, 10 ms, would be another experiment:
// where more goroutines than processors take turns, or a connection has to get going.
const longerTurn = 50 * time.Millisecond

// withTurns is the bench with turns n times as long.
func (b *bench) withTurns(n int) *bench {
	longer := *b
	longer.turn *= time.Duration(n)
	return &longer
}

// unhurried is the bench with turns of that length at least.
func (b *bench) unhurried() *bench {
	slower := *b
	slower.turn = max(b.turn, longerTurn)
	return &slower
}

// counted is the figure of what has no spread.
func counted(name, text, unit string, value float64) results.Figure {
	return results.Figure{Name: name, Text: text, Unit: unit, Value: value, Low: value, High: value}
}

// once makes an experiment that several claims share, and gives its figures to each.
func (b *bench) once(name string, experiment func(*bench) ([]results.Figure, error)) ([]results.Figure, error) {
	if figures, ok := b.found[name]; ok {
		return figures, nil
	}
	figures, err := experiment(b)
	if err == nil && b.found != nil {
		b.found[name] = figures
	}
	return figures, err
}
