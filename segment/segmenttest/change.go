package segmenttest

import "math/rand/v2"

const (
	sector = 512 // what a device writes as a whole
	unit   = 16  // an index entry
	word   = 8   // the most that is stored at once
)

type kind int8

const (
	write    kind = iota // of data at position
	store                // the same through a mapping, which never extends a file
	truncate             // to the size position
	extend               // to the size position, unless the file is longer
)

// change is one pending change of a file.
type change struct {
	kind     kind
	position int64
	data     []byte
	sequence uint64 // the call of the Disk that made it
}

// fate is what a crash does to a pending change.
type fate int8

const (
	lost  fate = iota
	kept       // whole
	torn       // each part by itself is kept or lost
	begun      // a first part is kept, the rest lost
)

// apply makes the change to an image, as far as its fate lets it. The random numbers decide about parts,
// and are not needed where the change is kept or lost.
func (c change) apply(image []byte, f fate, r *rand.Rand) []byte {
	if f == lost {
		return image
	}
	switch c.kind {
	case truncate, extend:
		if f == begun || f == torn && r.IntN(2) == 0 {
			return image
		}
		if c.kind == extend && int64(len(image)) >= c.position {
			return image
		}
		return resized(image, c.position)
	case write:
		return c.parts(image, sector, f, r)
	default:
		return c.parts(image, unit, f, r)
	}
}

// parts puts data into the image, in parts that end at multiples of grain in the file.
func (c change) parts(image []byte, grain int64, f fate, r *rand.Rand) []byte {
	end := c.position + int64(len(c.data))
	if f == kept {
		return c.put(image, c.position, end)
	}
	if f == begun {
		end = min(end, (c.position/grain+r.Int64N(int64(len(c.data))/grain+2))*grain)
		if end <= c.position {
			return image
		}
		return c.put(image, c.position, end)
	}
	for from := c.position; from < end; {
		to := min(end, (from/grain+1)*grain)
		switch half := from/word*word + word; {
		case c.kind == store && half < to && r.IntN(16) == 0:
			if r.IntN(2) == 0 {
				image = c.put(image, from, half)
			} else {
				image = c.put(image, half, to)
			}
		case r.IntN(2) == 0:
			image = c.put(image, from, to)
		}
		from = to
	}
	return image
}

// put copies the data for the bytes [from, to) of the file.
func (c change) put(image []byte, from, to int64) []byte {
	if c.kind == write && to > int64(len(image)) {
		image = resized(image, to)
	}
	if from < int64(len(image)) {
		copy(image[from:], c.data[from-c.position:to-c.position])
	}
	return image
}

// resized cuts the image, or extends it with zeros.
func resized(image []byte, size int64) []byte {
	if extra := size - int64(len(image)); extra > 0 {
		return append(image, make([]byte, extra)...)
	}
	return image[:size]
}
