package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// hosts are the machines that executed runs, by name.
func (s *Sweep) hosts() []string {
	var hosts []string
	for i := range s.Runs {
		if host := s.Runs[i].Host; host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// logsByHost are the logarithms of the ratios of an effect on each of the hosts.
func (s *Sweep) logsByHost(e *Effect, hosts []string) [][]float64 {
	cell, baseline := e.sides()
	pairs, _ := s.pairs(cell, baseline, e.Metric)
	logs := make([][]float64, len(hosts))
	for _, pair := range pairs {
		if at := slices.Index(hosts, pair.host); at >= 0 {
			logs[at] = append(logs[at], pair.log)
		}
	}
	return logs
}

// hostTable has the ratios of a section's effects on each host, where there are several; each interval is
// 95 % by itself.
func (s *Sweep) hostTable(section *Section) (Table, bool) {
	hosts := s.hosts()
	if len(hosts) < 2 || len(section.Effects) == 0 {
		return Table{}, false
	}
	t := Table{Title: "ratio by host", Detail: true}
	for _, host := range hosts {
		t.Columns = append(t.Columns, Column{Head: host, Left: true})
	}
	for i := range section.Effects {
		e := &section.Effects[i]
		t.Labels = append(t.Labels, e.Strategy)
		for at, logs := range s.logsByHost(e, hosts) {
			t.Columns[at].Cells = append(t.Columns[at].Cells, logInterval(logs, confidence).Text())
		}
	}
	return t, true
}

// hostChance is the probability below which hosts are said to differ.
const hostChance = 0.01

// hostWarnings say which effects differ between hosts by more than chance: then blocks are not
// independent draws of one ratio, and the interval over all of them is too narrow.
func (s *Sweep) hostWarnings(effects []Effect) []string {
	hosts := s.hosts()
	if len(hosts) < 2 {
		return nil
	}
	var warnings []string
	for i := range effects {
		e := &effects[i]
		logs := s.logsByHost(e, hosts)
		if p, ok := anova(logs); !ok || p >= hostChance {
			continue
		}
		var ratios []string
		for at, host := range hosts {
			if len(logs[at]) > 0 {
				ratios = append(ratios, fmt.Sprintf("%s on %s", FormatRatio(math.Exp(stat.Mean(logs[at], nil))), host))
			}
		}
		where := pointLabel(e.Point, s.points(e.Workload))
		warnings = append(warnings, fmt.Sprintf("%s%s: the ratio of `%s` to %s differs between hosts by more than chance, %s: its interval over all blocks is too narrow",
			e.Workload, parenthesis(where), e.Strategy, baselineName(e), strings.Join(ratios, ", ")))
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
