package plots

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// claimsDir is a directory with claims.json.
func claimsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := resultstest.Claims().WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGoldenClaims(t *testing.T) {
	t.Parallel()
	claims := resultstest.Claims()
	for i := range claims.Claims {
		of := &claims.Claims[i]
		t.Run(of.Name, func(t *testing.T) {
			c := within(t, func() (Chart, error) { return ClaimChart(of) })
			if len(of.Conditions) == 0 {
				if !bytes.Contains(c.SVG, []byte(noFigure)) {
					t.Errorf("the chart of no rule does not say %q", noFigure)
				}
				return
			}
			checkChart(t, c)
			checkLegible(t, c)
			if c.Kind != KindClaim {
				t.Errorf("the chart is a %s", c.Kind)
			}
			golden(t, c)
		})
	}
}

// Met, not met and open are told in words too, and by shapes.
func TestOutcomesDifferInGrey(t *testing.T) {
	shapes := make(map[string]string)
	for outcome, style := range outcomeStyles {
		shape := fmt.Sprint(style.Marker)
		if other, taken := shapes[shape]; taken {
			t.Errorf("%s and %s have one marker", outcome, other)
		}
		shapes[shape] = outcome
	}
	c, err := ClaimChart(&resultstest.Claims().Claims[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">≥ 0.1 per operation: not met<", ">≥ 0.1 per operation: open<", ">≥ 1.50×: met<", ">0.012 (0.011–0.0134) per operation<"} {
		if !bytes.Contains(c.SVG, []byte(want)) {
			t.Errorf("%q is not in the chart", want)
		}
	}
	if want := "the processor time is half as much again, ≥ 1.50×: 2.10× (1.90–2.30), met."; !strings.HasSuffix(c.Alt, want) {
		t.Errorf("alt %q, want %q at its end", c.Alt, want)
	}
}

func TestClaimsOfBadValues(t *testing.T) {
	long(t)
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -3, math.MaxFloat64, math.SmallestNonzeroFloat64, 1} {
		for name, edit := range map[string]func(f *results.Figure, d *results.Condition){
			"value": func(f *results.Figure, _ *results.Condition) { f.Value = v },
			"low":   func(f *results.Figure, _ *results.Condition) { f.Low = v },
			"high":  func(f *results.Figure, _ *results.Condition) { f.High = v },
			"all":   func(f *results.Figure, _ *results.Condition) { f.Value, f.Low, f.High = v, v, v },
			"bound": func(_ *results.Figure, d *results.Condition) { d.AtLeast, d.AtMost = &v, nil },
		} {
			claims := resultstest.Claims()
			of := &claims.Claims[1]
			for i := range of.Conditions {
				edit(of.Figure(of.Conditions[i].Figure), &of.Conditions[i])
			}
			c := within(t, func() (Chart, error) { return ClaimChart(of) })
			checkChart(t, c)
			checkLegible(t, c)
			if t.Failed() {
				t.Fatalf("%s %g", name, v)
			}
		}
	}
	of := &resultstest.Claims().Claims[0]
	of.Figures = nil
	c := within(t, func() (Chart, error) { return ClaimChart(of) })
	checkChart(t, c)
	if !bytes.Contains(c.SVG, []byte(noFigure)) {
		t.Errorf("the chart of no figures does not say %q", noFigure)
	}
	of.Conditions[0] = results.Condition{Figure: "no bound " + strings.Repeat("and a long name ", 9)}
	of.Figures = []results.Figure{{Name: of.Conditions[1].Figure, Unit: "×", Value: 2, Low: 1, High: 3}}
	c = within(t, func() (Chart, error) { return ClaimChart(of) })
	checkChart(t, c)
	checkLegible(t, c)
}

func TestReportOfClaims(t *testing.T) {
	t.Parallel()
	s := inMemory(2, nil)
	page := func() string {
		content, err := os.ReadFile(writePage(t, s, nil))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for _, dir := range []string{"", t.TempDir()} {
		s.Dir = dir
		if strings.Contains(page(), "on trial") {
			t.Errorf("a chapter on claims without any in %q", dir)
		}
	}
	s.Dir = claimsDir(t)
	text := page()
	for _, want := range []string{
		`<a href="#claims">the article on trial</a>`, "5 claims: 1 holds, 1 holds in part,", `<a href="#claim-2">kernel</a>`,
		"readers in closed loops under <code>mutex</code> and <code>raw</code>.", "<code>tailrace claims --seed 7</code>",
		"Go&#39;s atomics have one ordering | sequentially consistent.", `<details class="more" id="claim-5">`, "<strong>Reads never wait.</strong>", "<li>virtual machine</li>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if got := strings.Count(text, "times the bound"); got != 4 {
		t.Errorf("%d charts of claims, want 4", got)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "claims.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(s, nil, filepath.Join(t.TempDir(), "report.html")); err == nil || !strings.Contains(err.Error(), "claims.json") {
		t.Errorf("error %v of damaged claims", err)
	}
}
