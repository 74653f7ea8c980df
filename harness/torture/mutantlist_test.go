package torture

// furtherMutants are bugs that the checks missed once, and others of their kinds: published too early, a pin dropped too
// early, a wait that misses an event, a counter that is not maximal, a list published without the other word.
func furtherMutants() []mutant {
	return []mutant{
		{
			name: "a follower that fell back is ignored", strategy: "rwmutex", file: "strategies/picture.go",
			old: `	s.replicas[replica] = offset
`,
			new: `	s.replicas[replica] = max(s.replicas[replica], offset)
`,
		},
		{
			name: "atomics ignores a follower that fell back", strategy: "atomics", file: "strategies/atomics_followers.go",
			old: `	f.goingBack.Add(1)
	r.offset.Store(offset)
`,
			new: `	f.goingBack.Add(1)
`,
		},
		{
			name: "cancelled appends pile up", strategy: "actor", file: "strategies/actor_owner.go",
			old: `	if len(pending) == cap(pending) {
`,
			new: `	if len(pending) < 0 {
`,
		},
		{
			name: "a short write is resumed with the whole batch", strategy: "mutex-group", file: "segment/storage_file_log.go",
			old: `l.Pwrite(batches[0][n:], position)`,
			new: `l.Pwrite(batches[0], position)`,
		},
		{
			name: "trim without waiting for the sync by the clock", strategy: "rwmutex", file: "strategies/maintenance.go",
			old: `	m.awaitSync()
	return segment`,
			new: `	return segment`,
		},
		{
			name: "the third follower is ignored", strategy: "mutex", file: "strategies/picture.go",
			old: `	for _, offset := range s.replicas {
`,
			new: `	for _, offset := range s.replicas[:min(2, len(s.replicas))] {
`,
		},
		{
			name: "acknowledged before its sync", strategy: "mutex", file: "strategies/partition.go",
			old: `	if err == nil && p.sync.Due(`,
			new: `	if err == nil && p.sync.Bytes > 1 && p.sync.Due(`,
		},
		{
			name: "synced position before the sync", strategy: "actor", file: "strategies/partition.go",
			old: `	if err := v.Files.Sync(); err != nil {
		return err
	}
	p.synced = v.Size
	if p.checkpoint != nil {
		p.checkpoint.Advance(v)
	}
	return nil
`,
			new: `	p.synced = v.Size
	if p.checkpoint != nil {
		p.checkpoint.Advance(v)
	}
	return v.Files.Sync()
`,
		},
		{
			name: "atomics commits before the sync", strategy: "atomics", file: "strategies/atomics_commit.go",
			old: `	if l.sync.Due(at.bytes() - s.synced) {
`,
			new: `	s.committed.Store(uint64(at))
	if l.sync.Due(at.bytes() - s.synced) {
`,
		},
		{
			name: "the sync by the clock leaves out sealed segments", strategy: "mutex-rcu", file: "strategies/maintenance.go",
			old: `m.checkpoint.Sync(views(p.sealed[first:]), p.active)`,
			new: `m.checkpoint.Sync(views(p.sealed[first:][:0]), p.active)`,
		},
		{
			name: "a fetch wakes nobody", strategy: "rwmutex", file: "strategies/rwmutex.go",
			old: `		h.tail.published(h.log.fetched(replica, offset))
`,
			new: `		h.log.fetched(replica, offset)
`,
			hung: true,
		},
		{
			name: "a wait does not look again", strategy: "mutex", file: "strategies/wait.go",
			old: `		if offset < w.end.Load() {
			w.delist(n)
			return nil
		}
		select`,
			new:  `		select`,
			hung: true,
		},
		{
			name: "a cancelled wait leaves its token", strategy: "mutex-brief", file: "strategies/wait.go",
			old: `		<-n.ready // sent under mu, so it is there
`,
		},
		{
			name: "the end that waiters see goes back", strategy: "rwmutex-brief", file: "strategies/wait.go",
			old: `		if end <= last || w.end.CompareAndSwap(last, end) {
`,
			new: `		if w.end.CompareAndSwap(last, end) {
`,
		},
		{
			name: "close wakes nobody", strategy: "rwmutex", file: "strategies/wait.go",
			old: `			w.release(math.MaxInt64)
			return
`,
			new: `			return
`,
			hung: true,
		},
		{
			name: "a failure wakes nobody", strategy: "mutex", file: "strategies/wait.go",
			old: `		w.ending, w.limit = err, limit
	}
	w.mu.Unlock()
	w.wake()
`,
			new: `		w.ending, w.limit = err, limit
	}
	w.mu.Unlock()
`,
			hung: true,
		},
		{
			name: "a trim waits for one reader", strategy: "actor", file: "strategies/gate.go",
			old: `	for _, p := range pins {
`,
			new: `	for _, p := range pins[:min(1, len(pins))] {
`,
		},
		{
			name: "the pin is dropped before the read", strategy: "actor", file: "strategies/actor.go",
			old: `	p, err := h.actor.snapshot.Load().read(offset, buf, &h.cursor)
	h.actor.reads.leave(&h.reading)
	return p, err
`,
			new: `	state := h.actor.snapshot.Load()
	h.actor.reads.leave(&h.reading)
	return state.read(offset, buf, &h.cursor)
`,
		},
		{
			name: "the picture before the pin", strategy: "mutex-brief", file: "strategies/mutex_brief.go",
			old: `	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	state := h.log.picture()
	return state.read(`,
			new: `	state := h.log.picture()
	if h.closed || !h.log.reads.enter(&h.pin) {
		return nil, ErrClosed
	}
	defer h.log.reads.leave(&h.pin)
	return state.read(`,
		},
		{
			name: "a roll undoes a trim", strategy: "atomics", file: "strategies/atomics_roll.go",
			old: `		if l.segments.CompareAndSwap(last, rolled) {
			return nil
		}
`,
			new: `		l.segments.Store(rolled)
		return nil
`,
		},
		{
			name: "a trim undoes a roll", strategy: "atomics", file: "strategies/atomics_roll.go",
			old: `		if l.segments.CompareAndSwap(last, trimmed) {
			break
		}
`,
			new: `		l.segments.Store(trimmed)
		break
`,
		},
		{
			name: "the high watermark goes back", strategy: "atomics", file: "strategies/atomics_followers.go",
			old: `		if end <= last || f.highWatermark.CompareAndSwap(last, end) {
`,
			new: `		if f.highWatermark.CompareAndSwap(last, end) {
`,
		},
		{
			name: "answered before it is published", strategy: "mutex-group", file: "strategies/mutex_group.go",
			old: `	err := l.partition.commit()
	l.publish()
`,
			new: `	err := l.partition.commit()
	defer l.publish()
`,
		},
		{
			name: "latest timestamps of trimmed segments", strategy: "rbmutex", file: "strategies/picture.go",
			old: `	return sealAll(views(list[n:]))
`,
			new: `	return list[n:]
`,
		},
		{
			name: "a trim passes the high watermark", strategy: "mutex", file: "strategies/maintenance.go",
			old: `p.below(min(before(p), p.HighWatermark))`,
			new: `p.below(before(p))`,
		},
		{
			name: "segments go before the start is durable", strategy: "rwmutex", file: "strategies/maintenance.go",
			old: `	if err := m.checkpoint.SetStart(start); err != nil {
		return err
	}
	m.of.drop(start)
	m.awaitSync()
	return segment.Remove(views(dropped))
`,
			new: `	m.of.drop(start)
	m.awaitSync()
	if err := segment.Remove(views(dropped)); err != nil {
		return err
	}
	return m.checkpoint.SetStart(start)
`,
		},
		{
			name: "a failed write does not poison", strategy: "mutex", file: "strategies/partition.go",
			old: `	if err != nil {
		return p.fail(err)
	}
	p.state.active = written`,
			new: `	if err != nil {
		return failure(err)
	}
	p.state.active = written`,
		},
		{
			name: "acknowledged one record early", strategy: "mutex", file: "strategies/wait.go",
			old: `t.highWatermark.wait(ctx, n, end-1)
	if err == nil || end <= t`,
			new: `t.highWatermark.wait(ctx, n, end-2)
	if err == nil || end <= t`,
		},
		{
			name: "a closed handle keeps its pin", strategy: "mutex-rcu", file: "strategies/mutex_rcu.go",
			old: `	h.log.reads.remove(&h.pin)
`,
		},
		{
			name: "a batch is lost between two segments", strategy: "actor-mailbox", file: "strategies/partition.go",
			old: `	if err := p.commit(); err != nil {
		return err
	}
	if p.sync.Bytes > 0`,
			new: `	if p.sync.Bytes > 0`,
		},
		{
			name: "a list is shared while it grows", strategy: "actor", file: "strategies/actor_owner.go",
			old: `		state.trim(c.offset)
`,
			new: `		state.sealed = append(state.sealed[:0], without(state.sealed, c.offset)...)
		state.Start = c.offset
`,
		},
	}
}
