package results

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Names of the files of claims.
const (
	claimsFile     = "claims.json"
	claimsMarkdown = "claims.md"
)

// numbers are a figure without its methods, and with what JSON can hold.
type numbers struct {
	Name   string   `json:"name"`
	Text   string   `json:"text"`
	Unit   string   `json:"unit"`
	Value  *float64 `json:"value"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Blocks int      `json:"blocks"`
}

// MarshalJSON writes what is no finite number as null.
func (f Figure) MarshalJSON() ([]byte, error) {
	return json.Marshal(numbers{f.Name, f.Text, f.Unit, finite(f.Value), finite(f.Low), finite(f.High), f.Blocks})
}

// UnmarshalJSON reads null, and a number that is missing, as NaN.
func (f *Figure) UnmarshalJSON(text []byte) error {
	var n numbers
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	number := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	*f = Figure{n.Name, n.Text, n.Unit, number(n.Value), number(n.Low), number(n.High), n.Blocks}
	return nil
}

// WriteJSON writes the claims as one JSON object: claims.json. Figures that are no finite numbers are null.
func (c *Claims) WriteJSON(w io.Writer) error {
	document := *c
	document.Schema = Schema
	document.Claims = slices.Clone(c.Claims)
	for i := range document.Claims {
		of := &document.Claims[i]
		of.Conditions = append([]Condition{}, of.Conditions...)
		of.Figures = append([]Figure{}, of.Figures...)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(&document); err != nil {
		return fmt.Errorf("results: claims: %w", err)
	}
	return nil
}

// LoadClaims reads claims.json in a directory. The error wraps fs.ErrNotExist where there is none, and ErrSchema
// where another version wrote it.
func LoadClaims(dir string) (*Claims, error) {
	path := filepath.Join(dir, claimsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	var c Claims
	if err = unmarshalSchema(text, &c); err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("results: %s: %w", path, err)
	}
	return &c, nil
}

// check refuses what no version writes.
func (c *Claims) check() error {
	names := make(map[string]bool)
	for i := range c.Claims {
		of := &c.Claims[i]
		if of.Name == "" || names[of.Name] {
			return fmt.Errorf("claim %d has the name %q, which has to be there, and once", i, of.Name)
		}
		names[of.Name] = true
		if !slices.Contains(claimVerdicts, of.Verdict) {
			return fmt.Errorf("claim %s: verdict %q", of.Name, of.Verdict)
		}
		for _, d := range of.Conditions {
			if (d.AtLeast == nil) == (d.AtMost == nil) {
				return fmt.Errorf("claim %s: condition on %s: one bound is needed", of.Name, d.Figure)
			}
		}
	}
	return nil
}

// WriteFiles writes claims.json and claims.md into a directory, which it makes where it is missing. Each file is
// replaced as a whole.
func (c *Claims) WriteFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{claimsFile, c.WriteJSON}, {claimsMarkdown, c.WriteMarkdown}} {
		if err := ReplaceFile(filepath.Join(dir, file.name), file.write); err != nil {
			return fmt.Errorf("results: write %s: %w", file.name, err)
		}
	}
	return nil
}
