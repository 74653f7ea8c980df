package torture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tailrace/strategies"
)

const (
	// mutationVariable names the file that TestMutation writes.
	mutationVariable = "TAILRACE_MUTATION"
	// mutationRecord is the one in the repository.
	mutationRecord = "../../claims/mutants.json"

	mutationSample = 90 // mutants of a strategy, at most
	mutationSeed   = 1  // of the sample, and the first of the checker's rounds
	mutationTime   = 10 * time.Second
	controlTime    = 20 * time.Second // of the checker on the strategy as it is
	atOnce         = 2
)

// coreStrategies are those that are mutated.
var coreStrategies = []string{"mutex", "rwmutex", "atomics", "actor"}

// mutationResults is the record.
type mutationResults struct {
	Go             string           `json:"go"`
	Seed           uint64           `json:"seed"`
	CheckerSeconds float64          `json:"checker_seconds"` // that the checker had for each mutant, in all its rounds
	Strategies     []mutationResult `json:"strategies"`
}

// mutationResult is what became of the mutants of one strategy.
type mutationResult struct {
	Strategy string `json:"strategy"`
	Digest   string `json:"digest"` // of its source: digest
	Possible int    `json:"possible"`
	// Mutants were tried: the sum of the four below.
	Mutants   int `json:"mutants"`
	Rejected  int `json:"rejected"`   // by the compiler or go vet
	OneClient int `json:"one_client"` // found without any concurrent call
	Checker   int `json:"checker"`    // found by the concurrent checker alone
	Survived  int `json:"survived"`   // found by neither, or no fault at all

	FoundByChecker []mutantFound `json:"found_by_checker"`
	Survivors      []string      `json:"survivors"`
}

type mutantFound struct {
	Name  string `json:"name"`
	Check string `json:"check"`
	Hung  bool   `json:"hung,omitempty"` // a call did not return
}

func (r *mutationResults) write(path string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// mutationsOf are all mutants of a strategy.
func mutationsOf(strategy string) ([]mutation, error) {
	var all []mutation
	for _, file := range strategies.SourceFiles(strategy) {
		text, err := fs.ReadFile(strategies.Sources(), file)
		if err != nil {
			return nil, err
		}
		made, err := mutations(file, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// digest is that of the tokens of a strategy's source: neither comments nor the layout are in it.
func digest(strategy string) (string, error) {
	hash := sha256.New()
	for _, name := range strategies.SourceFiles(strategy) {
		text, err := fs.ReadFile(strategies.Sources(), name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, name)
		hash.Write(tokens(text))
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// tokens are those of a Go file, one a line.
func tokens(text []byte) []byte {
	var all bytes.Buffer
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		_, t, literal := s.Scan()
		switch {
		case t == token.EOF:
			return all.Bytes()
		case t == token.SEMICOLON:
			literal = "" // written or not
		}
		fmt.Fprintf(&all, "%v %q\n", t, literal)
	}
}

func TestTokens(t *testing.T) {
	same := [][]byte{
		[]byte("package p\n\n// F does.\nfunc f() {\n\tg() // it\n}\n"),
		[]byte("package p\nfunc f() {\ng();\n\n}\n"),
	}
	if a, b := tokens(same[0]), tokens(same[1]); !bytes.Equal(a, b) {
		t.Errorf("%s is not %s", a, b)
	}
	if a, b := tokens(same[0]), tokens([]byte("package p\nfunc f() { h() }\n")); bytes.Equal(a, b) {
		t.Error("another call is the same")
	}
}

// The files that are mutated are all that the program knows of the core strategies.
func TestMutatedFiles(t *testing.T) {
	var mutated []string
	for _, name := range coreStrategies {
		if s, err := strategies.Find(name); err != nil || s.Kind != strategies.Core {
			t.Errorf("%s: %v, kind %v", name, err, s.Kind)
		}
		mutated = append(mutated, strategies.SourceFiles(name)...)
	}
	there, err := fs.Glob(strategies.Sources(), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(mutated)
	if !slices.Equal(mutated, there) {
		t.Errorf("mutated are %v, and the sources %v", mutated, there)
	}
}

// The record is of the strategies as they are, and is what the documentation says.
func TestMutationRecord(t *testing.T) {
	text, err := os.ReadFile(mutationRecord)
	if err != nil {
		t.Fatal(err)
	}
	var record mutationResults
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range record.Strategies {
		row := fmt.Sprintf("| `%s` | %d of %d | %d | %d | %d | %d |\n",
			r.Strategy, r.Mutants, r.Possible, r.Rejected, r.OneClient, r.Checker, r.Survived)
		if !strings.Contains(string(table), row) {
			t.Errorf("docs/checks.md has no row %s", row)
		}
		names = append(names, r.Strategy)
		want, err := digest(r.Strategy)
		if err != nil {
			t.Fatal(err)
		}
		if r.Digest != want {
			t.Errorf("claims/mutants.json is of another source of %s: run make mutants", r.Strategy)
		}
		if r.Mutants == 0 || r.Mutants > r.Possible || r.Mutants != r.Rejected+r.OneClient+r.Checker+r.Survived ||
			r.Checker != len(r.FoundByChecker) || r.Survived != len(r.Survivors) {
			t.Errorf("%s: the numbers do not add up: %+v", r.Strategy, r)
		}
	}
	if !slices.Equal(names, coreStrategies) {
		t.Errorf("the record is of %v, want %v", names, coreStrategies)
	}
}
