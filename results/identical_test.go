package results

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/perf/benchmath"
)

// identicalRuns reads the recording of identical code: the operations per second of all runs in the order
// of time, and the logarithm of the ratio of the two runs of each block.
func identicalRuns(t *testing.T) (inTime, logRatios []float64) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "identical-runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	first := make(map[string]float64) // of a block
	for _, row := range rows[1:] {
		value, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		inTime = append(inTime, value)
		if other, ok := first[row[0]]; ok {
			logRatios = append(logRatios, math.Log(value/other))
		}
		first[row[0]] = value
	}
	if len(inTime) != 480 || len(logRatios) != 240 {
		t.Fatalf("%d runs and %d pairs, want 480 and 240", len(inTime), len(logRatios))
	}
	return inTime, logRatios
}

// How often identical code is said to differ, on a recording of a real machine whose speed drifts: with
// the intervals of a sweep, which compare within blocks, and with the same runs taken one group after the
// other and compared as benchstat does.
func TestIdenticalCodeIsSaidToDiffer(t *testing.T) {
	const tries = 1000
	inTime, logRatios := identicalRuns(t)
	random := rand.New(rand.NewPCG(5, 2026))
	blocked, sequential := 0, 0
	for range tries {
		blocks := 6 + random.IntN(7)

		// Which of the two runs of a block is called the baseline is drawn: no label means anything.
		at := random.IntN(len(logRatios) - blocks + 1)
		labelled := make([]float64, blocks)
		for i := range labelled {
			labelled[i] = logRatios[at+i]
			if random.IntN(2) == 0 {
				labelled[i] = -labelled[i]
			}
		}
		if logInterval(labelled, confidence).Excludes1() {
			blocked++
		}

		at = random.IntN(len(inTime) - 2*blocks + 1)
		before := benchmath.NewSample(append([]float64(nil), inTime[at:at+blocks]...), &benchmath.DefaultThresholds)
		after := benchmath.NewSample(append([]float64(nil), inTime[at+blocks:at+2*blocks]...), &benchmath.DefaultThresholds)
		if benchmath.AssumeNothing.Compare(before, after).P < 1-confidence {
			sequential++
		}
	}
	t.Logf("of %d comparisons of identical code at 5 %%, %.1f %% find a difference within blocks, %.1f %% one group after the other",
		tries, 100*float64(blocked)/tries, 100*float64(sequential)/tries)
	if blocked < 35 || blocked > 65 {
		t.Errorf("within blocks %d of %d comparisons find a difference, want 35 to 65", blocked, tries)
	}
	if sequential < 2*blocked || sequential < 120 {
		t.Errorf("without blocks %d of %d comparisons find a difference, and within them %d: the recording shows no drift", sequential, tries, blocked)
	}
}
