package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"tailrace/results"
)

// Two builds are compared, every strategy with itself in the other one, within each block.
func testAgainst(t *testing.T, other string) {
	out := filepath.Join(t.TempDir(), "result")
	run := exec.Command("tailrace", "run", "--producers", "1", "--strategies", "mutex,actor", "--against", other, "--storage", "heap",
		"--duration", "100ms", "--ramp", "5ms", "--blocks", "2", "--quiet", "--out", out)
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, want := range []string{`(?m)^mutex@other `, `(?m)^actor@other `, `(?m)^12/12 runs, all verified`, `over 2 planned comparisons`, regexp.QuoteMeta(other)} {
		if !regexp.MustCompile(want).Match(stdout.Bytes()) {
			t.Errorf("no %s in\n%s", want, &stdout)
		}
	}
	sweep, err := results.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if a := sweep.Meta.Against; a == nil || a.Binary != other || a.Label != "other" {
		t.Errorf("the other build is %+v", a)
	}
	for _, planned := range sweep.Meta.Planned {
		if planned.Baseline != planned.Strategy || planned.BaselineBuild != "other" {
			t.Errorf("planned %+v, want the strategy itself in the other build", planned)
		}
	}
	perBlock := map[int]map[string]int{}
	for _, r := range sweep.Runs {
		if perBlock[r.Block] == nil {
			perBlock[r.Block] = map[string]int{}
		}
		perBlock[r.Block][r.Cell.Label()]++
	}
	for block, runs := range perBlock {
		for _, label := range []string{"mutex", "mutex@other", "actor", "actor@other"} {
			if runs[label] != 1 {
				t.Errorf("block %d has %d runs of %s", block, runs[label], label)
			}
		}
	}
}
