package harness

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tailrace/results"
)

// otherBuild is the label of the build given with --against.
const otherBuild = "other"

// child is the command of a run's process, in one of the two builds.
func (o *Options) child(build string) []string {
	if build == otherBuild {
		return []string{o.other, "execute"}
	}
	return o.Child
}

// holdOther keeps the other binary open while the sweep goes on, and runs it from there where the system can:
// another that is put in its place meanwhile must not take part in the comparison.
func (s *sweep) holdOther() (release func(), err error) {
	o := &s.plan.Options
	if o.Against == "" {
		return func() {}, nil
	}
	file, err := os.Open(o.Against)
	if err != nil {
		return nil, usagef("--against %s: %w", o.Against, err)
	}
	o.other = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
	if _, err := os.Stat(o.other); err != nil {
		o.other = o.Against
	}
	return func() { _ = file.Close() }, nil
}

// otherBinary describes the binary to compare with, from what the Go linker has written in it: it is not
// executed. What a run asks of it, it may still refuse.
func otherBinary(path string) (*results.Build, error) {
	if file, err := os.Stat(path); err == nil && !file.Mode().IsRegular() {
		return nil, usagef("--against %s: not a regular file; give the binary of another build of tailrace", path) // a pipe would block
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, usagef("--against %s: %w; give the binary of another build of tailrace", path, err)
	}
	if info.Main.Path != "tailrace" || !strings.HasSuffix(info.Path, "/cmd/tailrace") {
		return nil, usagef("--against %s: it is %s, not tailrace", path, info.Path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, usagef("--against %s: %w", path, err)
	}
	b := &results.Build{Label: otherBuild, Binary: absolute, Version: info.Main.Version, Commit: commitOf(info), Go: info.GoVersion}
	return b, nil
}
