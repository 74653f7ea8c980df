package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Shard is the part of a sweep's blocks that one machine runs: of Count machines the one of Number, from
// 1. Whole blocks are dealt out in turn, so that every comparison stays inside one machine. The zero value
// has all blocks.
type Shard struct {
	Number int `json:"number,omitempty"`
	Count  int `json:"count,omitempty"`
}

func (s Shard) has(block int) bool { return s.Count == 0 || block%s.Count == s.Number-1 }

// blocks is how many of so many blocks the shard has.
func (s Shard) blocks(all int) int {
	n := 0
	for block := range all {
		if s.has(block) {
			n++
		}
	}
	return n
}

// String is as ParseShard reads it: "2/4"; "" for all.
func (s Shard) String() string {
	if s.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Count)
}

// maxShards is more machines than anybody has.
const maxShards = 10_000

// Environment variables of schedulers, see ParseShard.
const (
	slurmTask       = "SLURM_ARRAY_TASK_ID"
	slurmFirst      = "SLURM_ARRAY_TASK_MIN"
	slurmLast       = "SLURM_ARRAY_TASK_MAX"
	slurmStep       = "SLURM_ARRAY_TASK_STEP"
	slurmCount      = "SLURM_ARRAY_TASK_COUNT"
	kubernetesIndex = "JOB_COMPLETION_INDEX"
)

// ParseShard reads a part of a sweep: "2/4", the second of four; "auto", the task of a Slurm array
// (SLURM_ARRAY_TASK_ID and its minimum, step and count, https://slurm.schedmd.com/job_array.html); or "auto/4",
// that of a Kubernetes Job in indexed completion mode (JOB_COMPLETION_INDEX, from 0), which does not tell
// how many there are, or of a Slurm array that has so many tasks. lookup is os.LookupEnv. Errors wrap ErrUsage.
func ParseShard(text string, lookup func(string) (string, bool)) (Shard, error) {
	number, count, several := strings.Cut(strings.TrimSpace(text), "/")
	var s Shard
	var err error
	if several {
		if s.Count, err = strconv.Atoi(count); err != nil || s.Count < 1 || s.Count > maxShards {
			return Shard{}, usagef("--shard %s: the number of shards is a whole number from 1 to %d, as in 2/4", text, maxShards)
		}
	}
	switch {
	case number == "auto":
		s, err = fromScheduler(text, s.Count, lookup)
	case !several:
		return Shard{}, usagef("--shard %s: give number/count, as in 2/4, or auto under Slurm, or auto/count under Kubernetes", text)
	default:
		if s.Number, err = strconv.Atoi(number); err != nil {
			return Shard{}, usagef("--shard %s: %s is not a whole number; give number/count, as in 2/4", text, number)
		}
	}
	if err != nil {
		return Shard{}, err
	}
	if s.Number < 1 || s.Number > s.Count {
		return Shard{}, usagef("--shard %s: number %d is outside 1 to %d", text, s.Number, s.Count)
	}
	return s, nil
}

// fromScheduler asks the environment. count is what was given, 0 for nothing.
func fromScheduler(text string, count int, lookup func(string) (string, bool)) (Shard, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	var err error
	number := func(name string, unset int) int {
		value, ok := lookup(name)
		if !ok {
			return unset
		}
		n, parseErr := strconv.Atoi(value)
		if parseErr != nil && err == nil {
			err = usagef("--shard %s: %s is %q, which is not a whole number", text, name, value)
		}
		return n
	}
	if _, ok := lookup(slurmTask); ok {
		first := number(slurmFirst, 0)
		step := max(number(slurmStep, 1), 1)
		tasks := number(slurmCount, (number(slurmLast, first)-first)/step+1)
		s := Shard{Number: (number(slurmTask, 0)-first)/step + 1, Count: tasks}
		if err == nil && count > 0 && count != tasks {
			err = usagef("--shard %s: the Slurm array has %d tasks", text, tasks)
		}
		return s, err
	}
	if _, ok := lookup(kubernetesIndex); ok {
		if count == 0 {
			return Shard{}, usagef("--shard %s: Kubernetes does not say how many completions there are; give auto/count", text)
		}
		return Shard{Number: number(kubernetesIndex, 0) + 1, Count: count}, err
	}
	return Shard{}, usagef("--shard %s: neither %s nor %s is set; give number/count, as in 2/4", text, slurmTask, kubernetesIndex)
}
