package workload

import "slices"

// Preset is a set of workloads under a name, and how often each is to run.
type Preset struct {
	Name    string
	Summary string
	Blocks  int
	// Groups are the workloads, those of one name together: a workload at several concurrencies.
	Groups [][]Workload
}

// PresetsFor returns the presets for a machine with a number of processors, on which the levels of
// concurrency depend. The first is what runs if nothing else is asked for. The caller owns what it gets.
func PresetsFor(processors int) []Preset {
	return []Preset{
		{
			Name: "default", Blocks: 6, Groups: apart(Presets()),
			Summary: "which model for four loads, in about two minutes",
		},
		{
			Name: "full", Blocks: 12, Groups: full(processors),
			Summary: "that with all variants, over shares of appends and numbers of workers, in about ten minutes on two processors",
		},
	}
}

func apart(workloads []Workload) [][]Workload {
	var groups [][]Workload
	for _, w := range workloads {
		groups = append(groups, []Workload{w})
	}
	return groups
}

// full are the workloads of the default sweep, with the variants that tell which idea buys what in each; the
// mix over shares of appends; and over workers.
func full(processors int) [][]Workload {
	groups := apart(Presets())
	variants := map[string][]string{
		"mix":     {"mutex-brief", "rwmutex-brief", "mutex-group", "actor-plain", "actor-mailbox", "rbmutex"},
		"ingest":  {"mutex-rcu", "mutex-group", "actor-plain"},
		"durable": {"mutex-rcu", "mutex-group", "actor-plain"},
	}
	for _, group := range groups {
		w := &group[0]
		w.Strategies = append(w.Strategies, variants[w.Name]...)
	}

	base := Presets()[0]
	base.Strategies = Default().Strategies
	base.Prefill = 16 << 20 // there are many points, and each run writes it

	base.Name = "share"
	var shares []Workload
	for _, percent := range []float64{1, 5, 20, 50} {
		w := base
		w.ProducePercent = percent
		shares = append(shares, w)
	}

	base.Name = "workers"
	var workers []Workload
	for _, n := range workerLevels(processors) {
		w := base
		w.Workers = n
		workers = append(workers, w)
	}
	return append(groups, shares, workers)
}

// workerLevels are the numbers of workers that the full preset sweeps: five within the processors, where there
// are as many, since a scaling law takes five; and beyond, where goroutines queue.
func workerLevels(processors int) []int {
	levels := []int{1, 2, 4, 8, 16}
	for n := 32; n <= 2*processors; n *= 2 {
		levels = append(levels, n)
	}
	if processors >= 5 {
		within := func() int {
			return len(slices.DeleteFunc(slices.Clone(levels), func(n int) bool { return n > processors }))
		}
		for _, n := range []int{processors, 3, 6, 5} {
			if within() < 5 && !slices.Contains(levels, n) {
				levels = append(levels, n)
			}
		}
	}
	slices.Sort(levels)
	return levels
}
