package claims

import (
	"fmt"
	"io/fs"

	"tailrace/results"
	"tailrace/strategies"
)

// callStates are the names in a model's code of the states in which it finds a call, between its beginning and its
// return. Those of the locks are kept by package sync.
var callStates = map[string][]string{
	"atomics": {"reserve", "completion", "committed", "parked"},
	"actor":   {"queued", "claimed", "replicating", "left"},
}

// complexity is the experiment that counts what each core strategy takes, in the source that this program was built
// from.
func complexity(*bench) ([]results.Figure, error) {
	counts := make(map[string]size)
	var figures []results.Figure
	for _, s := range strategies.List {
		if s.Kind != strategies.Core {
			continue
		}
		n, err := sizeOf(strategies.Sources(), strategies.SourceFiles(s.Name))
		if err != nil {
			return nil, fmt.Errorf("claims: %w", err)
		}
		counts[s.Name] = n
		figures = append(figures,
			counted(s.Name+"-code", "lines of code of "+s.Name, "", float64(n.lines)),
			counted(s.Name+"-declared", "types, functions and fields of "+s.Name, "", float64(n.declarations)),
			counted(s.Name+"-exported", "exported types, functions and methods of "+s.Name, "", float64(n.exported)),
			counted(s.Name+"-coordination", "locks, atomics, channels and pins among the fields of "+s.Name, "", float64(n.coordination)),
			counted(s.Name+"-states", "named states of a call, "+s.Name, "", float64(len(callStates[s.Name]))),
		)
	}
	mutex, rwmutex, atomics, actor := counts["mutex"], counts["rwmutex"], counts["atomics"], counts["actor"]
	return append([]results.Figure{
		over("actor-lines", "lines of code, actor over mutex", actor.lines, mutex.lines),
		over("actor-declarations", "types, functions and fields, actor over mutex", actor.declarations, mutex.declarations),
		over("actor-over-atomics", "lines of code, actor over atomics", actor.lines, atomics.lines),
		over("rwmutex-lines", "lines of code, rwmutex over mutex", rwmutex.lines, mutex.lines),
	}, figures...), nil
}

// lines is the experiment that compares the code of two core strategies.
func lines(strategy, baseline string) func(*bench) ([]results.Figure, error) {
	return func(*bench) ([]results.Figure, error) {
		a, err := sizeOf(strategies.Sources(), strategies.SourceFiles(strategy))
		if err != nil {
			return nil, fmt.Errorf("claims: %w", err)
		}
		b, err := sizeOf(strategies.Sources(), strategies.SourceFiles(baseline))
		if err != nil {
			return nil, fmt.Errorf("claims: %w", err)
		}
		return []results.Figure{
			over(strategy+"-lines", fmt.Sprintf("lines of code, %s over %s", strategy, baseline), a.lines, b.lines),
			over(strategy+"-declarations", fmt.Sprintf("types, functions and fields, %s over %s", strategy, baseline), a.declarations, b.declarations),
		}, nil
	}
}

func over(name, text string, a, b int) results.Figure {
	return counted(name, text, "×", float64(a)/float64(b))
}

// sizeOf counts several files.
func sizeOf(sources fs.FS, names []string) (all size, err error) {
	if len(names) == 0 {
		return all, fs.ErrNotExist
	}
	for _, name := range names {
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return all, err
		}
		n, err := measureSource(name, text)
		if err != nil {
			return all, err
		}
		all.lines += n.lines
		all.declarations += n.declarations
		all.coordination += n.coordination
		all.exported += n.exported
	}
	return all, nil
}
