package harness

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tailrace/results"
	"tailrace/workload"
)

var builtTailrace struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// buildTailrace is the path of the command, built once.
func buildTailrace(t *testing.T) string {
	t.Helper()
	b := &builtTailrace
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "tailrace-build-"); b.err != nil {
			return
		}
		b.path = filepath.Join(b.dir, "tailrace")
		var out []byte
		if out, b.err = exec.Command("go", "build", "-o", b.path, "tailrace/cmd/tailrace").CombinedOutput(); b.err != nil {
			t.Logf("%s", out)
		}
	})
	if b.err != nil {
		t.Fatalf("go build: %v", b.err)
	}
	return b.path
}

// Two builds run every cell in every block, and each strategy is compared with itself.
func TestSweepAgainst(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.Against = buildTailrace(t)
	p := mustPlan(t, o)
	s, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	wantMeasured(t, s)
	builds := map[string]int{}
	for _, run := range s.Runs {
		builds[run.Cell.Build]++
	}
	// Mutex, rwmutex and raw of each workload and one A/A arm here; mutex and rwmutex of each workload there.
	if builds[""] != 7*o.Blocks || builds[otherBuild] != 4*o.Blocks || len(builds) != 2 {
		t.Errorf("runs of builds: %v", builds)
	}
	for _, c := range p.Cells {
		twin := c.Cell
		twin.Build = otherBuild
		has := slices.ContainsFunc(p.Cells, func(other PlannedCell) bool { return other.Cell == twin })
		if want := c.Cell.Strategy != "raw" && c.Cell.Arm == "" || c.Cell.Build != ""; has != want {
			t.Errorf("%s of the other build: %t, want %t", c.Cell.Label(), has, want)
		}
	}
	want := []results.Comparison{
		{Workload: "mix", Strategy: "mutex", Baseline: "mutex", BaselineBuild: otherBuild},
		{Workload: "mix", Strategy: "rwmutex", Baseline: "rwmutex", BaselineBuild: otherBuild},
		{Workload: "producers", Strategy: "mutex", Baseline: "mutex", BaselineBuild: otherBuild, Metric: results.MetricProduceOps},
		{Workload: "producers", Strategy: "rwmutex", Baseline: "rwmutex", BaselineBuild: otherBuild, Metric: results.MetricProduceOps},
	}
	want[0].Metric, want[1].Metric = o.Workloads[0].Primary, o.Workloads[0].Primary
	if !slices.Equal(s.Meta.Planned, want) {
		t.Errorf("planned %+v, want %+v", s.Meta.Planned, want)
	}
	if b := s.Meta.Against; b == nil || b.Label != otherBuild || b.Binary != o.Against || b.Go == "" {
		t.Errorf("the other build is %+v", b)
	}
	wantEmpty(t, o.Dir)
}

func TestPlanRefusesOtherBinary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("not a binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	gofmt, err := exec.LookPath("gofmt")
	if err != nil {
		gofmt = filepath.Join(filepath.Dir(text), "gofmt")
	}
	for path, says := range map[string]string{
		os.Args[0]:                         "not tailrace",
		text:                               "another build of tailrace",
		filepath.Join(text, "x"):           "another build of tailrace",
		filepath.Join(t.TempDir(), "none"): "no such file",
		t.TempDir():                        "another build of tailrace",
		gofmt:                              "tailrace",
	} {
		o := planned(t, tinyMix())
		o.Against = path
		p, err := NewPlan(context.Background(), o)
		wantUsage(t, p, err, "--against", path, says)
	}
}

// A build that does not know what it is asked for, or means something else by it, says so.
func TestExecuteRefusesOtherBuilds(t *testing.T) {
	spec := specOf(tinyMix(), "mutex", "")
	spec.Protocol = protocol
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ input, says string }{
		"unknown field":                 {strings.Replace(string(text), "{", `{"turbo":true,`, 1), "turbo"},
		"unknown field of the workload": {strings.Replace(string(text), `"workload":{`, `"workload":{"Turbo":3,`, 1), "Turbo"},
		"unknown field of the cell":     {strings.Replace(string(text), `"cell":{`, `"cell":{"turbo":3,`, 1), "turbo"},
		"newer protocol":                {strings.Replace(string(text), `"protocol":1`, `"protocol":2`, 1), "protocol 2"},
		"no protocol":                   {strings.Replace(string(text), `"protocol":1,`, "", 1), "protocol 0"},
	} {
		if c.input == string(text) {
			t.Fatalf("%s: nothing was changed in %s", name, text)
		}
		var out strings.Builder
		err := Execute(t.Context(), strings.NewReader(c.input), &out)
		if err == nil || out.Len() > 0 || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, output %q; want an error with %q", name, err, out.String(), c.says)
		}
	}
}

// What another build refuses is a run that failed, with its words.
func TestSweepAgainstBuildThatRefuses(t *testing.T) {
	o := tinySweep(t, childWorks)
	o.Workloads, o.Blocks = []workload.Workload{tinyMix()}, 1
	o.Against = buildTailrace(t)
	p := mustPlan(t, o)
	p.Options.Against = filepath.Join(t.TempDir(), "gone")
	s, err := Run(context.Background(), p)
	if err == nil || s != nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the sweep gave %v and %v, want an error that names the program", s, err)
	}
	wantEmpty(t, o.Dir)
}
