package torture

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"tailrace/strategies"
)

// four batches: of 2, 1, 3 and 1 records, 100 bytes each.
func smallModel(followers int) *partitionModel {
	m := &partitionModel{followers: followers}
	for _, times := range [][]int64{{5, 9}, {7}, {1, 20, 2}, {30}} {
		m.batches = append(m.batches, batchInfo{count: int64(len(times)), size: 100, times: times})
	}
	return m
}

// done is an operation that follows all before it.
type done struct {
	in  input
	out output
}

func store(batch int, base int64) done {
	return done{input{kind: storing, batch: batch}, output{base: base}}
}

func readAt(offset int64, batches ...int) done {
	return done{input{kind: reading, offset: offset, buffer: 1000}, output{batches: batches}}
}

func outOfRange(offset int64) done {
	return done{input{kind: reading, offset: offset}, output{outOfRange: true}}
}

func look(start, hw, leo int64) done {
	return done{input{kind: looking}, output{offsets: strategies.Offsets{Start: start, HighWatermark: hw, LogEnd: leo}}}
}

func seek(time, found int64) done { return done{input{kind: seeking, time: time}, output{base: found}} }

func trim(before int64) done { return done{in: input{kind: trimming, offset: before}} }

func retain(bytes int64) done { return done{in: input{kind: retaining, bytes: bytes}} }

func note(replica int, offset int64) done {
	return done{in: input{kind: noting, replica: replica, offset: offset}}
}

func TestModelSequences(t *testing.T) {
	all := []done{store(0, 0), store(1, 2), store(2, 3)} // [0,2) [2,3) [3,6)
	for _, c := range []struct {
		name      string
		followers int
		more      []done
		want      bool
	}{
		{"offsets", 0, []done{look(0, 6, 6)}, true},
		{"old log end", 0, []done{look(0, 3, 3)}, false},
		{"high watermark of another moment", 0, []done{look(0, 3, 6)}, false},
		{"append at a wrong offset", 0, []done{store(3, 5)}, false},
		{"append not told", 0, []done{store(3, -1), look(0, 7, 7)}, true},
		{"read", 0, []done{readAt(0, 0, 1, 2), readAt(1, 0), readAt(4, 2), readAt(6)}, true},
		{"read skips a batch", 0, []done{readAt(0, 0, 2)}, false},
		{"read of another batch", 0, []done{readAt(2, 0)}, false},
		{"read gives nothing below the end", 0, []done{readAt(5)}, false},
		{"read beyond the end", 0, []done{outOfRange(7)}, true},
		{"read refused that is in range", 0, []done{outOfRange(3)}, false},
		{"read beyond the end that is not refused", 0, []done{readAt(7)}, false},
		{"small buffer", 0, []done{{input{kind: reading, offset: 1, buffer: 90}, output{need: 100}}}, true},
		{"small buffer that is not", 0, []done{{input{kind: reading, offset: 1, buffer: 200}, output{need: 100}}}, false},
		{"small buffer, wrong need", 0, []done{{input{kind: reading, offset: 1, buffer: 90}, output{need: 101}}}, false},
		{"seek", 0, []done{seek(0, 0), seek(6, 1), seek(10, 4), seek(21, 6)}, true},
		{"seek finds a later one", 0, []done{seek(6, 2)}, false},
		{"seek finds one too early", 0, []done{seek(6, 0)}, false},
		{"seek finds nothing", 0, []done{seek(20, 6)}, false},

		{"trim", 0, []done{trim(3), look(3, 6, 6), outOfRange(2), readAt(3, 2)}, true},
		{"trim does less", 0, []done{trim(5), look(2, 6, 6), outOfRange(1), readAt(2, 1)}, true},
		{"trim ends inside a batch", 0, []done{trim(5), look(5, 6, 6)}, false},
		{"trim goes too far", 0, []done{trim(2), look(3, 6, 6)}, false},
		{"start without a trim", 0, []done{look(2, 6, 6)}, false},
		{"start goes back", 0, []done{trim(3), look(3, 6, 6), look(2, 6, 6)}, false},
		{"read before the start", 0, []done{trim(3), look(3, 6, 6), readAt(2, 1)}, false},
		{"refused and then read", 0, []done{trim(3), outOfRange(2), readAt(1, 0)}, false},
		{"seek tells where the start is", 0, []done{trim(3), seek(5, 3)}, false},
		{"seek after a trim", 0, []done{trim(3), seek(6, 4), look(3, 6, 6)}, true},
		{"seek from before the start", 0, []done{trim(3), look(3, 6, 6), seek(6, 1)}, false},
		{"retain", 0, []done{retain(100), look(3, 6, 6)}, true},
		{"retain too little", 0, []done{retain(201), look(3, 6, 6)}, false},

		{"no follower has anything", 1, []done{look(0, 0, 6), outOfRange(1), readAt(0)}, true},
		{"read of what no follower has", 1, []done{readAt(0, 0)}, false},
		{"fetch of what no follower has", 1, []done{{input{kind: fetching, buffer: 1000}, output{batches: []int{0, 1}}}}, true},
		{"followed", 1, []done{note(0, 3), look(0, 3, 6), readAt(2, 1)}, true},
		{"one of two followers", 2, []done{note(0, 3), look(0, 3, 6)}, false},
		{"both followers", 2, []done{note(0, 3), note(1, 2), look(0, 2, 6)}, true},
		{"acknowledged for all", 1, []done{note(0, 3), {in: input{kind: replicated, offset: 2}}}, true},
		{"acknowledged too early", 1, []done{note(0, 2), {in: input{kind: replicated, offset: 2}}}, false},
		{"a trim stops at the high watermark", 1, []done{note(0, 2), trim(6), look(3, 2, 6)}, false},
		{"waited", 1, []done{note(0, 2), {in: input{kind: waiting, offset: 1}}, {in: input{kind: waitingEnd, offset: 5}}}, true},
		{"woken too early", 1, []done{note(0, 2), {in: input{kind: waiting, offset: 2}}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := smallModel(c.followers)
			var history []porcupine.Operation
			for i, d := range append(append([]done(nil), all...), c.more...) {
				history = append(history, porcupine.Operation{Input: d.in, Output: d.out, Call: int64(2 * i), Return: int64(2*i + 1)})
			}
			if got := porcupine.CheckOperations(m.porcupine(), history); got != c.want {
				t.Errorf("linearizable %t, want %t\n%s", got, c.want, m.listing(history))
			}
		})
	}
}

// An append whose outcome is unknown may have happened at any time after its call, or not at all.
func TestModelUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		end  int64 // of the log, after the append of unknown outcome has returned to its caller
		want bool
	}{{"happened", 3, true}, {"did not", 2, true}, {"twice", 4, false}} {
		history := []porcupine.Operation{
			{Input: store(0, 0).in, Output: store(0, 0).out, Call: 1, Return: 2},
			{Input: store(1, -1).in, Output: store(1, -1).out, Call: 3, Return: never},
			{Input: look(0, 0, 0).in, Output: look(0, c.end, c.end).out, Call: 5, Return: 6},
		}
		if got := porcupine.CheckOperations(smallModel(0).porcupine(), history); got != c.want {
			t.Errorf("%s: linearizable %t, want %t", c.name, got, c.want)
		}
	}
}
