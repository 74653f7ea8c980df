package workload

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds a workload file: the real ones have some hundred bytes, and what the YAML parser
// allocates for nested brackets grows with the square of their depth.
const maxFile = 16 << 10

// LoadGrid reads a workload file and returns its workloads with the flags in the place of what it says: one for
// each combination of the levels of concurrency, as Grid has it. The file is one of OpenMessaging
// Benchmark (see ombWorkload) if it has any of the keys that such a file must have, and else one of
// our own (see ownWorkload). Every key is honoured or refused by name.
//
// With a scale, an OpenMessaging Benchmark workload that is larger than this machinery runs, or than the scale
// says that fits, becomes smaller by whole factors until it does, and Notes say what became of what; without, it is
// refused.
//
// The Name is made from the file's, unless it gives one. The workloads may be impossible to run;
// Validate tells. Errors: *FileError about the content, *FieldError about the flags, and a wrapped
// *fs.PathError where the file cannot be read.
func LoadGrid(path string, flags Overrides, scale Scale) ([]Workload, error) {
	data, err := readLimited(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	grid, err := parseFile(path, data, flags, scale)
	for i := range grid {
		grid[i].Source, grid[i].SourceText = printablePath(path), string(data)
	}
	return grid, err
}

func parseFile(path string, data []byte, flags Overrides, scale Scale) ([]Workload, error) {
	m, err := parseMapping(printablePath(path), bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	if !isOMB(m) {
		return parseOwn(m, path, flags)
	}
	for limits := mostOfARun; ; limits = limits.halved() {
		w, err := parseOMB(m, path, &flags, scale, limits)
		if err != nil {
			return nil, err
		}
		grid, err := Grid(w, flags)
		if err != nil || scale == nil || scale.fitsAll(grid) || limits.smallest() {
			return grid, err
		}
	}
}

func isOMB(m *mapping) bool {
	return slices.ContainsFunc((&ombWorkload{}).keys(), func(k ombKey) bool { return k.required && m.has(k.name) })
}

// slug makes a name of a file's: "My load.yaml" is "my-load". It has what Validate wants of a Name.
func slug(path string) string {
	base := filepath.Base(path)
	base = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	words := strings.FieldsFunc(base, func(r rune) bool { return !isNameLetter(r) })
	if len(words) == 0 {
		return "workload"
	}
	return strings.Join(words, "-")
}
