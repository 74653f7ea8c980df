package plots

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
)

// mostColours is how many colours a palette can hold.
const mostColours = 256

// encodePNG encodes a chart with a palette. A chart has few colours but for the edges that are smoothed, and with
// a palette its file takes a third of the room and is written in a third of the time.
func encodePNG(img image.Image) ([]byte, error) {
	flat, ok := img.(*image.RGBA)
	if !ok {
		flat = image.NewRGBA(img.Bounds())
		draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Src)
	}
	var out bytes.Buffer
	err := png.Encode(&out, indexed(flat))
	return out.Bytes(), err
}

// shade is all colours that differ in the lower half of their bits only: no eye tells them apart.
type shade uint16

// shades is how many there are.
const shades = 1 << 12

func shadeOf(c [4]uint8) shade {
	return shade(c[0]>>4)<<8 | shade(c[1]>>4)<<4 | shade(c[2]>>4)
}

// indexed returns an opaque image with the colours of a palette: the most frequent colour of each of its most
// frequent shades, so that the areas and lines, and the paper, have their own.
func indexed(img *image.RGBA) *image.Paletted {
	bounds := img.Bounds()
	row := func(y int) []uint8 { return img.Pix[y*img.Stride:][:4*bounds.Dx()] }
	// Most rows of a chart are like the one above: their runs are looked for once.
	var all []run
	rows := make([][]run, bounds.Dy())
	counts := make(map[[4]uint8]int)
	for y, same := 0, 1; y < bounds.Dy(); y += same {
		first := len(all)
		all = appendRuns(all, row(y))
		rows[y] = all[first:]
		for same = 1; y+same < bounds.Dy() && bytes.Equal(row(y), row(y+same)); same++ {
		}
		for _, r := range rows[y] {
			counts[r.colour] += r.pixels * same
		}
	}
	palette, index := newPalette(counts)
	paletted := image.NewPaletted(bounds, palette)
	for y, runs := range rows {
		entries := paletted.Pix[y*paletted.Stride:][:bounds.Dx()]
		if runs == nil {
			copy(entries, paletted.Pix[(y-1)*paletted.Stride:])
			continue
		}
		at := 0
		for _, r := range runs {
			if entry := index[shadeOf(r.colour)]; entry > 0 { // the paper is 0, and there already
				for i := range r.pixels {
					entries[at+i] = entry
				}
			}
			at += r.pixels
		}
	}
	return paletted
}

// run is neighbours of one colour.
type run struct {
	pixels int
	colour [4]uint8
}

// appendRuns appends the runs of a row.
func appendRuns(to []run, row []uint8) []run {
	for at := 0; at < len(row); {
		colour := [4]uint8(row[at:])
		two := uint64(binary.LittleEndian.Uint32(row[at:]))
		two |= two << 32
		end := at + 4
		for end+8 <= len(row) && binary.LittleEndian.Uint64(row[end:]) == two {
			end += 8
		}
		for end < len(row) && [4]uint8(row[end:]) == colour {
			end += 4
		}
		to = append(to, run{(end - at) / 4, colour})
		at = end
	}
	return to
}

// newPalette chooses the colours of a palette and says which of them stands for each shade.
func newPalette(counts map[[4]uint8]int) (color.Palette, *[shades]uint8) {
	type group struct {
		shade      shade
		colour     [4]uint8 // the most frequent
		count, all int
	}
	byShade := make(map[shade]*group)
	for c, n := range counts {
		g := byShade[shadeOf(c)]
		if g == nil {
			g = &group{shade: shadeOf(c)}
			byShade[g.shade] = g
		}
		g.all += n
		if n > g.count || n == g.count && slices.Compare(c[:], g.colour[:]) < 0 {
			g.colour, g.count = c, n
		}
	}
	var groups []*group
	for _, g := range byShade {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.shade, b.shade))
	})
	var palette color.Palette
	index := new([shades]uint8)
	for i, g := range groups {
		c := color.RGBA{g.colour[0], g.colour[1], g.colour[2], g.colour[3]}
		if i < mostColours {
			palette = append(palette, c)
			index[g.shade] = uint8(i)
		} else {
			index[g.shade] = uint8(palette.Index(c))
		}
	}
	return palette, index
}
