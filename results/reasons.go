package results

import (
	"fmt"
	"slices"
	"strings"
)

// undecidedClauses say on which strategies there is no verdict, and why: once for all of which the same holds.
func undecidedClauses(effects []Effect) []string {
	var clauses []string
	short := func(e *Effect) string {
		reason, _, _ := strings.Cut(e.Reason, ": ") // the notes have all of it
		return reason
	}
	for _, group := range byReason(effects, short) {
		clauses = append(clauses, fmt.Sprintf("no verdict on %s, because %s", enumerate(names(group.effects)), group.reason))
	}
	return clauses
}

// sameReason is effects of which the same holds.
type sameReason struct {
	effects []Effect
	reason  string
}

// byReason groups effects for which the same reason holds, each of its own strategy.
func byReason(effects []Effect, reason func(*Effect) string) []sameReason {
	var groups []sameReason
	for _, e := range effects {
		general := strings.ReplaceAll(reason(&e), quoted(e.Strategy), "each")
		same := func(g sameReason) bool { return g.reason == general }
		if at := slices.IndexFunc(groups, same); at >= 0 {
			groups[at].effects = append(groups[at].effects, e)
		} else {
			groups = append(groups, sameReason{[]Effect{e}, general})
		}
	}
	for i := range groups {
		if g := &groups[i]; len(g.effects) == 1 {
			g.reason = reason(&g.effects[0])
		}
	}
	return groups
}
