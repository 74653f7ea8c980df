package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// The colours of areas and lines stay as they are, however many shades their smoothed edges have.
func TestPaletteKeepsColours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 120, 120))
	for i := range 120 * 120 {
		c := color.RGBA{uint8(i), uint8(i / 7), uint8(i / 31), 255} // more than a palette holds
		if x := i % 120; x < 3*len(known) {
			of := known[x/3].style.Color
			c = color.RGBA{of.R, of.G, of.B, 255}
		}
		img.Set(i%120, i/120, c)
	}
	encoded, err := encodePNG(img)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range known {
		if got, want := color.NRGBAModel.Convert(decoded.At(3*i, 60)), k.style.Color; got != want {
			t.Errorf("%s is drawn in %v, want %v", k.name, got, want)
		}
	}
	if again, err := encodePNG(img); err != nil || !bytes.Equal(encoded, again) {
		t.Errorf("two encodings differ (%v)", err)
	}
}

func TestPaletteOfFewColours(t *testing.T) {
	for _, size := range []image.Rectangle{image.Rect(0, 0, 1, 1), image.Rect(0, 0, 7, 3)} {
		encoded, err := encodePNG(image.NewRGBA(size))
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := png.Decode(bytes.NewReader(encoded))
		if err != nil || decoded.Bounds() != size {
			t.Errorf("%v is decoded to %v (%v)", size, decoded, err)
		}
	}
}
