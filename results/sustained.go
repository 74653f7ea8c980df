package results

import (
	"fmt"
	"slices"
	"strings"
)

// sustainedNotes say what the cells of sustained runs held and gave back: medians over their valid runs,
// of what grows the most.
func (s *index) sustainedNotes(section *Section) []string {
	var notes []string
	for i := range section.Cells {
		cell := section.Cells[i].Cell
		var held, trimmed, verified []float64
		var most [5]int64
		for _, run := range s.runs[cell] {
			kept := run.Sustained
			if !run.Valid() || kept == nil {
				continue
			}
			held = append(held, kept.Held)
			trimmed = append(trimmed, float64(kept.Trimmed))
			verified = append(verified, float64(kept.Verified))
			for k, r := range []Range{kept.Unread, kept.Bytes, kept.Files, kept.Maps, kept.RSS} {
				most[k] = max(most[k], r.Most)
			}
		}
		if len(held) > 0 {
			notes = append(notes, cell.Label()+": "+sustainedWords(median(held), median(trimmed), median(verified), most))
		}
	}
	return notes
}

// median returns the median of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return Median(values)
}

func sustainedWords(held, trimmed, verified float64, most [5]int64) string {
	parts := []string{
		fmt.Sprintf("held producers for %s of the window", FormatPercent(held)),
		fmt.Sprintf("trimmed %s segments with %s records, all verified before", formatCount(trimmed), formatCount(verified)),
	}
	if trimmed == 0 {
		parts[1] = "trimmed no segment"
	}
	bytes := func(v int64) string { return FormatBytes(float64(v)) }
	count := func(v int64) string { return formatCount(float64(v)) }
	var limits []string
	for i, text := range []string{
		bytes(most[0]) + " unread", bytes(most[1]) + " of log", count(most[2]) + " open files", count(most[3]) + " memory maps", bytes(most[4]) + " of memory",
	} {
		if most[i] > 0 {
			limits = append(limits, text)
		}
	}
	if len(limits) > 0 {
		parts = append(parts, "at most "+strings.Join(limits, ", "))
	}
	return strings.Join(parts, "; ")
}
