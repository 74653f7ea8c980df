package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

func TestClaimsGolden(t *testing.T) {
	c := resultstest.Claims()
	for name, write := range map[string]func(io.Writer) error{
		"claims":          c.WriteMarkdown,
		"claims-json":     c.WriteJSON,
		"claims-table":    func(w io.Writer) error { return c.WriteTable(w, 0) },
		"claims-table-80": func(w io.Writer) error { return c.WriteTable(w, 80) },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s:\n%s", path, got.String())
			}
		})
	}
}

func TestClaimsTableFitsATerminal(t *testing.T) {
	for _, columns := range []int{80, 100, 140} {
		var out bytes.Buffer
		if err := resultstest.Claims().WriteTable(&out, columns); err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(out.String(), "\n\n")
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			if n := len([]rune(line)) - 1; n > columns {
				t.Errorf("%d characters in %d columns: %s", n, columns, line)
			}
		}
		if strings.Contains(out.String(), "`") {
			t.Errorf("a backquote on a terminal:\n%s", out.String())
		}
	}
}

// same is DeepEqual with NaN equal to itself, and infinite numbers as they are read again.
func sameClaims(t *testing.T, got, want *results.Claims) {
	t.Helper()
	for i := range want.Claims {
		for j := range want.Claims[i].Figures {
			a, b := &got.Claims[i].Figures[j], &want.Claims[i].Figures[j]
			for _, pair := range [][2]*float64{{&a.Value, &b.Value}, {&a.Low, &b.Low}, {&a.High, &b.High}} {
				if math.IsNaN(*pair[1]) || math.IsInf(*pair[1], 0) {
					if !math.IsNaN(*pair[0]) {
						t.Errorf("%s is read as %g", b.Name, *pair[0])
					}
					*pair[0], *pair[1] = 0, 0
				}
			}
		}
		got.Claims[i].Conditions = append([]results.Condition{}, got.Claims[i].Conditions...)
		want.Claims[i].Conditions = append([]results.Condition{}, want.Claims[i].Conditions...)
		got.Claims[i].Figures = append([]results.Figure{}, got.Claims[i].Figures...)
		want.Claims[i].Figures = append([]results.Figure{}, want.Claims[i].Figures...)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwritten\n%+v", got, want)
	}
}

func TestClaimsAreReadAgain(t *testing.T) {
	dir := filepath.Join(tempDir(t), "new", "folder")
	c := resultstest.Claims()
	for range 2 { // the second time over the files of the first
		if err := c.WriteFiles(dir); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "claims.json" || entries[1].Name() != "claims.md" {
		t.Errorf("files %v (%v)", entries, err)
	}
	got, err := results.LoadClaims(dir)
	if err != nil {
		t.Fatal(err)
	}
	sameClaims(t, got, resultstest.Claims())
}

func TestNothingOfWritingClaimsChangesThem(t *testing.T) {
	c := &results.Claims{Claims: []results.Claim{{Name: "a", Verdict: results.NotMeasured}}}
	if err := c.WriteJSON(io.Discard); err != nil {
		t.Fatal(err)
	}
	if c.Schema != 0 || c.Claims[0].Conditions != nil || c.Claims[0].Figures != nil {
		t.Errorf("%+v", c)
	}
}

func TestBadClaims(t *testing.T) {
	const claim = `{"name":"a","verdict":"holds"}`
	schema := func(claims string) string {
		return `{"schema":` + string(must(json.Marshal(results.Schema))) + `,"claims":[` + claims + `]}`
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":        {"", "unexpected end"},
		"half":           {schema(claim)[:20], "unexpected end"},
		"another schema": {`{"schema":999}`, "unknown schema version 999"},
		"no schema":      {`{}`, "unknown schema version 0"},
		"other verdict":  {schema(`{"name":"a","verdict":"perhaps"}`), `verdict "perhaps"`},
		"no verdict":     {schema(`{"name":"a"}`), `verdict ""`},
		"no name":        {schema(`{"verdict":"holds"}`), "name"},
		"twice":          {schema(claim + "," + claim), `name "a"`},
		"no bound":       {schema(`{"name":"a","verdict":"holds","conditions":[{"figure":"f"}]}`), "condition on f"},
		"two bounds":     {schema(`{"name":"a","verdict":"holds","conditions":[{"figure":"f","at_least":1,"at_most":2}]}`), "condition on f"},
		"number as text": {schema(`{"name":"a","verdict":"holds","figures":[{"value":"1"}]}`), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			write(t, filepath.Join(dir, "claims.json"), test.text)
			c, err := results.LoadClaims(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("claims %v, error %v, want %q", c, err, test.want)
			}
			if of := strings.HasSuffix(name, "schema"); of != errors.Is(err, results.ErrSchema) {
				t.Errorf("error %v, of the schema: %v", err, of)
			}
		})
	}
	if _, err := results.LoadClaims(tempDir(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v without a file", err)
	}
	dir := tempDir(t)
	write(t, filepath.Join(dir, "claims.json"), schema(claim))
	if c, err := results.LoadClaims(dir); err != nil || len(c.Claims) != 1 {
		t.Errorf("claims %v (%v)", c, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestClaimsThatCannotBeWritten(t *testing.T) {
	dir := tempDir(t)
	write(t, filepath.Join(dir, "file"), "")
	if err := resultstest.Claims().WriteFiles(filepath.Join(dir, "file")); err == nil || !strings.HasPrefix(err.Error(), "results: ") {
		t.Errorf("error %v where a file is in the way", err)
	}
	c := resultstest.Claims()
	c.Claims[0].Conditions[0].AtLeast = new(float64)
	*c.Claims[0].Conditions[0].AtLeast = math.NaN()
	if err := c.WriteFiles(dir); err == nil {
		t.Error("a bound that is no number was written")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestValueTextsOfFigures(t *testing.T) {
	nan := math.NaN()
	for want, f := range map[string]results.Figure{
		"1.94× (1.53–2.46)":            {Unit: "×", Value: 1.94, Low: 1.53, High: 2.46},
		"84 ns (80 ns–91 ns)":          {Unit: "s", Value: 84e-9, Low: 80e-9, High: 91e-9},
		"0.012 (0.01–0.02) per append": {Unit: "per append", Value: 0.012, Low: 0.01, High: 0.02},
		"3":                            {Value: 3, Low: 3, High: 3},
		"12345":                        {Value: 12345, Low: 12345, High: 12345},
		"2453":                         {Value: 2452.6, Low: 2452.6, High: 2452.6},
		"11600 (10200–13200) 1/s":      {Unit: "1/s", Value: 11600.3, Low: 10200.1, High: 13199.7},
		"–":                            {Unit: "s", Value: nan, Low: nan, High: nan},
		"2.00× without an interval":    {Unit: "×", Value: 2, Low: nan, High: nan},
		"0.5 (0.25–0.75)":              {Value: 0.5, Low: 0.25, High: 0.75},
	} {
		if got := f.ValueText(); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}

func TestNoClaims(t *testing.T) {
	for _, c := range []*results.Claims{{}, {Claims: []results.Claim{{}}}} {
		for name, write := range map[string]func(io.Writer) error{
			"table": func(w io.Writer) error { return c.WriteTable(w, 1) }, "markdown": c.WriteMarkdown, "json": c.WriteJSON,
		} {
			var out bytes.Buffer
			if err := write(&out); err != nil || out.Len() == 0 || strings.Contains(out.String(), "%!") {
				t.Errorf("%s: %v\n%s", name, err, out.String())
			}
		}
	}
}
