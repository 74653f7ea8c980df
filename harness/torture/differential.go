package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tailrace/segment"
	"tailrace/strategies"
)

// sequenceCalls is the number of calls in one sequence.
const sequenceCalls = 250

// twin is a strategy that is compared, or the one that it is compared with.
type twin struct {
	strategy strategies.Strategy
	where    *place
	options  strategies.Options
	log      strategies.Log
	handles  [2]strategies.Handle
}

// differential makes the same calls, one after the other, of the strategy and of mutex.
func (r *round) differential() error { return r.against("mutex") }

func (r *round) against(name string) error {
	oracle, err := strategies.Find(name)
	if err != nil {
		return err
	}
	options := r.settings(r.random.IntN(maxFollowers + 1))
	if r.random.IntN(3) == 0 {
		options.SegmentSize, options.IndexInterval = 20_000, r.indexInterval(20_000)
	}
	var twins [2]*twin
	kind := r.random.Uint64()
	for i, s := range []strategies.Strategy{r.strategy, oracle} {
		twins[i] = &twin{strategy: s, options: options}
		onTheSame := *r
		onTheSame.random = newRandom(kind, 0)
		if twins[i].where, err = onTheSame.newPlace(); err != nil {
			return err
		}
		defer twins[i].where.remove()
		r.places = append(r.places, twins[i].where)
	}
	var trace []string
	err = watched("a call", r.options.Patience, func() error { return r.compare(twins, &trace) })
	if err != nil {
		return with(err, "calls.txt", []byte(strings.Join(trace, "\n")+"\n"))
	}
	r.counts.Sequences++
	return nil
}

func (r *round) compare(twins [2]*twin, trace *[]string) error {
	if err := openBoth(twins); err != nil {
		return err
	}
	m := &maker{random: r.random, shape: r.shape}
	for range sequenceCalls {
		if r.random.IntN(60) == 0 {
			*trace = append(*trace, "close and open")
			if err := closeBoth(twins); err != nil {
				return err
			}
			if err := openBoth(twins); err != nil {
				return err
			}
			continue
		}
		name, call := r.nextCall(m, twins[1].handles[0].Offsets())
		got, want := call(twins[0]), call(twins[1])
		*trace = append(*trace, name+" → "+want)
		if got != want {
			return violationf("%s gives %s, and %s of %s, after the same calls", name, got, want, twins[1].strategy.Name)
		}
	}
	*trace = append(*trace, "close")
	if err := sameFiles("open", twins); err != nil {
		return err
	}
	return closeBoth(twins)
}

// nextCall draws a call, which gives its answer as text.
func (r *round) nextCall(m *maker, o strategies.Offsets) (name string, call func(*twin) string) {
	random, handle := r.random, r.random.IntN(2)
	offset := o.Start + random.Int64N(o.LogEnd-o.Start+3)
	switch n := random.IntN(20); {
	case n < 10:
		b := bytes.Clone(m.next())
		// Nobody replicates while this call waits.
		acks := draw(random, strategies.AcksNone, strategies.AcksLeader)
		return fmt.Sprintf("append of %d bytes, acks %d", len(b), acks), func(t *twin) string {
			base, err := t.handles[handle].Append(context.Background(), bytes.Clone(b), acks)
			return fmt.Sprint(base, err)
		}
	case n < 14:
		size := segment.HeaderSize + random.IntN(3*r.shape.largest())
		return fmt.Sprintf("read at %d of %d bytes", offset, size), func(t *twin) string {
			return bytesRead(t.handles[handle].Read(offset, make([]byte, size)))
		}
	case n < 16:
		time := random.Int64N(220) - 10
		return fmt.Sprintf("offset for time %d", time), func(t *twin) string {
			offset, err := t.handles[handle].OffsetForTime(time)
			return fmt.Sprint(offset, err)
		}
	case n < 18:
		replica := random.IntN(maxFollowers + 1)
		if random.IntN(2) == 0 {
			offset = o.LogEnd
		}
		return fmt.Sprintf("fetch of %d at %d", replica, offset), func(t *twin) string {
			return bytesRead(t.handles[handle].Fetch(replica, offset, make([]byte, 2*maxBatch))) + fmt.Sprint(t.handles[0].Offsets())
		}
	case n < 19:
		return fmt.Sprintf("trim below %d", offset), func(t *twin) string {
			return fmt.Sprint(t.log.Trim(offset), t.handles[handle].Offsets())
		}
	default:
		retention := strategies.Retention{Bytes: int64(1 + random.IntN(20_000))}
		return fmt.Sprintf("retain %d bytes", retention.Bytes), func(t *twin) string {
			return fmt.Sprint(t.log.Retain(retention), t.handles[handle].Offsets())
		}
	}
}

func bytesRead(p []byte, err error) string { return fmt.Sprintf("%x %v", p, err) }

func (t *twin) open() (err error) {
	if t.options.Storage, err = t.where.open(); err != nil {
		return err
	}
	if t.log, err = t.strategy.Open(t.options); err != nil {
		return violationf("open: %v", err)
	}
	t.handles = [2]strategies.Handle{t.log.NewHandle(), t.log.NewHandle()}
	return nil
}

// closeBoth compares what the two logs leave behind.
func closeBoth(twins [2]*twin) error {
	for _, t := range twins {
		if err := t.log.Close(); err != nil {
			return violationf("close: %v", err)
		}
		var err error
		if t.options.Storage, err = t.where.open(); err != nil {
			return err
		}
	}
	err := sameFiles("closed", twins)
	return errors.Join(err, twins[0].options.Storage.Close(), twins[1].options.Storage.Close())
}

func openBoth(twins [2]*twin) error {
	for _, t := range twins {
		if err := t.open(); err != nil {
			return err
		}
	}
	return nil
}

func sameFiles(state string, twins [2]*twin) error {
	got, err := contents(twins[0].options.Storage)
	if err != nil {
		return err
	}
	want, err := contents(twins[1].options.Storage)
	if err != nil {
		return err
	}
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		return violationf("the files of the %s log are %v, and %v of %s, after the same calls", state, g, w, twins[1].strategy.Name)
	}
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			return violationf("%s of the %s log has other bytes than that of %s, after the same calls", name, state, twins[1].strategy.Name)
		}
	}
	return nil
}

// contents gives the bytes of all logs and indexes. What else is stored counts syncs.
func contents(s segment.Storage) (map[string][]byte, error) {
	names, err := s.List()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		size, err := s.Size(name)
		if err != nil {
			return nil, err
		}
		p := make([]byte, size)
		switch filepath.Ext(name) {
		case ".log":
			err = readLog(s, name, p)
		case ".index", ".timeindex":
			err = readIndex(s, name, p)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		files[name] = p
	}
	return files, nil
}

func readLog(s segment.Storage, name string, p []byte) error {
	log, err := s.OpenLog(name, false)
	if err != nil {
		return err
	}
	_, err = log.Pread(p, 0)
	return errors.Join(err, log.Close())
}

func readIndex(s segment.Storage, name string, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	mapping, err := s.MapIndex(name, int64(len(p)), false)
	if err != nil {
		return err
	}
	copy(p, mapping.Bytes())
	return mapping.Close()
}
