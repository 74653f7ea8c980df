package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// session is an occasion on which a machine executed runs.
type session struct {
	host  string
	began int64 // nanoseconds since 1970; 0 where only hosts are told apart
}

func (r *Run) session() session {
	if r.Session.IsZero() {
		return session{host: r.Host}
	}
	return session{r.Host, r.Session.UnixNano()}
}

// label is the host, with the time where several sessions are its own.
func (s session) label(all []session) string {
	host := cmp.Or(s.host, "unknown")
	other := func(o session) bool { return o.host == s.host && o != s }
	if !slices.ContainsFunc(all, other) {
		return host
	}
	return host + " " + time.Unix(0, s.began).UTC().Format(time.DateTime)
}

// sessions are those of the runs, by host and time; none if it is not known who executed them.
func (s *Sweep) sessions() []session {
	var found []session
	for i := range s.Runs {
		if of := s.Runs[i].session(); of != (session{}) && !slices.Contains(found, of) {
			found = append(found, of)
		}
	}
	slices.SortFunc(found, func(a, b session) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.began, b.began))
	})
	return found
}

// factorName is what sessions are: hosts, if each host has one.
func factorName(sessions []session) string {
	for i, s := range sessions {
		if i > 0 && s.host == sessions[i-1].host {
			return "session"
		}
	}
	return "host"
}

// logsBySession are the logarithms of the ratios of an effect in each of the sessions.
func (s *index) logsBySession(e *Effect) [][]float64 {
	cell, baseline := e.sides()
	pairs, _ := s.pairs(cell, baseline, ofMetric(e.Metric))
	logs := make([][]float64, len(s.sessions))
	for _, pair := range pairs {
		if at := slices.Index(s.sessions, pair.session); at >= 0 {
			logs[at] = append(logs[at], pair.log)
		}
	}
	return logs
}

// hostTable has the ratios of a section's effects on each host, or in each session, where there are several;
// each interval is 95 % by itself.
func (s *index) hostTable(section *Section) (Table, bool) {
	sessions := s.sessions
	if len(sessions) < 2 || len(section.Effects) == 0 {
		return Table{}, false
	}
	t := Table{Title: "ratio by " + factorName(sessions), Detail: true}
	for _, one := range sessions {
		t.Columns = append(t.Columns, Column{Head: one.label(sessions), Left: true})
	}
	for i := range section.Effects {
		e := &section.Effects[i]
		t.Labels = append(t.Labels, e.Strategy)
		for at, logs := range s.logsBySession(e) {
			t.Columns[at].Cells = append(t.Columns[at].Cells, logInterval(logs, confidence).Text())
		}
	}
	return t, true
}

// sessionChance is the probability below which sessions are said to differ, over all effects of a sweep together.
const sessionChance = 0.01

// hostWarnings say which effects differ between hosts, or sessions, by more than chance: then blocks are not
// independent draws of one ratio, and the interval over all of them is too narrow.
func (s *index) hostWarnings(effects []Effect) []string {
	sessions := s.sessions
	if len(sessions) < 2 {
		return nil
	}
	preposition := map[string]string{"host": "on", "session": "in"}
	factor := factorName(sessions)
	var warnings []string
	for i := range effects {
		e := &effects[i]
		logs := s.logsBySession(e)
		if p, ok := anova(logs); !ok || p >= sessionChance/float64(len(effects)) {
			continue
		}
		var ratios []string
		for at, one := range sessions {
			if len(logs[at]) > 0 {
				ratios = append(ratios, fmt.Sprintf("%s %s %s", FormatRatio(math.Exp(stat.Mean(logs[at], nil))), preposition[factor], one.label(sessions)))
			}
		}
		where := s.pointLabel(e.Point)
		warnings = append(warnings, fmt.Sprintf("%s%s: the ratio of `%s` to %s differs between %ss by more than chance, %s: its interval over all blocks is too narrow",
			e.Workload, parenthesis(where), e.Strategy, baselineName(e), factor, strings.Join(ratios, ", ")))
	}
	return warnings
}

// anova returns the probability that groups of values with one mean and one variance differ as these do, or
// more: the F test of a one-way analysis of variance (NIST/SEMATECH e-Handbook of Statistical Methods,
// 7.4.3). It is false with fewer than two groups that have values, or no more values than groups.
func anova(groups [][]float64) (p float64, ok bool) {
	var all []float64
	k, within := 0, 0.0
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		k++
		all = append(all, group...)
		mean := stat.Mean(group, nil)
		for _, v := range group {
			within += (v - mean) * (v - mean)
		}
	}
	if k < 2 || len(all) <= k {
		return 0, false
	}
	between, grand := 0.0, stat.Mean(all, nil)
	for _, group := range groups {
		if len(group) > 0 {
			d := stat.Mean(group, nil) - grand
			between += float64(len(group)) * d * d
		}
	}
	d1, d2 := float64(k-1), float64(len(all)-k)
	if within == 0 {
		if between == 0 {
			return 1, true
		}
		return 0, true
	}
	return distuv.F{D1: d1, D2: d2}.Survival(between / d1 / (within / d2)), true
}
