package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tryIt is the command that a workload file offers in its comments.
var tryIt = regexp.MustCompile(`(?m)^#.*\btailrace (run --workloads (examples/\S+).*)$`)

// TestExamples runs every workload file of the examples by its own words, in small.
func TestExamples(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\napiVersion:")) { // of Kubernetes
			continue
		}
		name := filepath.Base(file)
		found := tryIt.FindSubmatch(text)
		if found == nil || string(found[2]) != "examples/"+name {
			t.Errorf("%s does not say how to try it", name)
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append(strings.Fields(string(found[1])), "--duration", "100ms", "--ramp", "10ms", "--blocks", "1", "--storage", "heap",
				"--sync", "none", "--strategies", "mutex", "--quiet", "--out", filepath.Join(t.TempDir(), "result"))
			run := exec.Command("tailrace", args...)
			run.Dir = root
			out, err := run.CombinedOutput()
			if err != nil && run.ProcessState.ExitCode() != exitUnmeasured { // of a machine that is busy
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			workload := strings.TrimSuffix(name, ".yaml")
			if !regexp.MustCompile(`(?m)^` + workload + ` +\S`).Match(out) {
				t.Errorf("%v shows nothing of %s:\n%s", args, workload, out)
			}
		})
	}
	if tried < 4 {
		t.Errorf("%d workload files tried, want those of the examples", tried)
	}
}
