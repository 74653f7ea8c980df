package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Summary is a sweep in words and tables, ready to be shown: WriteTable, WriteSummary and the report
// of package plots all render it, so that they say the same. Its texts are plain, but for names between
// backquotes; a line break in one stands for a space.
type Summary struct {
	Title    string
	Headline string // how much was run, on which storage
	// Distrust says why the sweep is not to be trusted; "" if nothing speaks against it.
	Distrust string
	// Doubt says why its findings are not to be relied on although nothing proves them wrong; "" if nothing does.
	Doubt   string
	Answers []Answer
	// Verification says how many runs count and who else used the machine; after it, which runs failed.
	Verification []string
	Preflight    string
	Warnings     []string
	Sections     []Section
	Trends       []Trend  // in the order of Meta.Workloads
	Footnotes    []string // what the signs and intervals in the tables mean
	Reading      []string // how to read the numbers, and how not to
	Environment  []Fact
	Begun        string   // date and time, UTC
	Seed         string   // "seed 7"; "seeds 1, 2" where sweeps were merged
	Command      string   // as a POSIX shell takes it; a line for each of several parts
	Files        string   // what lies beside the summary, and what to do with it
	Sources      []Source // files that workloads came from
	Profiles     []string // which cells were profiled, and the file of each
	Settings     Table    // of the workloads; no rows if there are none
}

// Fact is something named.
type Fact struct{ Name, Value string }

// Summary returns the sweep in words and tables.
func (s *Sweep) Summary() Summary {
	x := s.index()
	effects := x.effects()
	sections, trends := x.sections(effects), x.trends(effects)
	return Summary{
		Title:        "tailrace: which concurrency model?",
		Headline:     x.headline(),
		Distrust:     x.sick,
		Doubt:        x.doubt(),
		Answers:      x.answers(sections, trends),
		Verification: s.verificationLines(),
		Preflight:    s.preflightLine(),
		Warnings:     slices.Concat(s.Meta.Warnings, s.Warnings, s.neighbours(), s.shortened(), x.hostWarnings(effects), s.runWarnings()),
		Sections:     sections,
		Trends:       trends,
		Footnotes:    s.footnotes(sections, effects),
		Reading:      reading(),
		Environment:  s.environment(),
		Begun:        s.begun(),
		Seed:         s.seedText(),
		Command:      s.commands(),
		Files: "`runs.jsonl` has every run, `bench.txt` the same for\n`benchstat -col /strategy bench.txt` " +
			"(in a clone of tailrace: `go tool benchstat`), `summary.csv` the\ncells, `latency/` the HdrHistogram log and the percentiles of each run, `omb/` the cells in the form of OpenMessaging Benchmark.",
		Sources:  s.Meta.Sources,
		Profiles: s.profiles(),
		Settings: s.settings(),
	}
}

// footnotes explain the signs in the tables, and what the intervals mean.
func (s *Sweep) footnotes(sections []Section, effects []Effect) []string {
	comparisons := max(s.Meta.Verdicts, len(effects))
	noun := "comparisons"
	if comparisons == 1 {
		noun = "comparison"
	}
	text := fmt.Sprintf("95 %% over %d planned %s, in this sweep.", comparisons, noun)
	if comparisons == 0 {
		text = "No comparison was planned."
		if len(s.Meta.Searches) > 0 {
			text = "A search makes no planned comparison."
		}
	}
	signs := make(map[Verdict]bool)
	for _, e := range effects {
		signs[e.Verdict] = true
	}
	if signs[Undecided] {
		text = undecidedSign + " no verdict, see the notes. " + text
	}
	if signs[NoDifference] {
		text = noDifferenceSign + " no difference found. " + text
	}
	notes := []string{text}
	if other := s.Meta.Against; other != nil {
		notes = append(notes, fmt.Sprintf("%s: %s, version %s, commit %s, %s.", other.Label, other.Binary, cmp.Or(other.Version, "unknown"), cmp.Or(other.Commit, "unknown"), other.Go))
	}
	if comparisons > 0 {
		notes = append(notes, "vs: geometric mean of the ratios within blocks, not ratio of medians · max: largest of all runs.")
	}
	if note := harnessNote(sections); note != "" {
		notes = append(notes, note)
	}
	if anyCell(sections, func(text string) bool { return strings.HasPrefix(text, boundSign) }) {
		notes = append(notes, fmt.Sprintf("%s at most: more than %s of it is the lateness of the load itself, without which it would be less.",
			boundSign, FormatPercent(LatenessShare)))
	}
	if anyCell(sections, func(text string) bool { return text == absent }) {
		notes = append(notes, fmt.Sprintf("%s no number: fewer than %d samples beyond it, or overload.", absent, SamplesBeyond))
	}
	return notes
}

// anyCell reports whether a cell of any table is such.
func anyCell(sections []Section, such func(text string) bool) bool {
	for _, section := range sections {
		for _, t := range section.Tables {
			for _, column := range t.Columns {
				if slices.ContainsFunc(column.Cells, such) {
					return true
				}
			}
		}
	}
	return false
}

// reading says what the numbers mean, and what they don't.
func reading() []string {
	return []string{
		`Numbers of a strategy are medians over its valid runs, "max" is the largest of all. "vs" is the geometric mean, over the blocks, of the
ratio to the baseline in the same block, with Student's t interval on the logarithms.`,
		`Only planned comparisons have a verdict, and it holds for this sweep: this machine, these workloads.`,
		`The A/A arm is the baseline under a second name. If its interval excludes 1, the sweep sees differences
where there are none, and nothing in it is to be trusted. Its interval is 95 % by itself, not corrected for
the number of comparisons: one sound sweep in twenty raises this alarm.`,
		`"of raw" is the share of what the same store does when its clients share nothing. It is a limit for models
that only protect; one that works for several clients at once, as an owner does that writes what is queued
with one call, can pass it.`,
		`Service time is the time from the start of a call to its end. In a closed loop, where the next call waits for
the last one, its percentiles are not what a client that arrives at its own time would see: they leave out
the wait for a slow call before it (coordinated omission), and rank nothing.`,
		`From the intended time: the time from when the call was due, whether or not it could start then.`,
		`What each idea bought, what is given up, and changes of order that are no planned comparison are descriptions: their intervals
hold for a column or an axis, or, where something is called the best, by themselves, and give no verdict.`,
		`A change of order lies between two tested points, and nothing finer is known. A scaling law (N. J. Gunther's) is fitted only to five
levels or more within the processors; beyond them, goroutines wait in line.`,
		`CPU/op is the processor time of the whole run over its operations, harness included; where the load is
paced, most of it is the busy waiting of the generator for the moment at which a call is due.`,
	}
}

// settings are what each run of a workload did before and while it was measured.
func (s *Sweep) settings() Table {
	t := Table{Title: "workload"}
	columns := []Column{{Head: "primary metric", Left: true}, {Head: "ramp"}, {Head: "window"}, {Head: "prefill"}, {Head: "segment size"}}
	for _, w := range s.Meta.Workloads {
		t.Labels = append(t.Labels, w.Name)
		for i, text := range []string{
			s.primary(w.Name), FormatDuration(w.Ramp), FormatDuration(w.Duration),
			FormatBytes(float64(w.Prefill)), FormatBytes(float64(w.SegmentSize)),
		} {
			columns[i].Cells = append(columns[i].Cells, text)
		}
	}
	t.Columns = columns
	return t
}
