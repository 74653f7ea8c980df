package results

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// longestLabel is how many characters a label may have, so that a table still fits.
const longestLabel = 48

// shorten makes labels from the names of the benchmarks: without the parts that all names share.
func (c *Changes) shorten() {
	names := make([]string, len(c.Changes))
	for i := range c.Changes {
		names[i] = c.Changes[i].Benchmark
	}
	labels, common := shortNames(names)
	for i := range labels {
		c.Changes[i].label = labels[i]
	}
	c.common = common
}

// shortNames leaves out of names what all of them have in common, and returns that too. Names are cut where their
// parts begin: at a slash or a blank. Of labels that are long still, parts are left out, the last first, without which
// all are different as well; then they lose their middle, if they stay different.
func shortNames(names []string) (labels []string, common string) {
	different := slices.Compact(slices.Sorted(slices.Values(names)))
	if len(different) == 0 {
		return nil, ""
	}
	own := make(map[string][]string) // parts by name
	for _, name := range different {
		own[name] = nameParts(name)
	}
	one := len(different) == 1
	for at, part := range own[different[0]] {
		if one && !isConfiguration(part) && (at == 0 || longest(own) <= longestLabel) {
			continue // there is nothing to tell it from, and there has to be a name
		}
		shared := !slices.ContainsFunc(different, func(name string) bool { return !slices.Contains(own[name], part) })
		if shared && leaveOut(own, func(p string) bool { return p == part }) {
			common += part
		}
	}
	for _, key := range partKeys(own, different) {
		if longest(own) > longestLabel {
			leaveOut(own, func(p string) bool { return partKey(p) == key })
		}
	}
	short := make(map[string]string)
	for name, parts := range own {
		short[name] = label(parts)
	}
	abbreviate(short)
	for _, name := range names {
		labels = append(labels, short[name])
	}
	return labels, strings.TrimSpace(common)
}

func label(parts []string) string { return strings.TrimLeft(strings.Join(parts, ""), "/ ") }

// leaveOut removes parts from all names, if what is left of them is something, and different.
func leaveOut(parts map[string][]string, such func(part string) bool) bool {
	left, labels := make(map[string][]string), make(map[string]string)
	for name, own := range parts {
		left[name] = slices.DeleteFunc(slices.Clone(own), such)
		labels[name] = label(left[name])
	}
	if !allDifferent(labels) {
		return false
	}
	maps.Copy(parts, left)
	return true
}

// partKeys are the keys of parts of the form key=value, the last first.
func partKeys(parts map[string][]string, names []string) []string {
	var keys []string
	for _, name := range names {
		for _, part := range parts[name] {
			if key := partKey(part); key != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Reverse(keys)
	return keys
}

// isConfiguration reports whether a part was a configuration line of a file.
func isConfiguration(part string) bool {
	return strings.HasPrefix(part, " ") && strings.Contains(part, ":")
}

func partKey(part string) string {
	key, _, ok := strings.Cut(part, "=")
	if !ok {
		return ""
	}
	return key
}

func longest(parts map[string][]string) int {
	most := 0
	for _, own := range parts {
		most = max(most, utf8.RuneCountInString(label(own)))
	}
	return most
}

// nameParts cuts a name before each slash and blank; behind a blank stands configuration, in which a slash means nothing.
func nameParts(name string) []string {
	var parts []string
	begin := 0
	for at, r := range name {
		if at > begin && (r == ' ' || r == '/' && name[begin] != ' ') {
			parts = append(parts, name[begin:at])
			begin = at
		}
	}
	return append(parts, name[begin:])
}

func allDifferent(labels map[string]string) bool {
	seen := make(map[string]bool)
	for _, label := range labels {
		if label == "" || seen[label] {
			return false
		}
		seen[label] = true
	}
	return true
}

// abbreviate takes the middle out of long labels, unless that makes two of them the same.
func abbreviate(labels map[string]string) {
	short := make(map[string]string)
	for name, label := range labels {
		if runes := []rune(label); utf8.RuneCountInString(label) > longestLabel {
			half := longestLabel / 2
			label = string(runes[:half]) + "…" + string(runes[len(runes)-half+1:])
		}
		short[name] = label
	}
	if !allDifferent(short) {
		return
	}
	maps.Copy(labels, short)
}
