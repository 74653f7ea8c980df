package claims

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tailrace/harness"
	"tailrace/results"
)

// loops is the experiment of loops of a name, whose answer is for block; nil if there is none.
func loops(name string) func(*bench) (any, error) {
	if name == "waits" {
		return func(b *bench) (any, error) { return seeWaits(b) }
	}
	experiment := map[string]func(*bench) ([]results.Figure, error){
		"handles": handles, "publish": publish, "starving": starving,
		"preads": preads, "indexes": indexes, "mapped": mapped, "copying": copying,
	}[name]
	if experiment == nil {
		return nil
	}
	return func(b *bench) (any, error) { return experiment(b) }
}

// apart makes an experiment of loops block by block, each in a process of its own. Where the kernel puts a mapping, and
// how the heap comes to lie, a process keeps for as long as it lives: of blocks in one process, an interval would leave
// out what is different in the next. (In six processes of 8 to 20 blocks within half an hour, growing a mapping cost 0.16×
// to 0.42× of a pwrite, the last with an interval from 0.36 to 0.49; over 16 processes it was 0.15 to 0.32 in one
// run and 0.14 to 0.29 in another.)
func apart(experiment string) func(*bench) ([]results.Figure, error) {
	return func(b *bench) ([]results.Figure, error) {
		answers, err := blocks[[]results.Figure](b, experiment)
		if err != nil {
			return nil, err
		}
		return collate(answers, b.level), nil
	}
}

// blocks makes an experiment for each block in a process of its own, and returns the answers.
func blocks[Answer any](b *bench, experiment string) ([]Answer, error) {
	var answers []Answer
	for i := range b.blocks {
		var answer Answer
		if err := b.block(experiment, &answer); err != nil {
			return nil, fmt.Errorf("%s, block %d: %w", experiment, i, err)
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// loopsRequest is what the process of a block is told, as JSON.
type loopsRequest struct {
	Experiment   string
	Turn         time.Duration // that each arm takes
	Seed         uint64
	Memory, Disk string // directories for files, as those of a bench
}

// loopsPatience is how long the process of a block may take: many times what it does on a slow machine.
const loopsPatience = 2 * time.Minute

// block makes an experiment once, in a process of its own.
func (b *bench) block(experiment string, answer any) error {
	if len(b.looping) == 0 {
		return errNoChild
	}
	child := harness.Child{Command: b.looping}
	err := b.ask(&child, loopsPatience, loopsRequest{experiment, b.turn, b.random.Uint64(), b.dir, b.disk}, answer)
	if b.ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("an experiment has not answered in %v", loopsPatience)
	}
	return err
}

// ask has the process of an experiment answer. The errors are those of the context, which ends with the patience, of the
// process, and of an answer that is none.
func (b *bench) ask(child *harness.Child, patience time.Duration, request, answer any) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	child.Name = "an experiment"
	output, err := child.Ask(ctx, request)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	if err := json.Unmarshal(output, answer); err != nil {
		return fmt.Errorf("answer of an experiment: %w", err)
	}
	return nil
}

// ExecuteLoops is the process of one block of an experiment that times loops: it reads a request as JSON from stdin,
// measures, and writes an answer as JSON to stdout. When stdin ends early the parent has died; then it removes the
// directories for files, which the parent would have. Then, or when the context ends, it returns, and the process must
// exit.
func ExecuteLoops(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	check := func(r *loopsRequest) error {
		if loops(r.Experiment) == nil {
			return fmt.Errorf("no experiment %q", r.Experiment)
		}
		if r.Turn <= 0 || r.Memory == "" {
			return errors.New("it takes a turn and a directory")
		}
		return nil
	}
	measure := func(ctx context.Context, r *loopsRequest) (any, error) {
		return loops(r.Experiment)(&bench{
			ctx: ctx, blocks: 1, turn: r.Turn, random: rand.New(rand.NewPCG(r.Seed, 0)), dir: r.Memory, disk: r.Disk,
		})
	}
	leave := func(r *loopsRequest) error {
		if ctx.Err() != nil {
			return nil // it is this process alone that ends
		}
		for _, dir := range []string{r.Memory, r.Disk} {
			if strings.HasPrefix(filepath.Base(dir), scratchPattern) { // and nothing that somebody else has named
				_ = os.RemoveAll(dir) // of no worth
			}
		}
		return nil
	}
	return serve(ctx, stdin, stdout, check, measure, leave)
}

// collate makes figures of those of single blocks, in the order in which they first come.
func collate(blocks [][]results.Figure, level float64) []results.Figure {
	var names []string
	found := make(map[string][]results.Figure)
	for _, figures := range blocks {
		for _, f := range figures {
			if found[f.Name] == nil {
				names = append(names, f.Name)
			}
			found[f.Name] = append(found[f.Name], f)
		}
	}
	var list []results.Figure
	for _, name := range names {
		list = append(list, ofBlocks(found[name], len(blocks), level))
	}
	return list
}

// ofBlocks makes one figure of those of single blocks: their geometric mean. What all blocks have counted alike is exact;
// where some have none of it, the figure is the mean, and has no interval. A block that could not measure it is lacking.
func ofBlocks(figures []results.Figure, blocks int, level float64) results.Figure {
	f := figures[0] // which says why, if no block could
	var values, logs []float64
	alike, zero := true, false
	for _, of := range figures {
		if math.IsNaN(of.Value) {
			continue
		}
		f = of
		values, logs = append(values, of.Value), append(logs, math.Log(of.Value))
		alike, zero = alike && of.Low == of.High && of.Value == values[0], zero || of.Value == 0
	}
	switch lack := blocks - len(values); {
	case len(values) == 0:
		f.Text += lacking(lack, blocks)
		return f
	case alike && lack == 0:
		return f
	case zero:
		return results.Figure{Name: f.Name, Text: f.Text + lacking(lack, blocks), Unit: f.Unit, Value: mean(values), Low: math.NaN(), High: math.NaN(), Blocks: len(values)}
	}
	return figureOfMost(f.Name, f.Text, f.Unit, logs, blocks, level)
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
