package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tailrace/strategies"
)

// TestMutation makes the record: it builds each mutant and tells who finds it.
func TestMutation(t *testing.T) {
	output := os.Getenv(mutationVariable)
	if output == "" {
		t.Skip("takes half an hour: make mutants")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	j := &jury{root: root, dir: scratchDir(t)}
	if err := j.control(t); err != nil {
		t.Fatal(err)
	}
	all := mutationResults{Go: runtime.Version(), Seed: mutationSeed, CheckerSeconds: mutationTime.Seconds()}
	for i, name := range coreStrategies {
		result, err := j.judge(t, name, rand.New(rand.NewPCG(mutationSeed, uint64(i))))
		if err != nil {
			t.Fatal(err)
		}
		all.Strategies = append(all.Strategies, result)
	}
	if err := all.write(output); err != nil {
		t.Fatal(err)
	}
}

// The jury tells a mutant that no compiler takes from one that a single client sees through; and a strategy whose fault
// shows under concurrent calls alone passes the first stage.
func TestJury(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for a mutant")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	j := &jury{root: root, dir: scratchDir(t)}
	all, err := mutationsOf("mutex")
	if err != nil {
		t.Fatal(err)
	}
	var result mutationResult
	for _, what := range []string{` delete "l.mu.Lock()"`, ` exchange "l := h.log" and "l.mu.Lock()"`} {
		i := slices.IndexFunc(all, func(m mutation) bool { return strings.HasSuffix(m.name, what) })
		if i < 0 {
			t.Fatalf("there is no mutant%s", what)
		}
		f, err := j.try(t.Context(), "mutex", all[i])
		if err != nil {
			t.Fatal(err)
		}
		result.count(all[i].name, f)
	}
	result.count("a", fate{found: &Violation{Check: "close", Hung: true}})
	result.count("b", fate{})
	want := mutationResult{
		Mutants: 4, Rejected: 1, OneClient: 1, Checker: 1, Survived: 1,
		FoundByChecker: []mutantFound{{"a", "close", true}}, Survivors: []string{"b"},
	}
	if !reflect.DeepEqual(result, want) {
		t.Errorf("%+v, want %+v", result, want)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkAlone(t.Context(), program, "busted", j.dir); err != nil {
		t.Error(err)
	}
}

// What the machine lacks is no fault of a mutant.
func TestFailuresOfTheMachineRejectNothing(t *testing.T) {
	for output, want := range map[string]bool{
		"# tailrace/strategies\nvet: strategies/mutex.go:33:2: declared and not used: p": true,
		"strategies/mutex.go:61:2: unreachable code":                                     true,
		"go: writing action graph: /tmp/mutex.go: no space left on device":               false,
		"strategies/rwmutex.go:61:2: unreachable code":                                   false,
		"": false,
	} {
		if rejects(output, "mutex.go") != want {
			t.Errorf("%q rejects: %v, want %v", output, !want, want)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	err = checkAlone(t.Context(), program, "busted", filepath.Join(t.TempDir(), "there is none"))
	if _, wrong := errors.AsType[*Violation](err); err == nil || wrong {
		t.Errorf("without a place for a log: %v", err)
	}
}

// jury tells what becomes of mutants.
type jury struct {
	root string // of the module
	dir  string // for data
}

// fate is what became of a mutant; none if it survived.
type fate struct {
	rejected bool
	found    *Violation
	alone    bool // by one client
}

// control requires that the strategies as they are pass both stages.
func (j *jury) control(t *testing.T) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return each(len(coreStrategies), func(i int) error {
		f, err := j.stages(t.Context(), program, coreStrategies[i], controlTime)
		if err == nil && f.found != nil {
			err = fmt.Errorf("%w, in %s as it is", f.found, coreStrategies[i])
		}
		return err
	})
}

func (j *jury) judge(t *testing.T, strategy string, random *rand.Rand) (mutationResult, error) {
	all, err := mutationsOf(strategy)
	if err != nil {
		return mutationResult{}, err
	}
	r := mutationResult{Strategy: strategy, Possible: len(all), FoundByChecker: []mutantFound{}, Survivors: []string{}}
	if r.Digest, err = digest(strategy); err != nil {
		return r, err
	}
	drawn := random.Perm(len(all))
	drawn = drawn[:min(len(drawn), mutationSample)]
	slices.Sort(drawn)
	fates := make([]fate, len(drawn))
	err = each(len(drawn), func(i int) error {
		m := all[drawn[i]]
		f, err := j.try(t.Context(), strategy, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fates[i] = f
		t.Logf("%d of %d of %s: %s: %v", i+1, len(drawn), strategy, m.name, f)
		return nil
	})
	for i, f := range fates {
		r.count(all[drawn[i]].name, f)
	}
	return r, err
}

func (r *mutationResult) count(name string, f fate) {
	r.Mutants++
	switch {
	case f.rejected:
		r.Rejected++
	case f.found == nil:
		r.Survived++
		r.Survivors = append(r.Survivors, name)
	case f.alone:
		r.OneClient++
	default:
		r.Checker++
		r.FoundByChecker = append(r.FoundByChecker, mutantFound{name, f.found.Check, f.found.Hung})
	}
}

func (f fate) String() string {
	switch {
	case f.rejected:
		return "rejected"
	case f.found == nil:
		return "survives"
	case f.alone:
		return "one client: " + f.found.What
	default:
		return f.found.Check + ": " + f.found.What
	}
}

// try builds a mutant and has it pass the stages.
func (j *jury) try(ctx context.Context, strategy string, m mutation) (fate, error) {
	dir, err := os.MkdirTemp(j.dir, "mutant-")
	if err != nil {
		return fate{}, err
	}
	defer os.RemoveAll(dir)
	name, _, _ := strings.Cut(m.name, ":")
	file := filepath.Join(j.root, "strategies", name)
	overlay, err := overlaid(dir, file, m.text)
	if err != nil {
		return fate{}, err
	}
	switch output, err := exec.CommandContext(ctx, "go", "vet", "-overlay", overlay, "../../strategies").CombinedOutput(); {
	case ctx.Err() != nil:
		return fate{}, ctx.Err()
	case err != nil && !rejects(string(output), name):
		return fate{}, fmt.Errorf("vet: %w\n%s", err, output)
	case err != nil:
		return fate{rejected: true}, nil
	}
	program, err := buildWith(dir, file, m.text)
	if err != nil {
		return fate{}, err // vet has compiled it
	}
	return j.stages(ctx, program, strategy, mutationTime)
}

// rejects reports whether the go command finds fault with a place in a file, and does not just fail, as it does when the
// disk is full.
func rejects(output, file string) bool {
	return regexp.MustCompile(`(?m)\b` + regexp.QuoteMeta(file) + `:\d+:\d+: `).MatchString(output)
}

// stages has one client look for the fault, then the whole checker.
func (j *jury) stages(ctx context.Context, program, strategy string, duration time.Duration) (fate, error) {
	err := checkAlone(ctx, program, strategy, j.dir)
	f := fate{alone: true}
	if err == nil {
		f.alone = false
		err = checkAll(ctx, program, strategy, duration, j.dir)
	}
	if v, ok := errors.AsType[*Violation](err); ok {
		f.found = v
		return f, nil
	}
	return f, err
}

// checkAll is the second stage: the checker as everybody calls it.
func checkAll(ctx context.Context, program, strategy string, duration time.Duration, dir string) error {
	s, err := strategies.Find(strategy)
	if err != nil {
		return err
	}
	var last Progress
	limited, cancel := context.WithTimeout(ctx, duration+aloneLimit)
	defer cancel()
	_, err = Run(limited, bounded(child(program)...), s, Options{
		Duration: duration, Seed: mutationSeed, Dir: dir, Heap: true, Patience: alonePatience,
		Progress: func(p Progress) { last = p },
	})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &Violation{Strategy: strategy, Check: last.Check, Seed: last.Seed, What: "the process does not end", Hung: true}
	}
	return err
}

// bounded is a command that may not fill the memory or the disk: a loop that has lost its end might.
func bounded(command ...string) []string {
	// In KiB of addresses, and in blocks of 512 bytes or 1 KiB of a file.
	return append([]string{"sh", "-c", `ulimit -v 4194304 && ulimit -f 524288 && exec "$@"`, "sh"}, command...)
}

// each calls a function for 0 to n-1, some at once, and returns the first error, after which it begins no more.
func each(n int, f func(i int) error) error {
	var (
		mu    sync.Mutex
		next  int
		first error
		wg    sync.WaitGroup
	)
	for range atOnce {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := first != nil || i >= n
				mu.Unlock()
				if stop {
					return
				}
				if err := f(i); err != nil {
					mu.Lock()
					first = errors.Join(first, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
