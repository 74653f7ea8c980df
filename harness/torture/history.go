package torture

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"tailrace/segment"
	"tailrace/strategies"
)

const (
	// historiesPerRound and historyTime bound a round.
	historiesPerRound = 60
	historyTime       = 250 * time.Millisecond
	// judgeTime bounds the search for an order of one history.
	judgeTime = 2 * time.Second
	// never is when an append returns whose outcome is unknown: it may take effect at any time.
	never = math.MaxInt64
)

// history is one short run of several clients on a log of its own.
type history struct {
	round     *round
	log       strategies.Log
	model     partitionModel
	clock     atomic.Int64 // numbers calls and returns
	clients   []*historyClient
	followers []*historyClient
	driver    *historyClient
}

// histories makes short histories and judges them.
func (r *round) histories() error {
	began, limit := time.Now(), r.time(historyTime)
	for n := range historiesPerRound {
		if n > 0 && time.Since(began) > limit {
			break
		}
		if err := r.history(uint64(n)); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) history(n uint64) error {
	options := r.settings(r.drawFollowers())
	h := r.newHistory(n, options.Replicas)
	where, err := r.newPlace()
	if err != nil {
		return err
	}
	defer where.remove()
	if options.Storage, err = where.open(); err != nil {
		return err
	}
	if h.log, err = r.strategy.Open(options); err != nil {
		return violationf("open: %v", err)
	}
	if err := h.run(); err != nil {
		return with(err, "history.txt", h.model.listing(h.operations()))
	}
	if err := h.judge(); err != nil {
		return err
	}
	if err := watched("Trim", r.options.Patience, func() error { return h.trimAll(options.Storage) }); err != nil {
		return err
	}
	return r.close(h.log)
}

// newHistory draws what everybody is going to do.
func (r *round) newHistory(n uint64, followers int) *history {
	h := &history{round: r, model: partitionModel{followers: followers}}
	clients := 3 + r.random.IntN(4)
	calls := 6 + r.random.IntN(7)
	cancels := r.random.IntN(2) == 0
	trims := r.random.IntN(2) == 0
	watcher := -1
	if h.model.followers > 0 {
		// Followers go on as long as the others, and one client does nothing but look at the offsets.
		clients, calls = 4, 6
		watcher = 0
	}
	for id := range clients + h.model.followers + 1 {
		h.clients = append(h.clients, &historyClient{
			history: h, id: id, random: newRandom(r.seed, (n+1)<<8|uint64(id)), cancels: cancels, trims: trims, calls: calls,
			watches: id == watcher,
		})
	}
	h.driver = h.clients[len(h.clients)-1]
	h.followers = h.clients[clients : len(h.clients)-1]
	for _, c := range h.clients[:clients] {
		c.plan()
	}
	h.driver.planned = []int{h.newBatch(h.driver, strategies.AcksLeader)}
	return h
}

// newBatch makes the next batch of the history. Its number is the producer's in its records.
func (h *history) newBatch(c *historyClient, acks strategies.Acks) int {
	id := len(h.model.batches)
	m := maker{random: c.random, producer: id, shape: h.round.shape}
	b := m.next()
	info := batchInfo{count: int64(b.RecordCount()), size: int64(len(b)), bytes: bytes.Clone(b), acks: acks}
	for records := b.Records(); records.Next(); {
		info.times = append(info.times, records.Record.Timestamp)
	}
	h.model.batches = append(h.model.batches, info)
	return id
}

// run has all clients call at once. When they are done, one more append is acknowledged, the followers come
// up to it, and everything is read.
func (h *history) run() error {
	patience := h.round.options.Patience
	for _, c := range h.clients {
		c.handle = h.log.NewHandle()
	}
	callers, others := newCrew(), newCrew()
	defer callers.stop()
	defer others.stop()
	gate := make(chan struct{})
	for replica, c := range h.followers {
		others.start(func() error {
			<-gate
			return c.follow(others.ctx, replica)
		})
	}
	for _, c := range h.clients[:len(h.clients)-1-len(h.followers)] {
		callers.start(func() error {
			<-gate
			return c.perform(callers.ctx)
		})
	}
	close(gate)
	err := callers.wait("a call", patience)
	others.stop()
	if err != nil {
		return err
	}
	if err := others.wait("a follower's call", patience); err != nil {
		return err
	}
	return watched("a call after the others", patience, h.conclude)
}

// conclude makes the whole log readable, and reads it.
func (h *history) conclude() error {
	d := h.driver
	if err := d.append(context.Background(), d.planned[0]); err != nil {
		return err
	}
	if err := d.offsets(); err != nil {
		return err
	}
	end := d.last.LogEnd
	for replica := range h.followers {
		if _, err := d.fetch(replica, end); err != nil {
			return err
		}
	}
	if err := d.offsets(); err != nil {
		return err
	}
	for next := d.last.Start; next < end; {
		before := next
		var err error
		if next, err = d.read(next, 64<<10); err != nil {
			return err
		}
		if next == before {
			return violationf("a read at %d, below the high watermark %d, gives nothing", next, end)
		}
	}
	return nil
}

func (h *history) operations() []porcupine.Operation {
	var all []porcupine.Operation
	for _, c := range h.clients {
		all = append(all, c.recorded...)
	}
	return all
}

// judge looks for an order in which the operations could have happened one after the other.
func (h *history) judge() error {
	all := h.operations()
	h.pin(all)
	counts := h.round.counts
	counts.Histories++
	counts.Operations += int64(len(all))
	model := h.model.porcupine()
	switch porcupine.CheckOperationsTimeout(model, all, judgeTime) {
	case porcupine.Unknown:
		counts.Unknown++
		return nil
	case porcupine.Ok:
		return nil
	}
	err := violationf("a history of %d operations by %d clients is not linearizable: no order of them explains all answers",
		len(all), len(h.clients))
	err = with(err, "history.txt", h.model.listing(all))
	_, info := porcupine.CheckOperationsVerbose(model, all, judgeTime)
	if picture, drawErr := visualize(model, info); drawErr == nil {
		err = with(err, "history.html", picture)
	}
	return err
}

// pin gives appends that were not told where their batch is the offset at which it was read last.
func (h *history) pin(all []porcupine.Operation) {
	found := map[int]int64{}
	for _, o := range h.driver.recorded {
		if in := o.Input.(input); in.kind == reading {
			base := in.offset
			for _, batch := range o.Output.(output).batches {
				found[batch] = base
				base += h.model.batches[batch].count
			}
		}
	}
	for i, o := range all {
		in, out := o.Input.(input), o.Output.(output)
		if base, ok := found[in.batch]; ok && in.kind == storing && out.base < 0 {
			all[i].Output = output{base: base}
		}
	}
}

func visualize(model porcupine.Model, info porcupine.LinearizationInfo) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tailrace-history-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "history.html")
	if err := porcupine.VisualizePath(model, info, path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// trimAll trims everything that a trim may take: one segment is left, and the log begins with it.
func (h *history) trimAll(s segment.Storage) error {
	d := h.driver
	end := d.last.LogEnd
	if err := h.log.Trim(end); err != nil {
		return violationf("trim: %v", err)
	}
	names, err := s.List()
	if err != nil {
		return err
	}
	var logs []string
	for _, name := range names {
		if filepath.Ext(name) == ".log" {
			logs = append(logs, name)
		}
	}
	start := d.handle.Offsets().Start
	if len(logs) != 1 || logs[0] != segment.Name(start) {
		return violationf("after a trim of everything below %d the log starts at %d, and these are left: %v", end, start, logs)
	}
	return nil
}

func (h *history) tick() int64 { return h.clock.Add(1) }
