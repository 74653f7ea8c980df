package plots

import (
	"slices"
	"strings"
)

// keptFlags are the flags of a sweep that a mix of one's own takes over, whatever the sweep was.
var keptFlags = []string{
	"--strategies", "--baseline", "--workers", "--record-size", "--batch-records", "--sync", "--storage",
	"--cpu", "--ramp", "--duration", "--blocks", "--count",
}

// ownMix is a command for another mix than that of the sweep, with those of its flags that fit any mix.
func ownMix(command []string) string {
	const usual, other = "produce=25", "produce=50"
	words := []string{"tailrace", "run"}
	mix, workers := usual, false
	for i := 0; i < len(command); i++ {
		flag, value, joined := strings.Cut(command[i], "=")
		if !joined && i+1 < len(command) {
			value = command[i+1]
		}
		switch {
		case flag == "--mix" && strings.Contains(value, usual):
			mix = other
		case slices.Contains(keptFlags, flag) && isPlain(value):
			workers = workers || flag == "--workers"
			words = append(words, flag, value)
		}
	}
	if !workers {
		words = append(words, "--workers", "8")
	}
	return strings.Join(append(words, "--mix", mix), " ")
}

// isPlain reports whether a shell takes a word as it is.
func isPlain(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./,", r))
	})
}
