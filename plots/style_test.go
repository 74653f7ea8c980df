package plots

import (
	"fmt"
	"image/color"
	"slices"
	"testing"
)

func TestStylesDifferWithoutColour(t *testing.T) {
	seen := make(map[string]string)
	colours := make(map[color.NRGBA]string)
	for _, k := range known {
		s := StyleOf(k.name)
		look := fmt.Sprint(s.Marker)
		if other, ok := seen[look]; ok {
			t.Errorf("%s and %s have one marker", k.name, other)
		}
		if other, ok := colours[s.Color]; ok {
			t.Errorf("%s and %s have one colour", k.name, other)
		}
		seen[look], colours[s.Color] = k.name, k.name
	}
}

func TestCoreStylesDifferInGrey(t *testing.T) {
	grey := func(name string) int {
		return int(color.GrayModel.Convert(StyleOf(name).Color).(color.Gray).Y)
	}
	core := []string{"mutex", "rwmutex", "atomics", "actor"}
	for i, a := range core {
		if grey(a) > 185 {
			t.Errorf("%s is too light for white paper: grey %d", a, grey(a))
		}
		for _, b := range core[:i] {
			if d := grey(a) - grey(b); -15 < d && d < 15 {
				t.Errorf("%s and %s are %d of 255 greys apart", a, b, d)
			}
		}
		for _, b := range core[:i] {
			if slices.Equal(StyleOf(a).Dashes, StyleOf(b).Dashes) {
				t.Errorf("%s and %s have one dash pattern", a, b)
			}
		}
	}
}

func TestUnknownNamesHaveAStyleOfTheirName(t *testing.T) {
	looks := make(map[string]bool)
	for i := range 40 {
		name := fmt.Sprintf("strategy-%d", i)
		look := fmt.Sprint(StyleOf(name))
		if look != fmt.Sprint(StyleOf(name)) {
			t.Errorf("%s has two styles", name)
		}
		looks[look] = true
	}
	if len(looks) < 30 {
		t.Errorf("40 names have only %d styles", len(looks))
	}
}
