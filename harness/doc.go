// Package harness runs workloads against strategies and measures them.
//
// # How a number comes about
//
// NewPlan lays a sweep out in cells (a strategy under a workload) and blocks: every cell runs once
// in every block, in an order drawn from the seed, so that drift of the machine hits all alike. Run
// executes each run in a process of its own, which calls Execute:
//
//	prefill → barrier → ramp → measured window → stop → walk over the whole log
//
// Workers are plain goroutines with everything of their own: handles, generator, buffers, histograms.
// An operation reads the clock twice, around the call alone; building its records and checking its
// answer lie outside. An operation belongs to the window in which it ends. The window opens when all
// workers have run for the ramp, and closes while all still run. Histograms are merged after the join.
//
// In an open loop an operation has an intended start, from a schedule that never slips, and its
// latency counts from there: what a stalled system does to those who would have called meanwhile is
// measured too (coordinated omission). The time from the actual start is kept beside it as service
// time, and so is how late the generator itself was.
//
// # Verification
//
// Consumers check every answer: whole batches, offsets that follow each other, the records' bytes,
// and the order of each producer's records; every 64th batch its checksum too. After a run the log is
// closed and all of it read from the files: every checksum, every record, and that each producer's
// acknowledged records are there, once, in order, at the offsets that it was told. A run with a wrong
// answer has no throughput. Before a sweep the strategy busted must be caught.
package harness
