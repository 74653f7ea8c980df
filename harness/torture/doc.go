// Package torture looks for wrong answers of a strategy. Rounds of different checks follow each other
// until the time is over or a violation is found:
//
//	linearizability   short concurrent histories, judged by porcupine against a model of a partition
//	long run          many clients and thousands of operations, each answer judged in constant time
//	handover          producers and consumers in lockstep, so that one lost wake-up stops everybody
//	moments           one client changes a log step by step; whoever looks must see one of the steps
//	pending           appends that are cancelled beside a follower that stands still leave nothing behind
//	failing storage   writes and syncs fail: what was acknowledged stays, what failed never shows
//	crash             the power fails: what is left holds what was promised
//	close             a log is closed under load, opened again, and must hold all that it acknowledged
//	differential      the same calls on the strategy and on mutex give the same answers and the same files
//
// What a round does is drawn from its seed: the run's seed for the first round, one more for each that
// follows. So the seed of a violation, given to another run, makes that round its first. How goroutines
// are scheduled is not drawn, so that a repetition may need a few rounds, or more.
//
// A call that does not return is a violation too, since each round is watched, and so is a crash of the process
// that Run gives each strategy for itself.
package torture
