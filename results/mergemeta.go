package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// meta describes the merged sweep.
func (m *merger) meta() Meta {
	meta := m.parts[0].Meta
	meta.Shard, meta.Runs, meta.Interrupted = "", 0, false
	meta.Parts, meta.Warnings, meta.Profiles, meta.Seeds = nil, nil, nil, nil
	if len(m.sweeps) > 1 {
		meta.Plan = ""
	}
	meta.Blocks = m.blocks()
	meta.Workloads = slices.Clone(meta.Workloads)
	for i := range meta.Workloads {
		meta.Workloads[i].Storage = m.joinedStorage(meta.Workloads[i].Name)
	}
	for i, part := range m.parts {
		p := &part.Meta
		if p.Started.Before(meta.Started) {
			meta.Started = p.Started
		}
		meta.Interrupted = meta.Interrupted || p.Interrupted
		if i > 0 {
			meta.Resumed += p.Resumed
		}
		if p.Preflight.BustedCaught <= 0 {
			meta.Preflight = p.Preflight // a part whose checks were not seen to work is worth a warning
		}
		meta.Parts = append(meta.Parts, partsOf(part)...)
		for _, warning := range slices.Concat(p.Warnings, part.Warnings) {
			if len(p.Parts) == 0 {
				warning = cmp.Or(p.Environment.Host, part.Dir) + ": " + warning
			}
			if !slices.Contains(meta.Warnings, warning) { // shards of one host say the same
				meta.Warnings = append(meta.Warnings, warning)
			}
		}
		for _, seed := range append(slices.Clone(p.Seeds), p.Seed) {
			if !slices.Contains(meta.Seeds, seed) {
				meta.Seeds = append(meta.Seeds, seed)
			}
		}
		for _, profile := range p.Profiles {
			profile.File = profileName(i, profile.File)
			meta.Profiles = append(meta.Profiles, profile)
		}
	}
	slices.Sort(meta.Seeds)
	if len(meta.Seeds) == 1 {
		meta.Seeds = nil
	}
	meta.Warnings = append(dropMissing(meta.Warnings), m.missing()...)
	meta.Costs = m.costs()
	return meta
}

func partsOf(part *Sweep) []Part {
	p := &part.Meta
	if len(p.Parts) > 0 {
		return p.Parts
	}
	return []Part{{
		Dir: part.Dir, Shard: p.Shard, Command: p.Command, Started: p.Started,
		Environment: p.Environment, Preflight: p.Preflight, Warnings: p.Warnings,
	}}
}

// joinedStorage is where a workload ran: on all parts in one place, as a rule.
func (m *merger) joinedStorage(name string) string {
	var texts []string
	for _, part := range m.parts {
		for text := range strings.SplitSeq(part.workload(name).Storage, " and ") {
			if text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, " and ")
}

// blocks is the number of blocks of all sweeps together.
func (m *merger) blocks() int {
	n := 0
	for _, sweep := range m.sweeps {
		n += sweep.size
	}
	return n
}

// costs are the means over the parts.
func (m *merger) costs() []Cost {
	var costs []Cost
	var counts []float64
	for _, part := range m.parts {
		for _, c := range part.Meta.Costs {
			at := slices.IndexFunc(costs, func(o Cost) bool { return o.Workload == c.Workload })
			if at < 0 {
				costs, counts = append(costs, c), append(counts, 1)
				continue
			}
			counts[at]++
			costs[at].Append += (c.Append - costs[at].Append) / counts[at]
			costs[at].Read += (c.Read - costs[at].Read) / counts[at]
		}
	}
	return costs
}

// missingSuffix ends the warning about blocks that no part has.
const missingSuffix = " missing from the parts that were merged"

// missing is the warning that planned blocks are not there; nil if all are.
func (m *merger) missing() []string {
	blocks := m.blocks()
	there := make(map[int]bool)
	for _, r := range m.runs {
		there[r.block] = true
	}
	var gone []string
	for block := range blocks {
		if !there[block] {
			gone = append(gone, fmt.Sprint(block))
		}
	}
	switch len(gone) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("block %s of %d is%s", gone[0], blocks, missingSuffix)}
	}
	return []string{fmt.Sprintf("blocks %s of %d are%s", strings.Join(gone, ", "), blocks, missingSuffix)}
}

// dropMissing leaves out what earlier merges said was missing.
func dropMissing(warnings []string) []string {
	return slices.DeleteFunc(warnings, func(w string) bool { return strings.HasSuffix(w, missingSuffix) })
}
