package torture

import (
	"os"
	"strings"
	"testing"
	"time"

	"tailrace/strategies"
)

func TestOnly(t *testing.T) {
	s, err := strategies.Find(os.Getenv("S"))
	if err != nil {
		t.Fatal(err)
	}
	var c Counts
	d, _ := time.ParseDuration(os.Getenv("MT"))
	began := time.Now()
	for seed := uint64(1); time.Since(began) < d; seed++ {
		for _, ch := range checks() {
			if !strings.HasPrefix(ch.name, os.Getenv("C")) {
				continue
			}
			r := &round{strategy: s, options: Options{Dir: scratchDir(t), Heap: true, Patience: 5 * time.Second}, seed: seed, random: newRandom(seed, 0), counts: &c}
			if err := r.do(ch); err != nil {
				t.Fatal(seed, time.Since(began), err)
			}
		}
	}
	t.Logf("%+v", c)
}
