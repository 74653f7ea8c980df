package strategies

// mailboxLog is the classic actor: nothing is shared, and reads are messages too. The owner serves them one
// after the other, between the writes, and a read waits for the write that is under way. What it loses against actor is
// what the snapshot gains.
type mailboxLog struct{ *partitionActor }

type mailboxHandle struct{ *partitionHandle }

func openActorMailbox(o Options) (Log, error) {
	a, err := startActor(o, (*partitionActor).drain)
	if err != nil {
		return nil, err
	}
	return mailboxLog{a}, nil
}

func (l mailboxLog) NewHandle() Handle { return mailboxHandle{l.newHandle()} }

func (h mailboxHandle) Read(offset int64, buf []byte) ([]byte, error) {
	c := h.request(reading, offset)
	c.buf = buf
	if err := h.ask(); err != nil {
		return nil, err
	}
	return c.result, nil
}

func (h mailboxHandle) OffsetForTime(ts int64) (int64, error) {
	c := h.request(seeking, ts)
	if err := h.ask(); err != nil {
		return 0, err
	}
	return c.base, nil
}

func (h mailboxHandle) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	c := h.request(fetching, offset)
	c.replica, c.buf = replica, buf
	if err := h.ask(); err != nil {
		return nil, err
	}
	return c.result, nil
}

// Offsets falls back on the picture once the owner takes no more requests.
func (h mailboxHandle) Offsets() Offsets {
	c := h.request(looking, 0)
	if err := h.ask(); err != nil {
		return h.actor.offsets()
	}
	return c.offsets
}

func (h mailboxHandle) request(kind commandKind, offset int64) *command {
	c := h.command
	c.kind, c.offset, c.cursor = kind, offset, &h.cursor
	return c
}
