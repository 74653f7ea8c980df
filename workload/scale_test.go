package workload

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// anything is a machine that has room for all that a run may have.
func anything(*Workload) bool { return true }

// few is a machine that has room for a hundred of each.
func few(w *Workload) bool {
	return max(w.Partitions, w.Producers, w.Subscriptions*w.Partitions) <= 100
}

// A scale that fits no machine's limits alone is halved until the machine has the room, and the notes tell all of it.
func TestScaleToAMachine(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  Workload // what the test compares
	}{
		"what fits stays": {nil, Workload{Partitions: 4, Producers: 5, Consumers: 6, Subscriptions: 2, ProduceRate: 7000}},
		"topics": {[]string{"topics: 1000", "partitionsPerTopic: 2", "producersPerTopic: 4"},
			Workload{Partitions: 62, Producers: 124, Consumers: 186, Subscriptions: 2, ProduceRate: 7000 * 31 / 1000.}},
		"subscriptions": {[]string{"subscriptionsPerTopic: 400", "partitionsPerTopic: 3", "consumerPerSubscription: 1"},
			Workload{Partitions: 3, Producers: 5, Consumers: 33, Subscriptions: 33, ProduceRate: 7000}},
	} {
		grid, err := loadGrid(t, with(c.lines...), nil, Overrides{}, few)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w := grid[0]; !few(&w) || w.Validate() != nil || (len(w.Notes) > 0) != (len(c.lines) > 0) {
			t.Errorf("%s: %d producers, %d partitions, %d subscriptions at %v/s, want %d, %d, %d at %v/s, notes %q", name,
				w.Producers, w.Partitions, w.Subscriptions, w.ProduceRate, c.want.Producers, c.want.Partitions, c.want.Subscriptions, c.want.ProduceRate, w.Notes)
		}
	}
	nothing := func(*Workload) bool { return false }
	if grid, err := loadGrid(t, with(), nil, Overrides{}, nothing); err != nil || grid[0].Partitions != 1 || grid[0].Producers != 1 {
		t.Errorf("where nothing fits: %v, %v", grid, err)
	}
}

func TestScale(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  Workload // what the test compares
		notes []string
	}{
		"what fits stays": {nil, Workload{Partitions: 4, Producers: 5, Consumers: 6, Subscriptions: 2, ProduceRate: 7000}, nil},
		"topics": {[]string{"topics: 1000000", "partitionsPerTopic: 1"},
			Workload{Partitions: 1023, Producers: 5115, Consumers: 6138, Subscriptions: 2, ProduceRate: 7000 * 1023 / 1e6},
			[]string{
				"Scaled down: topics is 1,023 instead of 1,000,000, by a factor of 977.",
				"Scaled down: producerRate is 7.161 instead of 7,000, as the producers are 5,115 instead of 5,000,000.",
				"The 1,023 topics of 1 partition are run as 1,023 partitions of one topic.",
			}},
		"partitions": {[]string{"partitionsPerTopic: 3000"},
			Workload{Partitions: 1000, Producers: 5, Consumers: 6, Subscriptions: 2, ProduceRate: 7000},
			[]string{"Scaled down: partitionsPerTopic is 1,000 instead of 3,000, by a factor of 3."}},
		"producers": {[]string{"producersPerTopic: 20000"},
			Workload{Partitions: 4, Producers: 10000, Consumers: 6, Subscriptions: 2, ProduceRate: 3500},
			[]string{
				"Scaled down: producersPerTopic is 10,000 instead of 20,000, by a factor of 2.",
				"Scaled down: producerRate is 3,500 instead of 7,000, as the producers are 10,000 instead of 20,000.",
			}},
		"consumers": {[]string{"consumerPerSubscription: 7000"},
			Workload{Partitions: 4, Producers: 5, Consumers: 7000, Subscriptions: 2, ProduceRate: 7000},
			[]string{"Scaled down: consumerPerSubscription is 3,500 instead of 7,000, by a factor of 2."}},
		"subscriptions": {[]string{"subscriptionsPerTopic: 30000", "consumerPerSubscription: 2"},
			Workload{Partitions: 4, Producers: 5, Consumers: 10000, Subscriptions: 10000, ProduceRate: 7000},
			[]string{
				"Scaled down: consumerPerSubscription is 1 instead of 2, by a factor of 2.",
				"Scaled down: subscriptionsPerTopic is 10,000 instead of 30,000, by a factor of 3.",
			}},
		"a saturating rate": {[]string{"producersPerTopic: 20000", "producerRate: 10000000"},
			Workload{Partitions: 4, Producers: 10000, Consumers: 6, Subscriptions: 2},
			[]string{
				"Scaled down: producersPerTopic is 10,000 instead of 20,000, by a factor of 2.",
				"The producerRate of 10,000,000 messages per second stands for as fast as possible and is run as a closed loop.",
			}},
		"a backlog": {[]string{"subscriptionsPerTopic: 1", "consumerBacklogSizeGB: 100"},
			Workload{Partitions: 4, Producers: 5, Consumers: 3, Subscriptions: 1, ProduceRate: 7000, Prefill: 1 << 30},
			[]string{"Scaled down: the backlog is 1 GiB of log instead of 100 GiB, by a factor of 100."}},
		"everything": {[]string{"topics: 2147483647", "partitionsPerTopic: 2147483647", "producersPerTopic: 2147483647",
			"subscriptionsPerTopic: 2147483647", "consumerPerSubscription: 2147483647", "producerRate: 9000000", "messageSize: 24"},
			Workload{Partitions: 1023, Producers: 9999, Consumers: 9999, Subscriptions: 9999, ProduceRate: 9e6 * 9999 / (2147483647.0 * 2147483647)}, nil},
	} {
		grid, err := loadGrid(t, with(c.lines...), nil, Overrides{}, anything)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := grid[0]
		if w.Partitions != c.want.Partitions || w.Producers != c.want.Producers || w.Consumers != c.want.Consumers ||
			w.Subscriptions != c.want.Subscriptions || !near(w.ProduceRate, c.want.ProduceRate) || w.Prefill != c.want.Prefill {
			t.Errorf("%s: %+v", name, w)
		}
		if c.notes != nil && !slices.Equal(w.Notes, c.notes) {
			t.Errorf("%s: notes\n%s\nwant\n%s", name, strings.Join(w.Notes, "\n"), strings.Join(c.notes, "\n"))
		}
		if err := w.Validate(); err != nil && name != "everything" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func near(a, b float64) bool { return a == b || a/b > 1-1e-12 && a/b < 1+1e-12 }

// A file of a million topics and a backlog of 100 GiB is refused, or becomes one that can be run.
func TestScaleOfAMillionTopics(t *testing.T) {
	const file = "testdata/topics.yaml"
	_, err := LoadGrid(file, Overrides{MaxBytes: new(int64(1 << 40))}, nil)
	var located *FileError
	if !errors.As(err, &located) || located.Line != 3 || !strings.Contains(err.Error(), "--scale") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
	grid, err := LoadGrid(file, Overrides{}, anything)
	if err != nil {
		t.Fatal(err)
	}
	w := grid[0]
	if err := w.Validate(); err != nil {
		t.Error(err)
	}
	const line = "a million topics: 1,023 producers at 2,046/s, 1,023 tail consumers, 1,023 partitions, open loop for producers only, drains 90 % of a backlog of 1 GiB"
	if got := strings.Replace(w.Describe(), "open loop,", "open loop for producers only,", 1); got != line {
		t.Errorf("described as %q", got)
	}
	if len(w.Notes) != 5 { // backlog, topics, rate, topics as partitions, payload file
		t.Errorf("notes %q", w.Notes)
	}
}
