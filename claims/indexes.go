package claims

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"

	"tailrace/results"
)

// An index as the store has it: 16 bytes an entry, offset and position, big-endian, offsets ascending; 16,384
// entries are those of a segment of 64 MiB.
const (
	indexEntries    = 16_384
	indexEntryBytes = 16
	indexBytes      = indexEntries * indexEntryBytes
	offsetsPerEntry = 4 // records of 1 KiB, and an entry every 4 KiB
)

// indexes compares bisection in a mapped index with the same bisection by pread, which reads one entry a step. The
// store's own lookup begins at a guess and takes fewer steps.
//
// Cold, it is one lookup that starts with no page of the index in memory: bisection takes its steps in up to seven
// pages, and how many of them one visit to the disk brings in is up to the kernel, which reads ahead differently
// for a fault and for a pread.
func indexes(b *bench) ([]results.Figure, error) {
	figures, err := b.indexesHot()
	if err != nil {
		return nil, err
	}
	cold, err := b.indexesCold()
	if errors.Is(err, errors.ErrUnsupported) {
		return append(figures, unmeasured("index-cold", coldIndexText, "×", err)), nil
	}
	return append(figures, cold...), err
}

const coldIndexText = "time of a lookup by pread over one in the mapped index, of which no page is in memory"

func (b *bench) indexesHot() (figures []results.Figure, err error) {
	f, err := scratchFile(b.dir, indexBytes, fillIndex)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	mapped, err := mapFile(f, indexBytes, unix.PROT_READ)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unix.Munmap(mapped)) }()

	seed := b.random.Uint64()
	seconds, err := b.race(
		arm{"mapped", lookups(seed, func(offset int64) (int64, error) { return lookupMapped(mapped, offset) })},
		arm{"pread", lookups(seed, func(offset int64) (int64, error) { return lookupPread(f, offset) })})
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("index-hot", "time of a lookup by pread over one in the mapped index", seconds["pread"], seconds["mapped"]),
		b.value("index-seconds", "time of a lookup in the mapped index", "s", seconds["mapped"]),
		b.value("index-pread-seconds", "time of a lookup by pread", "s", seconds["pread"]),
	}, nil
}

func (b *bench) indexesCold() (figures []results.Figure, err error) {
	f, err := b.coldFile(indexBytes, fillIndex)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	one := func(lookup func(mapped []byte, offset int64) (int64, error)) func(mapped []byte) error {
		random := rand.New(rand.NewPCG(b.random.Uint64(), 0))
		return func(mapped []byte) error {
			return lookups(random.Uint64(), func(offset int64) (int64, error) { return lookup(mapped, offset) })(1)
		}
	}
	_, seconds, err := b.gauges(
		coldly("mapped", f, indexBytes, unix.MADV_NORMAL, one(lookupMapped)),
		coldly("pread", f, indexBytes, unix.MADV_NORMAL, one(func(_ []byte, offset int64) (int64, error) { return lookupPread(f, offset) })))
	if err != nil {
		return nil, err
	}
	return []results.Figure{
		b.ratio("index-cold", coldIndexText, seconds["pread"], seconds["mapped"]),
		b.value("index-cold-seconds", "time of a lookup in the mapped index, of which no page is in memory", "s", seconds["mapped"]),
		b.value("index-cold-pread-seconds", "time of a lookup by pread in an index of which no page is in memory", "s", seconds["pread"]),
	}, nil
}

// fillIndex writes the entries of an index.
func fillIndex(p []byte, position int64) {
	for at := 0; at < len(p); at += indexEntryBytes {
		entry := position/indexEntryBytes + int64(at)/indexEntryBytes
		binary.BigEndian.PutUint64(p[at:], uint64(entry*offsetsPerEntry))
		binary.BigEndian.PutUint64(p[at+8:], uint64(entry*4096))
	}
}

// lookups is a loop of lookups of random offsets.
func lookups(seed uint64, lookup func(offset int64) (position int64, err error)) func(n int) error {
	return func(n int) error {
		random := rand.New(rand.NewPCG(seed, 0))
		for range n {
			offset := random.Int64N(indexEntries * offsetsPerEntry)
			position, err := lookup(offset)
			if err != nil {
				return err
			}
			if position != offset/offsetsPerEntry*4096 {
				return fmt.Errorf("offset %d was found at %d", offset, position)
			}
		}
		return nil
	}
}

// lookupMapped gives the position of the last entry whose offset is at most the given one; the first entry's is.
func lookupMapped(mapped []byte, offset int64) (int64, error) {
	low, high := 0, indexEntries-1
	for low < high {
		middle := low + (high-low+1)/2
		if int64(binary.BigEndian.Uint64(mapped[middle*indexEntryBytes:])) <= offset {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return int64(binary.BigEndian.Uint64(mapped[low*indexEntryBytes+8:])), nil
}

// lookupPread is lookupMapped with a system call for each step. The entry's position has come with the last step
// that went up.
func lookupPread(f *os.File, offset int64) (position int64, err error) {
	fd := int(f.Fd())
	var entry [indexEntryBytes]byte
	low, high := 0, indexEntries-1
	for low < high {
		middle := low + (high-low+1)/2
		n, err := unix.Pread(fd, entry[:], int64(middle*indexEntryBytes))
		if err := whole(n, entry[:], err); err != nil {
			return 0, err
		}
		if int64(binary.BigEndian.Uint64(entry[:])) <= offset {
			low, position = middle, int64(binary.BigEndian.Uint64(entry[8:]))
		} else {
			high = middle - 1
		}
	}
	return position, nil
}
