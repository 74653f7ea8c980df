package claims

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// The page on the claims says what the runs found that it is about, and those were judged by these rules.
func TestReference(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "claims.md"))
	if err != nil {
		t.Fatal(err)
	}
	for dir, names := range map[string][]string{"claims": Names(), "claims-long": {"rwmutex-writes-block", "actor-reads"}, "claims-starves": {"rwmutex-starves"}} {
		t.Run(dir, func(t *testing.T) {
			reference, err := results.LoadClaims(filepath.Join("..", "results", dir))
			if err != nil {
				t.Fatal(err)
			}
			if reference.Quick {
				t.Error("the run is a quick one")
			}
			rules, err := choose(names)
			if err != nil {
				t.Fatal(err)
			}
			if len(reference.Claims) != len(rules) {
				t.Fatalf("%d claims, there are %d rules", len(reference.Claims), len(rules))
			}
			for i := range reference.Claims {
				checkReference(t, &reference.Claims[i], &rules[i].Claim, string(page))
			}
		})
	}
}

// droppedFigures are those that the recorded runs had conditions on, which the rules no longer have.
var droppedFigures = map[string][]string{"actor-complex": {"actor-hidden"}}

// checkReference wants a claim to be that of a rule, with the verdict that its own figures give. The page says the
// verdict by the rule as it is.
func checkReference(t *testing.T, c, rule *results.Claim, page string) {
	t.Helper()
	judged := *c
	judge(&judged)
	if judged.Verdict != c.Verdict {
		t.Errorf("%s: %s, by its own figures %s", c.Name, c.Verdict, judged.Verdict)
	}
	judged.Conditions = slices.DeleteFunc(slices.Clone(c.Conditions), func(d results.Condition) bool {
		return slices.Contains(droppedFigures[c.Name], d.Figure)
	})
	if c.Name != rule.Name || c.Sentence != rule.Sentence || len(judged.Conditions) != len(rule.Conditions) {
		t.Errorf("%s is not the claim of the rule %s", c.Name, rule.Name)
		return
	}
	for j, condition := range judged.Conditions {
		want := rule.Conditions[j]
		if condition.Figure != want.Figure || !sameBound(condition.AtLeast, want.AtLeast) || !sameBound(condition.AtMost, want.AtMost) || condition.Premise != want.Premise {
			t.Errorf("%s: the condition on %s is not the rule's", c.Name, condition.Figure)
		}
	}
	judge(&judged)
	if row := "| `" + c.Name + "` | " + string(judged.Verdict) + " |"; !strings.Contains(page, row) {
		t.Errorf("docs/claims.md has no row %q", row)
	}
}

func sameBound(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
