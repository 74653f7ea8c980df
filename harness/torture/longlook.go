package torture

import (
	"errors"
	"math/rand/v2"

	"tailrace/segment"
	"tailrace/strategies"
)

// look asks for offsets, and at random places of the log, until all is produced; or mostly for the latest times.
func (l *longRun) look(stream uint64, seeks bool) error {
	h := l.newClient()
	defer h.close()
	random := newRandom(l.round.seed, stream)
	buf := make([]byte, 4*maxBatch)
	var last strategies.Offsets
	for l.produced.Err() == nil {
		h.renew(random)
		visible, acked := max(l.visible.Load(), l.demands()), l.acked.Load()
		now := h.Offsets()
		if err := l.checkOffsets(last, now, visible, acked); err != nil {
			return err
		}
		last = now
		if now.HighWatermark == now.Start {
			pause(random)
			continue
		}
		var err error
		switch {
		case seeks && random.IntN(4) > 0:
			err = l.seek(h, l.latest.Load()+random.Int64N(10), buf)
		case random.IntN(8) == 0:
			err = l.waitSoon(h, now.HighWatermark-1+random.Int64N(6), random)
		case random.IntN(4) == 0:
			err = l.seek(h, random.Int64N(3*now.HighWatermark), buf)
		default:
			err = l.readAt(h, now.Start+random.Int64N(now.HighWatermark-now.Start), buf[:segment.HeaderSize+random.IntN(min(len(buf)-segment.HeaderSize, 4*l.round.shape.largest()))])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *longRun) checkOffsets(last, now strategies.Offsets, visible, acked int64) error {
	switch {
	case now.Start > now.HighWatermark || now.HighWatermark > now.LogEnd,
		now.Start < last.Start || now.HighWatermark < last.HighWatermark || now.LogEnd < last.LogEnd:
		return violationf("the offsets go from %+v to %+v", last, now)
	case now.HighWatermark < visible || now.LogEnd <= acked:
		return violationf("offsets are %+v after the acknowledgement of appends at %d, and up to %d for all", now, acked, visible)
	case now.HighWatermark > l.allows():
		return violationf("the high watermark is %d, and at no moment had all followers said to have more than what is below %d",
			now.HighWatermark, l.allows())
	case now.Start > l.trimmed.Load():
		return violationf("the log starts at %d, and no trim asked for more than %d", now.Start, l.trimmed.Load())
	}
	return nil
}

// waitSoon waits for an offset, which need not come.
func (l *longRun) waitSoon(h strategies.Handle, offset int64, random *rand.Rand) error {
	ctx, done := endingSoon(l.crew.ctx, random)
	defer done()
	switch err := h.Wait(ctx, offset); {
	case err != nil && ctx.Err() == nil:
		return violationf("wait for %d: %v", offset, err)
	case err == nil && h.Offsets().HighWatermark <= offset:
		return violationf("a wait for %d returns, and the high watermark is %d", offset, h.Offsets().HighWatermark)
	}
	return nil
}

// mustBeTrimmed follows an answer that an offset is out of range, below which there was something to read: the log starts
// behind it now.
func (l *longRun) mustBeTrimmed(h strategies.Handle, offset int64) error {
	if start := h.Offsets().Start; start <= offset {
		return violationf("%d is out of range, and the log starts at %d", offset, start)
	}
	return nil
}

// readAt reads at an offset that was below the high watermark.
func (l *longRun) readAt(h strategies.Handle, offset int64, buf []byte) error {
	p, err := h.Read(offset, buf)
	short, isShort := errors.AsType[*segment.ShortBufferError](err)
	switch {
	case errors.Is(err, strategies.ErrOutOfRange):
		return l.mustBeTrimmed(h, offset)
	case isShort && short.Need > int64(len(buf)) && short.Need <= maxBatch:
		return nil
	case err != nil:
		return violationf("read at %d: %v", offset, err)
	case len(p) == 0:
		return violationf("a read at %d, which was below the high watermark, gives nothing", offset)
	}
	next := int64(-1)
	err = split(p, func(b segment.Batch) error {
		base := b.BaseOffset()
		if next < 0 && (base > offset || b.NextOffset() <= offset) || next >= 0 && base != next {
			return violationf("a read at %d gives a batch at %d where %d was due", offset, base, max(next, offset))
		}
		next = b.NextOffset()
		return eachMessage(b, l.producers+1, func(int, int, int64) error { return nil })
	})
	if err != nil {
		return err
	}
	if hw := h.Offsets().HighWatermark; next > hw {
		return violationf("a read goes up to %d, and the high watermark is %d", next, hw)
	}
	return nil
}

// seek looks for a time: the record found is late enough, and the one before it is not.
func (l *longRun) seek(h strategies.Handle, time int64, buf []byte) error {
	end := h.Offsets().HighWatermark
	found, err := h.OffsetForTime(time)
	if err != nil {
		return violationf("offset for a time: %v", err)
	}
	if at, known, err := l.timestamp(h, found, buf); err != nil {
		return err
	} else if known && at < time && found < end || !known && found < end && h.Offsets().Start <= found {
		return violationf("the first offset from time %d on is %d, whose time is %d", time, found, at)
	}
	at, known, err := l.timestamp(h, found-1, buf)
	if err != nil {
		return err
	}
	if known && at >= time {
		return violationf("the first offset from time %d on is %d, and the one before it has time %d", time, found, at)
	}
	return nil
}

// timestamp is that of the record at an offset, if there is one.
func (l *longRun) timestamp(h strategies.Handle, offset int64, buf []byte) (at int64, known bool, err error) {
	p, err := h.Read(offset, buf)
	if errors.Is(err, strategies.ErrOutOfRange) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, violationf("read at %d: %v", offset, err)
	}
	err = split(p, func(b segment.Batch) error {
		for r := b.Records(); !known && r.Next(); {
			if r.Record.Offset == offset {
				at, known = r.Record.Timestamp, true
			}
		}
		return nil
	})
	return at, known, err
}
