package strategies

import "slices"

// The article's actor to the letter, beside the one that an expert would write today: a command, a write, a
// publication, and then the next command. Every publication copies the list of segments, as the article's
// with_metadata does. What it loses against actor is what draining gains.

func openActorPlain(o Options) (Log, error) { return startActor(o, (*partitionActor).one) }

// one carries out a single command.
func (a *partitionActor) one(c *command) {
	if !c.claim() {
		return
	}
	a.copyList()
	a.group = append(a.group[:0], c)
	a.execute()
}

func (a *partitionActor) copyList() {
	a.partition.state.sealed = slices.Clone(a.partition.state.sealed)
}
