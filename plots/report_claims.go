package plots

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"tailrace/results"
)

// reportClaims is the chapter on the claims of the article.
type reportClaims struct {
	Headline, Rule string
	Origin         string
	Warnings       []string
	Table          *pageTable
	Claims         []reportClaim
}

// reportClaim is one claim with all that its verdict rests on.
type reportClaim struct {
	results.Claim
	ID     string
	Tried  string // experiment and finding, as sentences; "" for none
	Found  string
	Tables []*pageTable
	Charts []pageChart
}

// newReportClaims reads the claims that were tested beside a sweep. It is nil where there are none.
func newReportClaims(dir string) (*reportClaims, error) {
	if dir == "" {
		return nil, nil
	}
	claims, err := results.LoadClaims(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &reportClaims{
		Headline: claims.Headline(), Rule: results.ClaimsRule, Warnings: claims.Warnings,
		Origin: fmt.Sprintf("`%s`, seed %d, on %s", claims.CommandText(), claims.Seed, claims.Environment.CPUModel),
		Table: &pageTable{
			Label: "verdicts on the claims of the article", Caption: "What became of each claim.", Corner: "claim",
			Heads: []pageHead{{"verdict", true}, {"finding", true}}, Sortable: len(claims.Claims) > 1,
		},
	}
	for i := range claims.Claims {
		c := reportClaim{Claim: claims.Claims[i], ID: fmt.Sprintf("claim-%d", i+1)}
		c.Tried, c.Found = ended(c.Experiment), ended(c.FindingText())
		r.Table.Rows = append(r.Table.Rows, pageRow{Label: c.Name, Link: c.ID, Cells: []pageCell{
			{Text: string(c.Verdict), Class: "left"}, {Text: c.FindingText(), Class: "left prose"},
		}})
		if len(c.Conditions) > 0 {
			c.Tables = append(c.Tables, claimTable(c.Name, "The rule, fixed before anything was measured.", c.RuleTable()))
			chart, err := ClaimChart(&c.Claim)
			if err != nil {
				return nil, err
			}
			c.Charts = pick([]Chart{chart}, func(*Chart) bool { return true })
		}
		if len(c.Figures) > 0 {
			c.Tables = append(c.Tables, claimTable(c.Name, "What was measured.", c.FigureTable()))
		}
		r.Claims = append(r.Claims, c)
	}
	return r, nil
}

// ended is a text with the full stop of a sentence.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// claimTable is a table of sentences: what its rows say comes last in package results, and is long.
func claimTable(claim, caption string, t results.Table) *pageTable {
	about := results.Table{Columns: append(append([]results.Column{}, t.Columns[1:]...), results.Column{Head: t.Title, Cells: t.Labels, Left: true})}
	about.Labels = make([]string, len(t.Labels))
	for i, name := range t.Columns[0].Cells {
		about.Labels[i] = plain(name)
	}
	return newTable(claim, caption, t.Columns[0].Head, about)
}
