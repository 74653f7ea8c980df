package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"tailrace/segment"
)

// textDump writes tables. It streams: widths come from what the segment says of itself.
type textDump struct {
	w       io.Writer
	path    string
	records bool

	segment segment.Segment // the current one
	table   string          // the heading of the table that is being written
}

func (d *textDump) verified(v segment.Verified) error {
	return d.print("sound: %s, %s, %s, %s of log\n", plural(int64(v.Segments), "segment"), plural(v.Batches, "batch"),
		plural(v.Records, "record"), plural(v.Bytes, "byte"))
}

func (d *textDump) item(i segment.Item) error {
	switch i := i.(type) {
	case *segment.Directory:
		return d.directory(i)
	case *segment.Segment:
		d.segment = *i
		return d.head(i)
	case *segment.StoredBatch:
		return d.batch(i)
	case *segment.StoredRecord:
		return d.record(i)
	case *segment.IndexEntry:
		return d.row(fmt.Sprintf("\n  %s, %s entries\n    %*s  %*s\n", i.File, i.Format, d.offsets(), "offset", d.positions(), "position"),
			"    %*d  %*d\n", d.offsets(), i.Offset, d.positions(), i.LogPosition)
	case *segment.TimeIndexEntry:
		return d.row(fmt.Sprintf("\n  %s, %s entries\n    %*s  timestamp\n", i.File, i.Format, d.offsets(), "offset"),
			"    %*d  %s\n", d.offsets(), i.Offset, timestamp(i.Timestamp))
	case *segment.CheckpointSlot:
		return d.slot(i)
	case *segment.CleanSegment:
		return d.row(fmt.Sprintf("%s, index interval %d bytes\n", i.File, i.Interval),
			"  %s: end offset %d, %s, max timestamp %s, CRCs of index %08x and time index %08x\n",
			segment.Name(i.Base), i.End, plural(i.Size, "byte"), timestamp(i.MaxTimestamp), i.IndexCRC, i.TimeIndexCRC)
	case *segment.Fault:
		return d.print("  fault at byte %d: %s; %s\n", i.Position, plainText(i.Cause.Error()), i.Effect.Meaning())
	}
	return nil
}

func (d *textDump) print(format string, args ...any) error {
	_, err := fmt.Fprintf(d.w, format, args...)
	return err
}

// row prints a row of a table, and its heading before the first.
func (d *textDump) row(heading, format string, args ...any) error {
	if heading != d.table {
		d.table = heading
		if err := d.print("%s", heading); err != nil {
			return err
		}
	}
	return d.print(format, args...)
}

func (d *textDump) directory(i *segment.Directory) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", d.path)
	if i.Ours {
		closed := "not in order, or it is in use"
		if i.Clean {
			closed = "in order"
		}
		fmt.Fprintf(&b, "  log start       %d\n  log end         %d\n", i.Start, i.End)
		fmt.Fprintf(&b, "  recovery point  offset %d, byte %d of %s\n", i.Point.Offset, i.Point.Position, segment.Name(i.Point.Base))
		fmt.Fprintf(&b, "  closed          %s\n  index interval  %d bytes\n", closed, i.Interval)
	} else {
		fmt.Fprintf(&b, "  a log of another writer: it has no recovery point\n  log start       %d\n  log end         %d\n", i.Start, i.End)
	}
	fmt.Fprintf(&b, "  segments        %d\n", i.Segments)
	for n, f := range i.Others {
		label := ""
		if n == 0 {
			label = "other files"
		}
		fmt.Fprintf(&b, "  %-14s  %s\n", label, strings.TrimSuffix(f.Name+": "+f.What, ": "))
	}
	return d.print("%s", b.String())
}

func (d *textDump) head(i *segment.Segment) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n  base offset     %d\n  end offset      %d\n", i.File, i.Base, i.End)
	fmt.Fprintf(&b, "  size            %s: %s, %s\n", plural(i.Size, "byte"), plural(i.Batches, "batch"), plural(i.Records, "record"))
	if i.Zeros > 0 {
		fmt.Fprintf(&b, "  allocated       the last %s are zeros\n", plural(i.Zeros, "byte"))
	}
	if i.Batches > 0 {
		fmt.Fprintf(&b, "  timestamps      first %s\n                  last  %s\n                  max   %s\n",
			timestamp(i.FirstTimestamp), timestamp(i.LastTimestamp), timestamp(i.MaxTimestamp))
	}
	fmt.Fprintf(&b, "  index           %s\n  time index      %s\n", entries(i.Index), entries(i.TimeIndex))
	return d.print("%s", b.String())
}

func entries(x segment.IndexFile) string {
	if x.Format == segment.Missing {
		return "missing"
	}
	return fmt.Sprintf("%s in %s, %s format", plural(x.Entries, "entry"), plural(x.Size, "byte"), x.Format)
}

func (d *textDump) batch(i *segment.StoredBatch) error {
	stamps := d.stamps()
	offsets := 2*d.offsets() + 1
	heading := fmt.Sprintf("\n  %-*s  %*s  %8s  %-*s  %-*s  %7s  %-11s  %-3s  %s\n", offsets, "offsets", d.positions(), "position", "size",
		stamps, "base timestamp", stamps, "max timestamp", "records", "compression", "crc", "flags")
	crc, records := "ok", "?"
	if !i.Sound {
		crc = "BAD"
	}
	if i.Records >= 0 {
		records = strconv.Itoa(int(i.Records))
	}
	row := fmt.Sprintf("  %-*s  %*d  %8d  %-*s  %-*s  %7s  %-11s  %-3s  %s", offsets, fmt.Sprintf("%d–%d", i.BaseOffset, i.LastOffset),
		d.positions(), i.Position, i.Size, stamps, timestamp(i.BaseTimestamp), stamps, timestamp(i.MaxTimestamp),
		records, i.Compression, crc, flags(i))
	if err := d.row(heading, "%s\n", strings.TrimRight(row, " ")); err != nil {
		return err
	}
	if d.records && (i.Compression != "none" || i.Magic != 2) {
		return d.print("      not decoded\n")
	}
	return nil
}

func flags(i *segment.StoredBatch) string {
	var names []string
	for _, f := range []struct {
		set  bool
		name string
	}{
		{i.Magic != 2, fmt.Sprintf("magic %d", i.Magic)},
		{i.Transactional, "transactional"},
		{i.Control, "control"},
		{i.AppendTime, "append time"},
		{i.LeaderEpoch > 0, fmt.Sprintf("epoch %d", i.LeaderEpoch)},
		{i.ProducerID >= 0, fmt.Sprintf("producer %d/%d from %d", i.ProducerID, i.ProducerEpoch, i.BaseSequence)},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

func (d *textDump) record(i *segment.StoredRecord) error {
	var b strings.Builder
	fmt.Fprintf(&b, "      %-*d  %-*s  key %s  value %s", d.offsets(), i.Offset, d.stamps(), timestamp(i.Timestamp), quoted(i.Key), quoted(i.Value))
	for _, h := range i.Headers {
		fmt.Fprintf(&b, "  header %s %s", quoted([]byte(h.Key)), quoted(h.Value))
	}
	return d.print("%s\n", b.String())
}

func (d *textDump) slot(i *segment.CheckpointSlot) error {
	what := "torn, or never written"
	if i.Valid {
		what = fmt.Sprintf("offset %d, byte %d of %s, sequence %d", i.Point.Offset, i.Point.Position, segment.Name(i.Point.Base), i.Sequence)
	}
	if i.Counts {
		what += ", which counts"
	}
	return d.row(i.File+"\n", "  byte %3d  %-14s  %s\n", i.Position, slotName(i), what)
}

func slotName(i *segment.CheckpointSlot) string {
	if i.LogStart {
		return "log start"
	}
	return "recovery point"
}

// Widths of columns, for what is still to come in the segment.
func (d *textDump) offsets() int   { return max(len("offset"), digits(d.segment.End)) }
func (d *textDump) positions() int { return max(len("position"), digits(d.segment.Size)) }
func (d *textDump) stamps() int {
	s := &d.segment
	return max(len("base timestamp"), len(timestamp(s.FirstTimestamp)), len(timestamp(s.LastTimestamp)), len(timestamp(s.MaxTimestamp)))
}

func digits(n int64) int { return len(strconv.FormatInt(n, 10)) }

// timestamp is milliseconds since 1970, and the time where that makes sense.
func timestamp(ms int64) string {
	text := strconv.FormatInt(ms, 10)
	if t := time.UnixMilli(ms).UTC(); t.Year() >= 1990 && t.Year() < 2100 {
		text += " " + t.Format("2006-01-02T15:04:05.000Z07:00")
	}
	return text
}

// quoted shows bytes with their number, and not more of them than can be read.
func quoted(p []byte) string {
	const most = 64
	switch {
	case p == nil:
		return "null"
	case len(p) > most:
		return fmt.Sprintf("%d bytes %q…", len(p), p[:most])
	default:
		return fmt.Sprintf("%s %q", plural(int64(len(p)), "byte"), p)
	}
}

func plural(n int64, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "ch"):
		word += "es"
	case strings.HasSuffix(word, "y"):
		word = strings.TrimSuffix(word, "y") + "ies"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
