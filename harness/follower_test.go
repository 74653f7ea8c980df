package harness

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tailrace/strategies"
	"tailrace/workload"
)

// replicated is a load with followers and readers, of the tail or of the prefill.
func replicated(replicas, partitions int, acks string, pattern workload.Pattern) workload.Workload {
	w := tinyTail()
	w.Name = "replicated"
	w.Replicas, w.Partitions, w.Acks, w.Pattern = replicas, partitions, acks, pattern
	w.Prefill = 64 << 10
	w.Ramp, w.Duration = time.Millisecond, 6*time.Millisecond
	return w
}

func TestFollowers(t *testing.T) {
	patterns := []workload.Pattern{workload.Tail, workload.Random, workload.CatchUp}
	for i, strategy := range strategies.List {
		if strategy.Kind == strategies.Control {
			continue
		}
		for replicas := 1; replicas <= 3; replicas++ {
			for partitions := 1; partitions <= 2; partitions++ {
				for _, acks := range []string{workload.AcksLeader, workload.AcksAll} {
					pattern := patterns[(i+replicas+partitions)%len(patterns)]
					name := fmt.Sprintf("%s/replicas=%d/partitions=%d/acks=%s/%s", strategy.Name, replicas, partitions, acks, pattern)
					t.Run(name, func(t *testing.T) {
						w := replicated(replicas, partitions, acks, pattern)
						o := performUntil(t, specOf(w, strategy.Name, ""), hasOperations)
						wantSound(t, o, strategy, &w)
					})
				}
			}
		}
	}
}

// Followers are no clients: what they fetch is in no metric, and they are among nobody's shares.
func TestFollowersAreNotMeasured(t *testing.T) {
	w := tiny("producers")
	w.Producers, w.Replicas, w.Acks = 2, 2, workload.AcksAll
	o := performUntil(t, specOf(w, "mutex", ""), hasOperations)
	if !o.Run.Valid() {
		t.Fatal(o.Run.Verification.Error)
	}
	if n := o.Run.Samples["consume"]; n != 0 {
		t.Errorf("%d reads of nobody", n)
	}
	if _, ok := o.Run.PerWorkerJain["consume"]; ok {
		t.Error("followers share the reads")
	}
	// Every follower of every partition has checked every record.
	if v := o.Run.Verification; v.RecordsRead < 2*v.RecordsAcked {
		t.Errorf("two followers checked %d of %d records", v.RecordsRead, v.RecordsAcked)
	}
}

// garbling is a handle whose followers get a changed byte, once they have fetched some.
type garbling struct {
	strategies.Handle
	fetched *atomic.Int64
	after   int64
}

func (h *garbling) Fetch(replica int, offset int64, buf []byte) ([]byte, error) {
	p, err := h.Handle.Fetch(replica, offset, buf)
	if len(p) > 0 && h.fetched.Add(1) > h.after {
		p = bytes.Clone(p)
		p[len(p)-2] ^= 1
	}
	return p, err
}

// A follower that gets wrong bytes is seen, whether its producers wait for it or not.
func TestFollowersFindChangedBytes(t *testing.T) {
	for _, strategy := range []string{"mutex", "atomics", "actor"} {
		for _, acks := range []string{workload.AcksLeader, workload.AcksAll} {
			for name, after := range map[string]int64{"prefill": 0, "load": 20} {
				t.Run(fmt.Sprintf("%s/acks=%s/%s", strategy, acks, name), func(t *testing.T) {
					var fetched atomic.Int64
					w := replicated(2, 1, acks, workload.Random)
					if after > 0 {
						w.Duration = time.Minute // or until it is seen
					}
					r := wrap(t, specOf(w, strategy, ""), func(h strategies.Handle) strategies.Handle {
						return &garbling{Handle: h, fetched: &fetched, after: after}
					})
					o := ends(t, r)
					if text := o.Run.Verification.Error; !strings.Contains(text, "filler differs") {
						t.Errorf("the run says %q, want the changed byte", text)
					}
					if len(o.Run.Metrics) > 0 {
						t.Errorf("a faulty run has numbers: %v", o.Run.Metrics)
					}
				})
			}
		}
	}
}

// idleFollower is a handle whose followers never get anything.
type idleFollower struct{ strategies.Handle }

func (idleFollower) Fetch(int, int64, []byte) ([]byte, error) { return nil, nil }

// A follower that fetches nothing lets nothing be acknowledged to those who wait for it, and the run ends
// and says what it was about.
func TestFollowersThatFetchNothing(t *testing.T) {
	for _, strategy := range []string{"mutex", "atomics", "actor"} {
		t.Run(strategy, func(t *testing.T) {
			w := tiny("producers")
			w.Producers, w.Replicas, w.Acks = 2, 1, workload.AcksAll
			r := wrap(t, specOf(w, strategy, ""), func(h strategies.Handle) strategies.Handle { return idleFollower{h} })
			o := ends(t, r)
			if o.Run.Valid() || o.Run.Verification.RecordsAcked > 0 {
				t.Errorf("%d records were acknowledged that no follower has; the run says %q",
					o.Run.Verification.RecordsAcked, o.Run.Verification.Error)
			}
		})
	}
}
