package claims

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/results"
)

// pressedBench is a bench whose experiments have this program for their process.
func pressedBench(t *testing.T) *bench {
	b := tinyBench(t)
	b.pressed = []string{"/proc/self/exe", pressureArgument}
	return b
}

func TestShortOfMemory(t *testing.T) {
	b := pressedBench(t)
	figures, err := b.shortOfMemory()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, []string{
		"pressure-1k", "pressure-advised-1k",
		"pressure-mapped-seconds", "pressure-mapped-bytes", "pressure-mapped-faults",
		"pressure-mapped-advised-seconds", "pressure-mapped-advised-bytes", "pressure-mapped-advised-faults",
		"pressure-pread-seconds", "pressure-pread-bytes", "pressure-pread-advised-seconds", "pressure-pread-advised-bytes",
	})
}

func TestWorkOfOthers(t *testing.T) {
	b := pressedBench(t)
	figures, err := b.workOfOthers()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, []string{
		"pressure-others", "others-mapped", "others-pread", "others-mapped-reads", "others-pread-reads",
		"pressure-others-8", "others-mapped-8", "others-pread-8", "others-mapped-8-reads", "others-pread-8-reads",
	})
}

func TestNoPressureIsAReason(t *testing.T) {
	arms := []pressureArm{{name: "mapped-advised"}, {name: "pread"}}
	for _, test := range []struct {
		resident, faults float64
		want             string
	}{
		{0.25, 0.75, ""},
		{0.75, 0.75, "75 % of the log stayed"},
		{0.25, 0.01, "1 % of the reads waited"},
	} {
		values := byBlock{
			"mapped-advised-resident": {0.25, 0.25}, "pread-resident": {test.resident, test.resident},
			"mapped-advised-faults": {test.faults, test.faults},
		}
		err := checkPressure(values, arms)
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v gives %v", test, err)
		}
	}
}

// What came of it, and whether a process and its group are gone, is the same for all ends of a process.
func TestEndsOfAProcess(t *testing.T) {
	for _, test := range []struct {
		name, script string
		check        func(error) bool
	}{
		{"answer", `echo '{"Values":{"a":[1,2]}}'`, func(err error) bool { return err == nil }},
		{"failure", "echo what it was >&2; echo and more >&2; exit 3", func(err error) bool {
			return err != nil && strings.HasSuffix(err.Error(), "exit status 3: what it was") && !errors.Is(err, errors.ErrUnsupported)
		}},
		{"no answer", "exit 0", func(err error) bool { return err != nil && strings.Contains(err.Error(), "answer of an experiment") }},
		{"killed", "kill -KILL $$", func(err error) bool { return errors.Is(err, errKilled) && errors.Is(err, errors.ErrUnsupported) }},
		{"interruption", "exec sleep 1000", func(err error) bool { return err != nil }},
		{"too slow", "exec sleep 1000", func(err error) bool {
			return errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errors.ErrUnsupported)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			b := tinyBench(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.ctx = ctx
			begun := filepath.Join(t.TempDir(), "begun")
			b.pressed = []string{"/bin/sh", "-c", "read -r line; cat /proc/self/cgroup > $0.part; echo $$ >> $0.part; mv $0.part $0; " + test.script, begun}
			if test.name == "interruption" {
				go func() {
					defer cancel()
					for t.Context().Err() == nil {
						if _, err := os.Stat(begun); err == nil {
							return
						}
						time.Sleep(time.Millisecond)
					}
				}()
			}
			request := &pressureRequest{Memory: 32 << 20}
			answer := new(pressureAnswer)
			patience := time.Minute
			if test.name == "too slow" {
				patience = 50 * time.Millisecond
			}
			err = b.converse(log, request, answer, patience)
			if request.Group == "" {
				t.Skip(err)
			}
			if !test.check(err) {
				t.Errorf("error %v", err)
			}
			if want := []float64{1, 2}; err == nil && !slices.Equal(answer.Values["a"], want) {
				t.Errorf("values %v, want %v", answer.Values, want)
			}
			checkGone(t, request, begun)
		})
	}
}

// checkGone wants that the group of a process, which it saw itself, and the process are gone.
func checkGone(t *testing.T, request *pressureRequest, begun string) {
	t.Helper()
	said, err := os.ReadFile(begun)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(said), "/"+filepath.Base(request.Group)+"\n") {
		t.Errorf("the process was not in %s, but in %q", request.Group, said)
	}
	if _, err := os.Stat(request.Group); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group is left: %v", err)
	}
	lines := strings.Fields(string(said))
	if _, err := os.Stat(filepath.Join("/proc", lines[len(lines)-1])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the process is left: %v", err)
	}
}

// A process whose parent has died removes its group itself, and ends.
func TestOrphanLeavesItsGroup(t *testing.T) {
	child := exec.Command(os.Args[0], pressureArgument)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	child.Stderr = &stderr
	log, err := tinyBench(t).coldFile(1<<20, pattern)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	child.ExtraFiles = []*os.File{log}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	request := &pressureRequest{Experiment: workOfOthers, Log: logDescriptor, Size: 1 << 20, Memory: 64 << 20, Turn: time.Hour}
	_, groupErr := enterGroup(request, child.Process.Pid)
	if err := json.NewEncoder(stdin).Encode(request); err != nil {
		t.Error(err)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the orphan ended with %v: %s", err, stderr.String())
	}
	if groupErr != nil {
		t.Skip(groupErr)
	}
	if _, err := os.Stat(request.Group); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group is left: %v", err)
	}
}

// Each block is another process.
func TestPressedBlocksAreProcesses(t *testing.T) {
	b := tinyBench(t)
	b.blocks = 3
	b.pressed = []string{"/bin/sh", "-c", `read -r line; echo "{\"Values\":{\"pid\":[$$]}}"`}
	values, err := b.pressureChild(workOfOthers, 0, time.Millisecond)
	pids := values["pid"]
	slices.Sort(pids)
	if err != nil || len(slices.Compact(pids)) != 3 {
		t.Errorf("%v, %v", values, err)
	}
}

// A block that could not be measured is lacking, and of several there is a reason.
func TestPressedBlocksThatLack(t *testing.T) {
	for lack, known := range map[string]bool{"0": true, "3": true, "[13]": false} {
		b := tinyBench(t)
		b.blocks = 5
		count := filepath.Join(t.TempDir(), "count")
		if err := os.WriteFile(count, []byte("0"), 0o644); err != nil {
			t.Fatal(err)
		}
		b.pressed = []string{"/bin/sh", "-c", `read -r line; n=$(cat $0); echo $((n+1)) > $0; case $n in ` + lack +
			`) echo '{"Unmeasured":"so it is"}';; *) echo "{\"Values\":{\"a\":[2],\"b\":[$((n+1))]}}";; esac`, count}
		values, err := b.pressureChild(workOfOthers, 0, time.Millisecond)
		if !known {
			if values != nil || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "so it is") {
				t.Errorf("without %s: %v, %v", lack, values, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if f := b.ratio("r", "it", values["b"], values["a"]); f.Text != "it; 1 of 5 blocks lack it" || f.Blocks != 4 || math.IsNaN(f.Low) {
			t.Errorf("without %s: %+v", lack, f)
		}
	}
}

// What can't be measured is told, and takes nothing else with it.
func TestPressureWithoutItsProcess(t *testing.T) {
	figures, err := pressure(tinyBench(t))
	if err != nil || len(figures) != 2 {
		t.Fatalf("%v, %v", figures, err)
	}
	for i, name := range []string{"pressure-advised-1k", "pressure-others"} {
		if f := figures[i]; f.Name != name || !math.IsNaN(f.Value) || !strings.Contains(f.Text, errNoChild.Error()) {
			t.Errorf("%v is not %s, unmeasured", f, name)
		}
	}
}

// Without a disk, or a command for the process, there is a reason.
func TestPressureUnmeasured(t *testing.T) {
	noDisk := pressedBench(t)
	noDisk.disk = ""
	for want, b := range map[string]*bench{"there is no disk": noDisk, "there is no command": tinyBench(t)} {
		for _, experiment := range []func() ([]results.Figure, error){b.shortOfMemory, b.workOfOthers} {
			wantUnmeasured(t, experiment, want)
		}
	}
}

// A process that can't measure says why, which is the reason.
func TestPressureUnmeasuredByItsProcess(t *testing.T) {
	b := tinyBench(t)
	b.pressed = []string{"/bin/sh", "-c", `read -r line; echo '{"Unmeasured":"so it is"}'`}
	wantUnmeasured(t, b.workOfOthers, "so it is")
}

func wantUnmeasured(t *testing.T, experiment func() ([]results.Figure, error), want string) {
	t.Helper()
	if figures, err := experiment(); figures != nil || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
		t.Errorf("it gives %v, %v, want %q", figures, err, want)
	}
}
