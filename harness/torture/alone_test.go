package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"time"

	"tailrace/strategies"
)

// What one client alone can find out about a strategy: the first of the two stages that a mutant has to pass. It makes
// every call of the interface, on files and on the heap, and judges each answer by the model of a partition and
// by another strategy's. Nobody else calls the log meanwhile.

// aloneVariable holds the task of a test program that is the process of that stage.
const aloneVariable = "TAILRACE_TORTURE_ALONE"

const (
	// aloneRounds are so many whatever the machine: some one or two seconds on an idle one.
	aloneRounds = 50
	// alonePatience bounds a call, aloneLimit the process.
	alonePatience = 2 * time.Second
	aloneLimit    = time.Minute
)

// checkAlone runs the stage in a process of its own. The error is a *Violation if the strategy fails.
func checkAlone(ctx context.Context, program, strategy, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, aloneLimit)
	defer cancel()
	text, err := json.Marshal(task{Strategy: strategy, Options: Options{Seed: 1, Dir: dir, Heap: true, Patience: alonePatience}})
	if err != nil {
		return err
	}
	command := bounded("env", aloneVariable+"="+string(text), program)
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	process.WaitDelay = alonePatience
	output, err := process.CombinedOutput()
	if err == nil {
		return nil
	}
	if exit, ran := errors.AsType[*exec.ExitError](err); ctx.Err() == nil && (!ran || exit.ExitCode() == unjudged) {
		return fmt.Errorf("%w: %s", err, output)
	}
	return &Violation{Strategy: strategy, Check: "alone", What: fmt.Sprintf("%v: %.300s", err, output), Hung: ctx.Err() != nil}
}

// executeAlone is that process.
func executeAlone(text string, output io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	s, err := strategies.Find(t.Strategy)
	if err != nil {
		return err
	}
	counts, err := alone(s, t.Options)
	fmt.Fprintf(output, "%+v\n", counts)
	return err
}

func alone(s strategies.Strategy, o Options) (Counts, error) {
	oracle := "mutex"
	if s.Name == oracle {
		oracle = "rwmutex" // else it would be compared with itself
	}
	var counts Counts
	for ; counts.Rounds < aloneRounds; counts.Rounds++ {
		seed := o.Seed + uint64(counts.Rounds)
		for i, c := range []check{
			{"differential", func(r *round) error { return r.against(oracle) }},
			{"history", (*round).historyAlone},
			{"close", (*round).closeAlone},
		} {
			r := &round{strategy: s, options: o, seed: seed, random: newRandom(seed, uint64(i)), counts: &counts}
			if err := r.do(c); err != nil {
				return counts, err
			}
		}
	}
	return counts, nil
}

// historyAlone is a history of one client with two handles. Through the other it does what followers would, and it
// reads the log at the end.
func (r *round) historyAlone() error {
	h := &history{round: r, model: partitionModel{followers: r.drawFollowers()}}
	c := &historyClient{
		history: h, id: 0, random: r.random, cancels: r.random.IntN(2) == 0, trims: r.random.IntN(2) == 0, calls: 40,
	}
	h.driver = &historyClient{history: h, id: 1, random: r.random}
	h.clients = []*historyClient{c, h.driver}
	h.followers = slices.Repeat(h.clients[1:], h.model.followers)
	for range c.calls {
		// Where there are followers, an append that waits for them would wait for its own caller.
		acks := draw(r.random, strategies.AcksNone, strategies.AcksLeader)
		if h.model.followers == 0 && r.random.IntN(3) == 0 {
			acks = strategies.AcksAll
		}
		c.planned = append(c.planned, h.newBatch(c, acks))
	}
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(h.model.followers)
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	if h.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	c.handle, h.driver.handle = h.log.NewHandle(), h.log.NewHandle()
	err = watched("a call", r.options.Patience, func() error {
		if err := c.performAlone(); err != nil {
			return err
		}
		h.driver.planned = []int{h.newBatch(h.driver, strategies.AcksLeader)}
		return h.conclude()
	})
	if err != nil {
		return err
	}
	if err := h.judge(); err != nil {
		return err
	}
	if err := watched("Trim", r.options.Patience, func() error { return h.trimAll(options.Storage) }); err != nil {
		return err
	}
	return r.close(h.log)
}

func (c *historyClient) performAlone() error {
	followers := c.history.model.followers
	for range c.calls {
		// What it was told last may be what it has asked for in vain.
		err := c.offsets()
		if err != nil {
			return err
		}
		switch n := c.random.IntN(10); {
		case followers > 0 && n < 4:
			_, err = c.history.driver.fetch(c.random.IntN(followers), draw(c.random, c.last.LogEnd, c.last.LogEnd, c.last.HighWatermark, c.last.Start))
		case followers > 0 && n < 5:
			ctx, done := cancelledSoon(context.Background(), c.random.IntN(12))
			err = c.append(ctx, c.history.newBatch(c, strategies.AcksAll))
			done()
		case n < 6:
			// What is there need not be waited for.
			k, end := waitingEnd, c.last.LogEnd
			if c.random.IntN(2) == 0 {
				k, end = waiting, c.last.HighWatermark
			}
			if end > 0 {
				// Mostly for the newest, which the log may have failed to announce.
				err = c.wait(context.Background(), k, end-1-c.random.Int64N(min(end, 3)))
			}
		default:
			err = c.operation(context.Background())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeAlone closes a log that nobody calls meanwhile.
func (r *round) closeAlone() error {
	c := &closeRun{round: r}
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	options := r.settings(r.drawFollowers())
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	r.counts.Closes++
	before := held(where.dir)
	if c.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	client := &closeClient{run: c, handle: c.log.NewHandle(), maker: maker{random: r.random}, followers: options.Replicas}
	c.clients = []*closeClient{client}
	err = watched("a call before Close, or Close,", r.options.Patience, func() error {
		for range r.random.IntN(40) {
			if err := client.callAlone(r.random); err != nil {
				return err
			}
		}
		return c.closeTwice()
	})
	if err != nil {
		return err
	}
	return c.closed(where, options, before)
}

func (c *closeClient) callAlone(random *rand.Rand) error {
	o := c.handle.Offsets()
	var err error
	switch n := random.IntN(16); {
	case n < 2:
		err = c.run.log.Trim(o.HighWatermark)
	case n < 4:
		_, err = c.handle.Read(o.HighWatermark, c.buf[:])
	case n < 6 && c.followers > 0:
		_, err = c.handle.Fetch(random.IntN(c.followers), o.LogEnd, c.buf[:])
	case n < 8:
		return c.refusal(random)
	default:
		told := outcome{sequence: c.maker.sequence, base: -1}
		b := c.maker.next()
		told.records = int(b.RecordCount())
		told.base, err = c.handle.Append(context.Background(), b, draw(random, strategies.AcksLeader, strategies.AcksNone))
		clear(b)
		c.outcomes = append(c.outcomes, told)
	}
	if err != nil {
		return violationf("a call gives %v", err)
	}
	return nil
}

// refusal verifies that an append that can't be accepted is not: its producer's numbers would have a gap.
func (c *closeClient) refusal(random *rand.Rand) error {
	m := maker{random: random, producer: len(c.run.clients)} // nobody's
	b, acks := m.next(), strategies.AcksLeader
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch random.IntN(3) {
	case 0:
		b[len(b)-1] ^= 1
	case 1:
		acks = strategies.AcksAll + 1
	default:
		cancel()
	}
	if base, err := c.handle.Append(ctx, b, acks); err == nil {
		return violationf("an append that is to be refused gives %d", base)
	}
	return nil
}

// closeTwice closes a handle, and then the log, each of them twice.
func (c *closeRun) closeTwice() error {
	h, client := c.log.NewHandle(), c.clients[0]
	for range 2 {
		if err := h.Close(); err != nil {
			return violationf("close of a handle gives %v", err)
		}
		if err := client.refused(h); err != nil {
			return err
		}
	}
	for range 2 {
		if err := c.log.Close(); err != nil {
			return violationf("close: %v", err)
		}
		for _, h := range []strategies.Handle{client.handle, h, c.log.NewHandle()} {
			if err := client.refused(h); err != nil {
				return err
			}
		}
		if err := errors.Join(c.log.Trim(1), c.log.Retain(strategies.Retention{Bytes: 1})); !errors.Is(err, strategies.ErrClosed) {
			return violationf("a trim after Close gives %v", err)
		}
	}
	return nil
}

// refused verifies that a handle that is closed, or whose log is, does nothing.
func (c *closeClient) refused(h strategies.Handle) error {
	m := maker{random: c.maker.random, producer: len(c.run.clients)}
	_, appendErr := h.Append(context.Background(), m.next(), strategies.AcksLeader)
	_, readErr := h.Read(0, c.buf[:])
	_, fetchErr := h.Fetch(0, 0, c.buf[:])
	_, seekErr := h.OffsetForTime(0)
	waitErr, endErr := h.Wait(context.Background(), 1<<40), h.WaitLogEnd(context.Background(), 1<<40)
	for _, err := range []error{appendErr, readErr, fetchErr, seekErr, waitErr, endErr} {
		if !errors.Is(err, strategies.ErrClosed) {
			return violationf("a call after Close gives %v", err)
		}
	}
	return nil
}
