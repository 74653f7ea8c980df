package workload

import "math/rand/v2"

// Draw is one worker's source of decisions: the same seed and worker give the same sequence. It is
// used by one goroutine at a time and allocates nothing after NewDraw.
type Draw struct {
	pcg rand.PCG
	rng rand.Rand
	// The state is written at every draw. The padding keeps those of two workers out of one cache
	// line and its neighbour, which the processor fetches along with it.
	_ [128 - 32]byte
}

// NewDraw returns the source of one worker. Sources of different workers are independent.
func NewDraw(seed uint64, worker int) *Draw {
	d := &Draw{pcg: *newPCG(seed, uint64(worker))}
	d.rng = *rand.New(&d.pcg)
	return d
}

// Produce draws whether the next operation is an append, which percent of a hundred are.
func (d *Draw) Produce(percent float64) bool { return d.rng.Float64()*100 < percent }

// Offset draws from [0, n), each offset equally likely; 0 if n < 1.
func (d *Draw) Offset(n int64) int64 {
	if n < 1 {
		return 0
	}
	return d.rng.Int64N(n)
}

// Partition draws from [0, n), each partition equally likely; 0 if n < 1.
func (d *Draw) Partition(n int) int { return int(d.Offset(int64(n))) }

// Shuffle returns the numbers 0 to n−1 in the random order of one block of a sweep: the same for the
// same seed, block and n.
func Shuffle(seed uint64, block, n int) []int {
	return rand.New(newPCG(seed, ^uint64(block))).Perm(max(n, 0))
}

// newPCG scatters its arguments over the generator's state, since neighbouring states give sequences
// that begin alike.
func newPCG(seed, stream uint64) *rand.PCG {
	return rand.NewPCG(mix64(seed), mix64(mix64(seed)^mix64(stream)))
}

// mix64 maps a number to another, all bits of which depend on all bits of the first: one step of
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
