package workload

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// ownWorkload is a workload file of our own: YAML whose keys are the flags without their dashes, with
// the values that the flags take. Where a flag takes a list, so does its key, as a YAML sequence or with
// commas. What it does not say is as in Default, or DefaultMix for a mix. Keys without a flag:
//
//	name           Name, instead of one made from the file's
//	title          Title
//	base           a preset to start from
//	subscriptions  Subscriptions; the consumers if absent
//	primary        Primary
//	strategies     Strategies
//
// A payload is looked for from the file's folder.
type ownWorkload struct {
	Overrides
	name, title, base, primary string
	strategies                 []string
}

// ownKey is one key of the format: whether it takes several values, and what is done with each.
type ownKey struct {
	name string
	list bool
	set  func(text string) error
}

func (f *ownWorkload) keys() []ownKey {
	one := func(name string, set func(string) error) ownKey { return ownKey{name, false, set} }
	many := func(name string, set func(string) error) ownKey { return ownKey{name, true, set} }
	return []ownKey{
		one("name", into(&f.name, parseFileName)),
		one("title", into(&f.title, parseAny)),
		one("base", into(&f.base, parseBase)),
		many("producers", appendTo(&f.Producers, ParseCount)),
		many("consumers", appendTo(&f.Consumers, ParseCount)),
		many("workers", appendTo(&f.Workers, ParseCount)),
		many("mix", appendTo(&f.ProducePercent, ParseMix)),
		one("partitions", given(&f.Partitions, ParseCount)),
		one("subscriptions", given(&f.Subscriptions, ParseCount)),
		one("record-size", given(&f.RecordSize, ParseRecordSize)),
		one("payload", given(&f.PayloadFile, parseAny)),
		one("batch-records", given(&f.BatchRecords, ParseCount)),
		one("fetch-bytes", given(&f.FetchBytes, ParseSize)),
		one("pattern", given(&f.Pattern, parseAny)),
		one("skew", given(&f.Skew, ParseSkew)),
		one("prefill", given(&f.Prefill, ParseSize)),
		one("produce-rate", given(&f.ProduceRate, ParseRate)),
		one("consume-rate", given(&f.ConsumeRate, ParseRate)),
		one("rate", given(&f.Rate, ParseRate)),
		one("arrivals", given(&f.Arrivals, parseAny)),
		one("burst", given(&f.Burst, ParseCount)),
		one("think", given(&f.Think, ParseTime)),
		one("replicas", given(&f.Replicas, ParseCount)),
		one("acks", given(&f.Acks, parseAny)),
		one("sync", given(&f.Sync, ParseSync)),
		one("segment-size", given(&f.SegmentSize, ParseSize)),
		one("max-bytes", given(&f.MaxBytes, ParseSize)),
		one("ramp", given(&f.Ramp, ParseTime)),
		one("duration", given(&f.Duration, ParseTime)),
		one("backlog", given(&f.Backlog, ParseSize)),
		one("drain", given(&f.DrainRatio, ParseShare)),
		one("find-max-rate", given(&f.Search, parseTruth)),
		many("slo", appendTo(&f.Objectives, ParseObjective)),
		one("primary", into(&f.primary, parseAny)),
		many("strategies", appendTo(&f.strategies, parseAny)),
	}
}

func into[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

func given[T any](to **T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		parsed, err := parse(text)
		*to = &parsed
		return err
	}
}

func appendTo[T comparable](to *[]T, parse func(string) (T, error)) func(string) error {
	return func(text string) error {
		parsed, err := parse(text)
		if err == nil && !slices.Contains(*to, parsed) {
			*to = append(*to, parsed)
		}
		return err
	}
}

func parseAny(text string) (string, error) {
	if text == "" {
		return "", fieldError("text", text, "empty; give a value, or leave the key out")
	}
	return text, nil
}

func parseFileName(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !isNameLetter(r) }) {
		return "", fieldError("name", text, "give letters, digits, -, _ and . only; free text goes under title")
	}
	if len(text) > MaxName {
		return "", nameTooLong(text)
	}
	return text, nil
}

func parseBase(text string) (string, error) {
	if _, err := Find(text); err != nil {
		names := presetNames()
		return "", fieldError("base", text, "no such workload; there are %s%s", strings.Join(names, ", "), Suggestion(text, names))
	}
	return text, nil
}

func parseTruth(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fieldError("truth", text, "give true or false")
	}
	return text == "true", nil
}

// read takes every key's value, in the order of the file, so that the first error is the topmost.
func (f *ownWorkload) read(m *mapping) error {
	keys := f.keys()
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, name := range m.keys {
		at := slices.Index(names, name)
		if at < 0 {
			// It may be meant for the other format, which none of its keys tells.
			for _, k := range (&ombWorkload{}).keys() {
				names = append(names, k.name)
			}
			return m.unknownKey(name, names)
		}
		values, err := m.values(name, keys[at].list)
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := keys[at].set(v.text); err != nil {
				return m.errorAt(v.at, name, "%s %s: %s", name, display(v.text), problemOf(err))
			}
		}
	}
	return nil
}

// problemOf is what a parser of a value finds wrong, without the value and its name.
func problemOf(err error) string {
	var field *FieldError
	if errors.As(err, &field) {
		return field.Problem
	}
	return oneLine(err.Error())
}

// parseOwn makes the workloads of a file of our own, with the flags in the place of what it says.
func parseOwn(m *mapping, path string, flags Overrides) ([]Workload, error) {
	var f ownWorkload
	if err := f.read(m); err != nil {
		return nil, err
	}
	reshaped := flags.shapes()
	f.complete(&flags)
	w := customBase(&flags)
	if f.base != "" {
		w, _ = Find(f.base) // parseBase has found it
	}
	w.Name = slug(path)
	if f.name != "" {
		w.Name = f.name
	}
	w.Title = shorten(oneLine(f.title))
	if len(f.strategies) > 0 {
		w.Strategies = f.strategies
	}
	switch {
	case flags.PayloadFile != nil:
		f.PayloadFile = nil
	case f.PayloadFile != nil && !filepath.IsAbs(*f.PayloadFile):
		*f.PayloadFile = filepath.Join(filepath.Dir(path), *f.PayloadFile)
	}
	if err := w.apply(&f.Overrides); err != nil {
		at := m.entries["payload"].value.GetToken() // nothing else can fail
		return nil, m.errorAt(at, "payload", "payload %s: %s", display(at.Value), problemOf(err))
	}
	grid, err := Grid(w, flags)
	if err != nil {
		return nil, err
	}
	switch {
	case f.primary != "" && !reshaped:
		setPrimary(grid, f.primary)
	case f.shapes() || reshaped:
		setPrimary(grid, grid[0].SuggestPrimary())
	}
	return grid, nil
}

// complete gives the flags what they do not say themselves and the file does: levels, which make
// combinations with those of the flags, and what goes with them.
func (f *ownWorkload) complete(flags *Overrides) {
	flags.Producers = levelsOf(flags.Producers, f.Producers)
	flags.Consumers = levelsOf(flags.Consumers, f.Consumers)
	flags.Workers = levelsOf(flags.Workers, f.Workers)
	flags.ProducePercent = levelsOf(flags.ProducePercent, f.ProducePercent)
	if flags.Subscriptions == nil {
		flags.Subscriptions = f.Subscriptions
	}
	if flags.DrainRatio == nil {
		flags.DrainRatio = f.DrainRatio
	}
}

func levelsOf[T any](given, own []T) []T {
	if len(given) == 0 {
		return own
	}
	return given
}
