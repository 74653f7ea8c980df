package claims

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"

	"tailrace/results"
	"tailrace/strategies"
)

// mutantsRecord is what became of mutants of the core strategies: `make mutants`, which takes half an hour and a Go
// toolchain, makes it. A test requires that it is of the strategies as they are (harness/torture, TestMutationRecord).
//
//go:embed mutants.json
var mutantsRecord []byte

// mutantCounts is what became of the mutants of one strategy, that is of its source with one mistake in it.
type mutantCounts struct {
	Strategy  string `json:"strategy"`
	Possible  int    `json:"possible"`   // that the two kinds of mistake allow
	Mutants   int    `json:"mutants"`    // a sample of these: those that were tried
	Rejected  int    `json:"rejected"`   // by the compiler or go vet
	OneClient int    `json:"one_client"` // found by a single client
	Checker   int    `json:"checker"`    // found by the concurrent checker alone
	Survived  int    `json:"survived"`   // found by neither, or no fault at all
}

// hidden estimates how many of all possible mistakes the concurrent checker alone finds, and the variance of the
// logarithm of that, as of a count (Poisson). That holds where all mistakes were tried, too: what the checker finds in
// its time is chance, and these kinds of mistakes stand for more. Where it has found none, there is fewer than one.
func (m *mutantCounts) hidden() (estimate, variance float64) {
	found := float64(max(1, m.Checker))
	return found * float64(m.Possible) / float64(m.Mutants), 1 / found
}

// mutantsOf reads a record.
func mutantsOf(record []byte) (map[string]*mutantCounts, error) {
	var all struct {
		Strategies []mutantCounts `json:"strategies"`
	}
	if err := json.Unmarshal(record, &all); err != nil {
		return nil, fmt.Errorf("claims: record of mutants: %w", err)
	}
	counts := make(map[string]*mutantCounts)
	for i := range all.Strategies {
		counts[all.Strategies[i].Strategy] = &all.Strategies[i]
	}
	return counts, nil
}

// mistakes is the experiment, made beforehand, of which the record tells: a machine deletes a statement of a core
// strategy or exchanges two, and a single client and then the concurrent checker look for what that has broken.
func mistakes(b *bench) ([]results.Figure, error) {
	counts, err := mutantsOf(mutantsRecord)
	if err != nil {
		return nil, err
	}
	var figures []results.Figure
	for _, s := range strategies.List {
		if s.Kind != strategies.Core {
			continue
		}
		strategy := s.Name
		m, ok := counts[strategy]
		if !ok || m.Mutants == 0 || m.Mutants > m.Possible {
			return nil, fmt.Errorf("claims: the record of mutants has none of %s", strategy)
		}
		text := fmt.Sprintf(" of %d mistakes drawn in %s (of %d possible; %d rejected by the compiler or go vet) ", m.Mutants, strategy, m.Possible, m.Rejected)
		figures = append(figures,
			counted(strategy+"-one-client", "those"+text+"that a single client finds", "", float64(m.OneClient)),
			counted(strategy+"-checker", "those"+text+"that only the concurrent checker finds", "", float64(m.Checker)),
			counted(strategy+"-survived", "those"+text+"that neither finds, or that are none", "", float64(m.Survived)))
	}
	return append(figures, b.hiddenOver("actor-hidden", counts["actor"], counts["mutex"]), b.hiddenOver("atomics-hidden", counts["atomics"], counts["mutex"])), nil
}

// hiddenOver compares two strategies by the mistakes that only the checker finds.
func (b *bench) hiddenOver(name string, over, under *mutantCounts) results.Figure {
	more, variance := over.hidden()
	fewer, other := under.hidden()
	width := math.Sqrt2 * math.Erfinv(b.level) * math.Sqrt(variance+other)
	value := more / fewer
	return results.Figure{
		Name: name, Unit: "×", Value: value, Low: value * math.Exp(-width), High: value * math.Exp(width),
		Text: fmt.Sprintf("mistakes that only the concurrent checker finds, %s over %s", over.Strategy, under.Strategy),
	}
}
