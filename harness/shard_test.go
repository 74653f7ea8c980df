package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tailrace/results"
)

// environmentOf is an environment of a scheduler: name=value, one a word.
func environmentOf(text string) func(string) (string, bool) {
	values := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		values[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func TestParseShard(t *testing.T) {
	for _, c := range []struct {
		text, environment string
		want              Shard
	}{
		{"1/1", "", Shard{1, 1}},
		{"2/4", "", Shard{2, 4}},
		{" 4/4 ", "", Shard{4, 4}},
		{"10000/10000", "", Shard{10_000, 10_000}},
		{"2/4", "SLURM_ARRAY_TASK_ID=3", Shard{2, 4}}, // what was typed counts
		{"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=1", Shard{1, 4}},
		{"auto", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", Shard{4, 4}},
		{"auto", "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", Shard{4, 4}},
		{"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=13 SLURM_ARRAY_TASK_STEP=4 SLURM_ARRAY_TASK_COUNT=4", Shard{3, 4}},
		{"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=15 SLURM_ARRAY_TASK_STEP=4", Shard{3, 4}}, // 1, 5, 9, 13
		{"auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MAX=2", Shard{3, 3}},
		{"auto/4", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", Shard{2, 4}},
		{"auto/4", "JOB_COMPLETION_INDEX=0", Shard{1, 4}},
		{"auto/4", "JOB_COMPLETION_INDEX=3", Shard{4, 4}},
		{"auto/4", "JOB_COMPLETION_INDEX=3 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4", Shard{1, 4}},
	} {
		got, err := ParseShard(c.text, environmentOf(c.environment))
		if err != nil || got != c.want {
			t.Errorf("%q under %q is %v, %v; want %v", c.text, c.environment, got, err, c.want)
		}
		if again, err := ParseShard(got.String(), nil); err != nil || again != got {
			t.Errorf("%v is written %q, and that read as %v, %v", got, got, again, err)
		}
	}
	if s := (Shard{}).String(); s != "" {
		t.Errorf("all blocks are written %q", s)
	}
}

func TestParseShardRefuses(t *testing.T) {
	const slurm = "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4 "
	for _, c := range []struct{ text, environment, says string }{
		{"", "", "number/count"},
		{"3", "", "number/count"},
		{"/", "", "whole number"},
		{"1/", "", "whole number"},
		{"/4", "", "whole number"},
		{"a/4", "", "a is not a whole number"},
		{"1/b", "", "whole number from 1"},
		{"1.5/4", "", "1.5 is not a whole number"},
		{"1/4/2", "", "whole number from 1"},
		{"0/4", "", "outside 1 to 4"},
		{"-1/4", "", "outside 1 to 4"},
		{"5/4", "", "outside 1 to 4"},
		{"1/0", "", "from 1 to 10000"},
		{"1/-4", "", "from 1 to 10000"},
		{"1/10001", "", "from 1 to 10000"},
		{"1/99999999999999999999", "", "from 1 to 10000"},
		{"99999999999999999999/4", "", "not a whole number"},
		{"auto", "", "SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"},
		{"auto/4", "", "SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"},
		{"auto/0", slurm, "from 1 to 10000"},
		{"auto", "JOB_COMPLETION_INDEX=2", "auto/count"},
		{"auto/4", "JOB_COMPLETION_INDEX=4", "number 5 is outside 1 to 4"},
		{"auto/4", "JOB_COMPLETION_INDEX=-1", "outside 1 to 4"},
		{"auto/4", "JOB_COMPLETION_INDEX=two", "JOB_COMPLETION_INDEX is \"two\""},
		{"auto/3", slurm, "the Slurm array has 4 tasks"},
		{"auto", "SLURM_ARRAY_TASK_ID=x", "SLURM_ARRAY_TASK_ID is \"x\""},
		{"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=many", "SLURM_ARRAY_TASK_COUNT is \"many\""},
		{"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_STEP=0.5", "SLURM_ARRAY_TASK_STEP"},
		{"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4", "outside 1 to 4"},
		{"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4", "outside 1 to 4"},
		{"AUTO", slurm, "number/count"},
	} {
		s, err := ParseShard(c.text, environmentOf(c.environment))
		if !errors.Is(err, ErrUsage) || s != (Shard{}) {
			t.Errorf("%q under %q is %v, %v; want ErrUsage", c.text, c.environment, s, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.says) || !strings.Contains(text, "--shard") || strings.Contains(text, "\n") {
			t.Errorf("%q under %q: %q does not say %q", c.text, c.environment, text, c.says)
		}
	}
}

// The shards of a sweep have each of its runs once, under the index and in the block that it has in the whole.
func TestShardsAreTheWholeSweep(t *testing.T) {
	type key struct {
		index, block int
		cell         results.Cell
	}
	for _, count := range []int{1, 2, 3, 5, 6} {
		all := map[key]int{}
		o := planned(t, tinyMix(), tinyTail())
		o.Seed = 3
		whole := mustPlan(t, o)
		runs, estimate := 0, int64(0)
		for number := 1; number <= count; number++ {
			o := planned(t, tinyMix(), tinyTail())
			o.Seed, o.Shard = 3, Shard{number, count}
			p := mustPlan(t, o)
			if p.Meta.Shard != fmt.Sprintf("%d/%d", number, count) || p.Meta.Plan != whole.Meta.Plan || p.Meta.Plan == "" {
				t.Errorf("shard %s of plan %q, which is %q as a whole", p.Meta.Shard, p.Meta.Plan, whole.Meta.Plan)
			}
			turns := p.turns()
			if len(turns) != p.Runs() {
				t.Errorf("shard %s has %d runs and does %d", p.Meta.Shard, p.Runs(), len(turns))
			}
			runs += p.Runs()
			estimate += int64(p.Estimate)
			for _, turn := range turns {
				all[key{turn.index, turn.block, turn.cell.Cell}]++
			}
		}
		if runs != whole.Runs() || estimate != int64(whole.Estimate) {
			t.Errorf("%d shards: %d runs in %d ns, the whole has %d in %d ns", count, runs, estimate, whole.Runs(), whole.Estimate)
		}
		for _, turn := range whole.turns() {
			k := key{turn.index, turn.block, turn.cell.Cell}
			if all[k] != 1 {
				t.Errorf("%d shards do run %d %d times", count, turn.index, all[k])
			}
			delete(all, k)
		}
		if len(all) > 0 {
			t.Errorf("%d shards do %d runs that the whole has not", count, len(all))
		}
	}
}

// Every shard has a block, or there is nothing to do for it.
func TestPlanRefusesMoreShardsThanBlocks(t *testing.T) {
	o := planned(t, tinyMix())
	o.Shard = Shard{1, o.Blocks + 1}
	p, err := NewPlan(context.Background(), o)
	wantUsage(t, p, err, "--shard 1/7", "6 blocks", "--blocks")
}

// Plans that differ in what is run are not the same plan.
func TestPlanDigest(t *testing.T) {
	digest := func(change func(*Options)) string {
		o := planned(t, tinyMix(), tinyTail())
		change(&o)
		return mustPlan(t, o).Meta.Plan
	}
	same := digest(func(*Options) {})
	if again := digest(func(o *Options) { o.Out += "-2" }); again != same {
		t.Errorf("the same plan is %s and %s", same, again)
	}
	for name, change := range map[string]func(*Options){
		"seed":       func(o *Options) { o.Seed++ },
		"blocks":     func(o *Options) { o.Blocks++ },
		"strategies": func(o *Options) { o.Strategies = []string{"mutex"} },
		"processors": func(o *Options) { o.GOMAXPROCS = []int{1} },
		"duration":   func(o *Options) { o.Workloads[0].Duration *= 2 },
		"workloads":  func(o *Options) { o.Workloads = o.Workloads[:1] },
	} {
		if other := digest(change); other == same || other == "" {
			t.Errorf("with another %s the plan is %q still", name, other)
		}
	}
}
