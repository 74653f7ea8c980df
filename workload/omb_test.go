package workload

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const smallFile = `# one of each required key
name: a small load
topics: 1
partitionsPerTopic: 4
messageSize: 100
subscriptionsPerTopic: 2
consumerPerSubscription: 3
producersPerTopic: 5
producerRate: 7000
testDurationMinutes: 2
`

// with returns smallFile with lines in place of those that begin with the same keys, or at the end.
func with(lines ...string) string {
	out := strings.Split(strings.TrimSuffix(smallFile, "\n"), "\n")
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		replaced := false
		for i, have := range out {
			if strings.HasPrefix(have, key+":") {
				out[i], replaced = line, true
			}
		}
		if !replaced {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

func without(key string) string {
	var out []string
	for _, line := range strings.Split(smallFile, "\n") {
		if !strings.HasPrefix(line, key+":") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// loadText loads a file "My Load.yaml" of the given text in its own folder.
func loadText(t *testing.T, text string, others map[string]string) (Workload, error) {
	t.Helper()
	grid, err := loadGrid(t, text, others, Overrides{}, nil)
	if err != nil {
		return Workload{}, err
	}
	return grid[0], nil
}

func loadGrid(t *testing.T, text string, others map[string]string, flags Overrides, scale Scale) ([]Workload, error) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "workloads")
	others = mapsWith(others, "My Load.yaml", text)
	for name, content := range others {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return LoadGrid(filepath.Join(folder, "My Load.yaml"), flags, scale)
}

func mapsWith(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func TestLoadMapsEveryKey(t *testing.T) {
	w, err := loadText(t, smallFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Name = "my-load"
	want.Title = "a small load"
	want.Partitions, want.Subscriptions, want.Producers, want.Consumers = 4, 2, 5, 6
	want.RecordSize = 100
	want.ProduceRate = 7000
	want.Duration, want.Ramp = 2*time.Minute, time.Minute
	want.Primary = "e2e-p90-sec"
	want.SourceText = w.SourceText
	if want.Source = w.Source; filepath.Base(w.Source) != "My Load.yaml" {
		t.Errorf("read from %q", w.Source)
	}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("got  %+v\nwant %+v", w, want)
	}
	if err := w.Validate(); err != nil {
		t.Error(err)
	}
	const line = "a small load: 5 producers at 7,000/s, 6 tail consumers, 2 subscriptions, 100 B records, 4 partitions, open loop"
	if got := w.Describe(); got != line {
		t.Errorf("described as %q, want %q", got, line)
	}
}

func TestLoadHonours(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		seen  func(w Workload) any
		want  any
	}{
		{"topics multiply partitions", []string{"topics: 3"}, func(w Workload) any { return w.Partitions }, 12},
		{"topics multiply producers", []string{"topics: 3"}, func(w Workload) any { return w.Producers }, 15},
		{"topics multiply consumers", []string{"topics: 3"}, func(w Workload) any { return w.Consumers }, 18},
		{"topics leave subscriptions", []string{"topics: 3"}, func(w Workload) any { return w.Subscriptions }, 2},
		{"topics are noted", []string{"topics: 3"}, notes, "The 3 topics of 4 partitions are run as 12 partitions of one topic."},
		{"no subscriptions, no consumers", []string{"subscriptionsPerTopic: 0"}, func(w Workload) any { return w.Consumers }, 0},
		{"produce latency without consumers", []string{"subscriptionsPerTopic: 0"}, func(w Workload) any { return w.Primary }, "produce-p90-sec"},
		{"warm-up", []string{"warmupDurationMinutes: 3"}, func(w Workload) any { return w.Ramp }, 3 * time.Minute},
		{"rate that saturates", []string{"producerRate: 10000000"}, func(w Workload) any { return w.ProduceRate }, 0.0},
		{"rate that saturates, metric", []string{"producerRate: 10000000"}, func(w Workload) any { return w.Primary }, "produce-op/s"},
		{"rate that saturates, note", []string{"producerRate: 10000000"}, notes,
			"The producerRate of 10,000,000 messages per second stands for as fast as possible and is run as a closed loop."},
		{"rate below that", []string{"producerRate: 9999999"}, func(w Workload) any { return w.ProduceRate }, 9999999.0},
		{"whole number with a point", []string{"producerRate: 50.0"}, func(w Workload) any { return w.ProduceRate }, 50.0},
		{"no key", []string{"keyDistributor: NO_KEY"}, notes, ""},
		{"empty text", []string{"keyDistributor:", "payloadFile:", "name:"}, func(w Workload) any { return w.Title }, ""},
		{"a backlog", []string{"consumerBacklogSizeGB: 1"}, func(w Workload) any { return w.Prefill }, int64(1 << 29)},
		{"a backlog, drained", []string{"consumerBacklogSizeGB: 1"}, func(w Workload) any { return w.DrainRatio }, 1.0},
		{"a backlog, drained in part", []string{"consumerBacklogSizeGB: 1", "backlogDrainRatio: 0.5"}, func(w Workload) any { return w.DrainRatio }, 0.5},
		{"a backlog, metric", []string{"consumerBacklogSizeGB: 1"}, func(w Workload) any { return w.Primary }, "drain-sec"},
		{"a backlog of two subscriptions", []string{"consumerBacklogSizeGB: 1"}, notes,
			"The backlog of 1 GiB is that of 2 subscriptions together, each of which reads the same 512 MiB of log."},
		{"a ratio of no backlog", []string{"backlogDrainRatio: 0.5"}, notes, "The backlogDrainRatio is not used, since there is no backlog."},
		{"no backlog", []string{"consumerBacklogSizeGB: 0", "backlogDrainRatio: 1.0"}, notes, ""},
		{"name that is a number", []string{"name: 2024"}, func(w Workload) any { return w.Title }, "2024"},
		{"name of two lines", []string{`name: "one\n  two\a"`}, func(w Workload) any { return w.Title }, "one two"},
		{"quoted and commented", []string{`name: 'it''s'   # why not`}, func(w Workload) any { return w.Title }, "it's"},
		{"large messages get a buffer", []string{"messageSize: 1000000"}, func(w Workload) any { return w.FetchBytes }, 2002944},
		{"no payload", nil, func(w Workload) any { return w.Payload == nil }, true},
		{"ratio without use", []string{"randomBytesRatio: 0.5", "useRandomizedPayloads: false"}, notes,
			"The randomBytesRatio is not used, since useRandomizedPayloads is not true."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, err := loadText(t, with(test.lines...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.seen(w); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if err := w.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func notes(w Workload) any { return strings.Join(w.Notes, "|") }

// badFiles are texts that Load refuses, with the place and the sentence.
var badFiles = []struct{ name, text, want string }{
	{"empty", "", "1:1: the file is empty; give a workload of keys and values, or one of OpenMessaging Benchmark"},
	{"only comments", "# nothing\n\n", "1:1: the file is empty; give a workload of keys and values, or one of OpenMessaging Benchmark"},
	{"only a document mark", "---\n", "1:1: the file is empty; give a workload of keys and values, or one of OpenMessaging Benchmark"},
	{"a sequence", "- topics\n", "1:1: keys with values are expected, not YAML type sequence"},
	{"a word", "topics", "1:1: keys with values are expected, not YAML type string"},
	{"two documents", smallFile + "---\ntopics: 1\n", "11:1: a second document begins; give one workload a file"},
	{"unknown key", with("messagesize: 5"), "11:1: unknown key messagesize; did you mean messageSize?"},
	{"unknown key, nothing near", with("colour: red"), "11:1: unknown key colour"},
	{"unknown key with a line feed", with(`"a\nb": 1`), `11:1: unknown key "a\nb"`},
	{"plural of a key", with("consumersPerSubscription: 1"), "11:1: unknown key consumersPerSubscription; did you mean consumerPerSubscription?"},
	{"carriage returns", "topics: 1\r\ntopisc: 2\r\n", "2:1: unknown key topisc; did you mean topics?"},
	{"merge key", with("<<: 1"), "11:1: unknown key <<"},
	{"duplicate key", with("topics : 3"), "11:1: key topics is given twice; the first is on line 3"},
	{"unclosed quote", "name: 'abc\n", "1:7: not YAML: could not find end character of single-quoted text"},
	{"unclosed bracket", "topics: [1\n", "1:9: not YAML: sequence end token ']' not found"},
	{"wrong indentation", "topics: 1\n  messageSize: 5\n", "1:9: not YAML: mapping value is not allowed in this context"},
	{"text for a number", with("topics: many"), `3:9: topics "many": of YAML type string; give a whole number`},
	{"quoted number", with(`topics: "1"`), `3:9: topics "1": of YAML type string; give a whole number`},
	{"fraction", with("topics: 1.5"), "3:9: topics 1.5: give a whole number"},
	{"not a number", with("topics: .nan"), "3:9: topics .nan: of YAML type nan; give a whole number"},
	{"infinity", with("producerRate: .inf"), "9:15: producerRate .inf: of YAML type inf; give a whole number"},
	{"no value", with("topics:"), "3:8: topics: of YAML type null; give a whole number"},
	{"mapping for a number", with("topics: {a: 1}"), "3:9: topics: of YAML type mapping; give a whole number"},
	{"sequence for text", with("name: [a]"), "2:7: name: of YAML type sequence; give text"},
	{"alias", with("topics: *a"), "3:9: topics: of YAML type alias; give a whole number"},
	{"text for a truth", with("useRandomizedPayloads: maybe"), `11:24: useRandomizedPayloads "maybe": of YAML type string; give true or false`},
	{"text for a ratio", with("randomBytesRatio: half"), `11:19: randomBytesRatio "half": of YAML type string; give a number`},
	{"zero topics", with("topics: 0"), "3:9: topics 0: outside 1 to 2147483647"},
	{"negative", with("producersPerTopic: -1"), "8:20: producersPerTopic -1: outside 1 to 2147483647"},
	{"beyond 64 bits", with("producerRate: 18446744073709551615"), "9:15: producerRate 18446744073709551615: outside 0 to 2147483647"},
	{"message too small", with("messageSize: 10"), "5:14: messageSize 10: outside 24 to 2147483647"},
	{"ratio above 1", with("randomBytesRatio: 1.5"), "11:19: randomBytesRatio 1.5: outside 0 to 1"},
	{"no duration", with("testDurationMinutes: 0"), "10:22: testDurationMinutes 0: outside 1 to 1000000"},
	{"no warm-up", with("warmupDurationMinutes: 0"), "11:24: warmupDurationMinutes 0: outside 1 to 1000000"},
	{"too many topics", with("topics: 1000000"), "3:9: topics 1000000: at most 256 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"too many partitions", with("partitionsPerTopic: 1025"), "4:21: partitionsPerTopic 1025: at most 1024 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"too many producers", with("producersPerTopic: 10001"), "8:20: producersPerTopic 10001: at most 10000 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"too many consumers", with("subscriptionsPerTopic: 101", "consumerPerSubscription: 100"), "7:26: consumerPerSubscription 100: at most 99 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"too many subscriptions", with("subscriptionsPerTopic: 10001", "consumerPerSubscription: 1"), "6:24: subscriptionsPerTopic 10001: at most 10000 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"the largest of all", with("topics: 2147483647", "subscriptionsPerTopic: 2147483647", "consumerPerSubscription: 2147483647"),
		"3:9: topics 2147483647: at most 1 fit, with the rest of the file, in the 1024 partitions, 10000 producers and 10000 consumers of a run; lower it, or give --scale for a smaller run"},
	{"keys in turn", with("keyDistributor: KEY_ROUND_ROBIN"), `11:17: keyDistributor "KEY_ROUND_ROBIN": a key would be stored in the record and choose its partition; here records have no key and take the partitions in turn; give NO_KEY`},
	{"keys at random", with("keyDistributor: RANDOM_NANO"), `11:17: keyDistributor "RANDOM_NANO": a key would be stored in the record and choose its partition; here records have no key and take the partitions in turn; give NO_KEY`},
	{"unknown distributor", with("keyDistributor: any"), `11:17: keyDistributor "any": unknown; give NO_KEY`},
	{"backlog", with("consumerBacklogSizeGB: 100", "subscriptionsPerTopic: 1"),
		"11:24: consumerBacklogSizeGB 100: 100 GiB of log are more than half of the 2GiB that a run may write; raise --max-bytes, or give --scale for a smaller backlog"},
	{"backlog without a rate", with("consumerBacklogSizeGB: 1", "producerRate: 0"),
		"9:15: producerRate 0: with a backlog to drain there is no search for the rate; give one, or --produce-rate"},
	{"backlog without consumers", with("consumerBacklogSizeGB: 1", "consumerPerSubscription: 0"),
		"11:24: consumerBacklogSizeGB 1: nobody drains it; give subscriptionsPerTopic and consumerPerSubscription"},
	{"draining nothing", with("consumerBacklogSizeGB: 1", "backlogDrainRatio: 0"), "12:20: backlogDrainRatio 0: nothing would be drained; give more than 0"},
	{"drain ratio", with("backlogDrainRatio: 1.5"), "11:20: backlogDrainRatio 1.5: outside 0 to 1"},
	{"random without a pool", with("useRandomizedPayloads: true"),
		"1:1: randomizedPayloadPoolSize: useRandomizedPayloads needs at least 1"},
	{"pool too large", with("useRandomizedPayloads: true", "randomizedPayloadPoolSize: 1000000"),
		"12:28: randomizedPayloadPoolSize 1000000: with messageSize 100 the pool is larger than 64MiB"},
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range badFiles {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadText(t, test.text, nil)
			var located *FileError
			if !errors.As(err, &located) || !errors.Is(err, ErrInvalid) {
				t.Fatalf("error is %T %v, want a *FileError", err, err)
			}
			if want := "workload: " + located.File + ":" + test.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
			if want := fmt.Sprintf("%d:%d: ", located.Line, located.Column); !strings.HasPrefix(test.want, want) {
				t.Errorf("fields say %s", want)
			}
		})
	}
}

func TestLoadMissingKeys(t *testing.T) {
	for _, key := range []string{"topics", "partitionsPerTopic", "messageSize", "subscriptionsPerTopic",
		"consumerPerSubscription", "producersPerTopic", "producerRate", "testDurationMinutes"} {
		_, err := loadText(t, without(key), nil)
		var located *FileError
		if !errors.As(err, &located) || located.Key != key || located.Problem != "key "+key+" is missing" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// Without a rate the highest one is sought, unless a flag gives one.
func TestLoadWithoutRate(t *testing.T) {
	text := with("producerRate: 0")
	w, err := loadText(t, text, nil)
	if err != nil || !w.Search || w.ProduceRate != 0 || w.Primary != "e2e-p90-sec" || w.Validate() != nil {
		t.Errorf("%v: %+v", err, w)
	}
	grid, err := loadGrid(t, text, nil, Overrides{ProduceRate: new(500.0)}, nil)
	if err != nil || grid[0].Search || grid[0].ProduceRate != 500 || grid[0].Validate() != nil {
		t.Errorf("%v: %+v", err, grid)
	}
}

// A flag in the place of a value leaves no note about that value, and no refusal of it.
func TestLoadUnderFlags(t *testing.T) {
	text := with("producerRate: 10000000", "consumerBacklogSizeGB: 100", "payloadFile: none")
	flags := Overrides{ProduceRate: new(500.0), Prefill: new(int64(1 << 20)), PayloadFile: new("testdata/lines.txt")}
	grid, err := loadGrid(t, text, nil, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := grid[0]
	if err := w.Validate(); err != nil || len(w.Notes) > 0 || w.ProduceRate != 500 || w.Prefill != 1<<20 || len(w.Payload) != 216 || w.DrainRatio != 1 {
		t.Errorf("%v: %+v", err, w)
	}
}

func TestLoadUnreadable(t *testing.T) {
	folder := t.TempDir()
	if _, err := LoadGrid(filepath.Join(folder, "none.yaml"), Overrides{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := LoadGrid(folder, Overrides{}, nil); err == nil || !strings.HasPrefix(err.Error(), "workload: ") {
		t.Errorf("folder: %v", err)
	}
	large := filepath.Join(folder, "large.yaml")
	if err := os.WriteFile(large, bytes.Repeat([]byte("#"), maxFile+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadGrid(large, Overrides{}, nil); err == nil || !strings.Contains(err.Error(), "larger than 16KiB") {
		t.Errorf("large file: %v", err)
	}
}

func TestLoadSkipsByteOrderMarkAndDirective(t *testing.T) {
	for _, head := range []string{"\ufeff", "%YAML 1.2\n---\n", "---\n"} {
		if _, err := loadText(t, head+smallFile, nil); err != nil {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestSlug(t *testing.T) {
	for path, want := range map[string]string{
		"a/simple-workload.yaml": "simple-workload",
		"My  Load (v1.2).yml":    "my-load-v1.2",
		"größe.yaml":             "gr-e",
		"日本.yaml":                "workload",
		".yaml":                  "workload",
		"x":                      "x",
	} {
		if got := slug(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
