package torture

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/strategies"
)

// mutant is a strategy with a planted bug, in the text of one file.
type mutant struct {
	name     string
	strategy string
	file     string // below the root of the module
	old, new string
	// hung: it is found by a call that does not return.
	hung bool
}

func mutants() []mutant {
	return []mutant{
		{
			name: "publish before write", strategy: "mutex-rcu", file: "strategies/mutex_rcu.go",
			old: `	base, err = l.partition.append(b)
	l.publish()
`,
			new: `	if base, err = l.partition.add(b); err == nil {
		early := l.partition.state
		early.active.Size += int64(len(b))
		early.active.End, early.LogEnd = b.NextOffset(), b.NextOffset()
		early.raise()
		l.snapshot.Store(&early)
		err = l.partition.commit()
	}
	l.publish()
`,
		},
		{
			name: "high watermark and log end of two moments", strategy: "mutex-brief", file: "strategies/mutex_brief.go",
			old: `func (l *mutexBriefLog) offsets() Offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.partition.state.Offsets
}`,
			new: `func (l *mutexBriefLog) offsets() Offsets {
	first := l.picture().Offsets
	first.LogEnd = l.picture().LogEnd
	return first
}`,
		},
		{
			name: "lost completion at the baton", strategy: "atomics", file: "strategies/atomics_commit.go",
			old:  `	for commits := 0; l.ready(s) && l.failure.Load() == nil && s.baton.CompareAndSwap(false, true); commits++ {`,
			new:  `	if commits := 0; l.ready(s) && l.failure.Load() == nil && s.baton.CompareAndSwap(false, true) {`,
			hung: true,
		},
		{
			name: "wake before store", strategy: "actor", file: "strategies/actor_owner.go",
			old: `	a.publish()
	state := &a.partition.state
	if a.partition.failure != nil {
		a.tail.fail(state.LogEnd, a.partition.failure)
	}
	a.tail.published(state.Offsets)
`,
			new: `	state := &a.partition.state
	if a.partition.failure != nil {
		a.tail.fail(state.LogEnd, a.partition.failure)
	}
	a.tail.published(state.Offsets)
	a.publish()
`,
		},
		{
			name: "remove before the start moves", strategy: "rwmutex-brief", file: "strategies/maintenance.go",
			old: `	m.of.drop(start)
	m.awaitSync()
	return segment.Remove(views(dropped))
`,
			new: `	err := segment.Remove(views(dropped))
	m.of.drop(start)
	m.awaitSync()
	return err
`,
		},
		{
			name: "trim without waiting for readers", strategy: "mutex-rcu", file: "strategies/mutex_rcu.go",
			old: `	l.mu.Unlock()
	l.reads.quiesce()
`,
			new: `	l.mu.Unlock()
`,
		},
		{
			name: "reply used again after cancel", strategy: "actor", file: "strategies/command.go",
			old: `		case c.state.CompareAndSwap(replicating, left):
			return true, unknownOutcome(ctx.Err())
`,
			new: `		case c.state.Load() == replicating:
			return false, unknownOutcome(ctx.Err())
`,
		},
		{
			name: "write used again after cancel", strategy: "mutex-group", file: "strategies/mutex_group.go",
			old: `				h.write = newGroupWrite()
`,
		},
		{
			name: "cancelled append carried out", strategy: "actor", file: "strategies/command.go",
			old: `func (c *command) claim() bool { return c.state.CompareAndSwap(queued, claimed) }`,
			new: `func (c *command) claim() bool { c.state.CompareAndSwap(queued, claimed); return c.batch != nil || c.kind != appending }`,
		},
		{
			name: "acknowledged before the replicas have it", strategy: "mutex", file: "strategies/client.go",
			old: `	if acks == AcksAll && end > o.HighWatermark {`,
			new: `	if acks == AcksAll && end > o.LogEnd {`,
		},
		{
			name: "actor acknowledges before the replicas have it", strategy: "actor", file: "strategies/actor_owner.go",
			old: `c.acks == AcksAll && c.end > a.partition.state.HighWatermark {`,
			new: `c.acks == AcksAll && c.end > a.partition.state.LogEnd {`,
		},
		{
			name: "index slot after publish", strategy: "atomics", file: "strategies/atomics.go",
			old: `	s.files.SetIndex(base, start, end)
	if ahead := start - ringWindow + ringUnit; ahead > 0 {`,
			new: `	defer s.files.SetIndex(base, start, end)
	if ahead := start - ringWindow + ringUnit; ahead > 0 {`,
		},
		{
			name: "acknowledged at a wrong offset", strategy: "mutex", file: "strategies/mutex.go",
			old: `	return h.acknowledge(ctx, acks, base, b.NextOffset(), offsets)`,
			new: `	return h.acknowledge(ctx, acks, max(base, b.NextOffset()-1), b.NextOffset(), offsets)`,
		},
		{
			name: "old high watermark after reopening", strategy: "actor", file: "strategies/partition.go",
			old: `Offsets{Start: start, HighWatermark: view.End, LogEnd: view.End}`,
			new: `Offsets{Start: start, HighWatermark: view.Base(), LogEnd: view.End}`,
		},
		{
			name: "read past the high watermark", strategy: "actor", file: "strategies/picture.go",
			old: `	return s.readTo(s.HighWatermark, offset, buf, c)`,
			new: `	return s.readTo(s.LogEnd, offset, buf, c)`,
		},
		{
			name: "append under the readers' lock", strategy: "rwmutex", file: "strategies/rwmutex.go",
			old: `err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, Offsets{}, ErrClosed`,
			new: `err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return 0, Offsets{}, ErrClosed`,
		},
		{
			name: "latest timestamp of the last segment alone", strategy: "mutex", file: "strategies/picture.go",
			old: `		latest = max(latest, list[len(list)-1].latest)
`,
			new: `		_ = latest
`,
		},
		{
			name: "trim goes too far", strategy: "mutex-brief", file: "strategies/picture.go",
			old: `	n := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].End > before })`,
			new: `	n := sort.Search(len(s.sealed), func(i int) bool { return s.sealed[i].Base() > before })`,
		},
		{
			name: "Close without waiting for calls", strategy: "mutex-rcu", file: "strategies/gate.go",
			old: `	whenShut()
	g.quiesce()
`,
			new: `	whenShut()
`,
		},
		{
			name: "a goroutine is left by Close", strategy: "rbmutex", file: "strategies/maintenance.go",
			old: `	if m.stop != nil {
		close(m.stop)
		<-m.done
	}
`,
		},
		{
			name: "files of trimmed segments stay open", strategy: "mutex-group", file: "strategies/maintenance.go",
			old: `	return segment.Remove(views(dropped))`,
			new: `	return nil`,
		},
		{
			name: "time slot of the batch alone", strategy: "atomics", file: "strategies/atomics_commit.go",
			old: `SetTime(s.maxTimestamp, `,
			new: `SetTime(slot.maxTimestamp, `,
		},
	}
}

// allMutants is set to plant all bugs. Else some are planted, of each kind one, since a program has to be built for each.
const allMutants = "TAILRACE_MUTANTS"

// quick are the bugs that are planted always.
var quick = []string{
	"publish before write", "high watermark and log end of two moments", "a follower that fell back is ignored",
	"the third follower is ignored", "cancelled appends pile up", "a short write is resumed with the whole batch",
	"trim without waiting for the sync by the clock", "acknowledged before its sync", "the pin is dropped before the read",
	"a failed write does not poison", "Close without waiting for calls",
}

// TestMutants plants bugs and requires that each is caught. It builds a program for each of them.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each mutant")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(root, "docs", "checks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(mutants(), furtherMutants()...) {
		t.Run(m.name, func(t *testing.T) {
			if os.Getenv(allMutants) == "" && !slices.Contains(quick, m.name) {
				t.Skip("set " + allMutants + " to plant it too")
			}
			t.Parallel()
			if !strings.Contains(string(table), "| "+m.name+" |") {
				t.Error("docs/checks.md does not list it")
			}
			began := time.Now()
			program := m.build(t, root)
			strategy, err := strategies.Find(m.strategy)
			if err != nil {
				t.Fatal(err)
			}
			built := time.Since(began)
			began = time.Now()
			counts, err := Run(t.Context(), []string{program}, strategy,
				Options{Duration: 2 * time.Minute, Seed: 1, Dir: scratchDir(t), Heap: true, Patience: 5 * time.Second})
			v, ok := errors.AsType[*Violation](err)
			if !ok {
				t.Fatalf("%s: not caught: %+v, %v", m.name, counts, err)
			}
			t.Logf("%s: %s after %.1f s, built in %.1f s (seed %d): %s",
				m.name, v.Check, time.Since(began).Seconds(), built.Seconds(), v.Seed, v.What)
			if m.hung && !v.Hung {
				t.Errorf("caught by an answer, want a call that does not return")
			}
		})
	}
}

// mutantProgram is the process of a check, and nothing else: it is built in half the time of the test program.
const mutantProgram = `package main

import (
	"context"
	"os"

	"tailrace/harness/torture"
)

func main() {
	if err := torture.Execute(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}
`

// build makes a program that checks, with the mutant in it.
func (m mutant) build(t *testing.T, root string) (program string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("the text to replace is in %s %d times, want once", m.file, n)
	}
	dir := t.TempDir()
	// Neither the mutant nor its program has a place in the tree: the go command is told that they are there.
	mutated, child := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "child.go")
	mapping, err := json.Marshal(map[string]map[string]string{"Replace": {
		file: mutated, filepath.Join(root, "harness", "torture", "mutant", "main.go"): child,
	}})
	if err != nil {
		t.Fatal(err)
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant")
	for name, content := range map[string]string{
		mutated: strings.Replace(string(text), m.old, m.new, 1), child: mutantProgram, overlay: string(mapping),
	} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./mutant")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return program
}
