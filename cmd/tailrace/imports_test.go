package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "tailrace"

// mayImport is which packages of the module each package may import, its tests apart.
var mayImport = map[string][]string{
	"segment":             {},
	"strategies":          {"segment"},
	"segment/segmenttest": {"segment"},
	"workload":            {},
	"harness":             {"harness/cgroup", "segment", "strategies", "workload", "results"},
	"harness/cgroup":      {},
	"harness/torture":     {"segment", "segment/segmenttest", "strategies"},
	"inorder":             {},
	"results":             {"inorder"},
	"results/resultstest": {"results"},
	"plots":               {"inorder", "results"},
	"claims":              {"segment", "strategies", "workload", "harness", "harness/cgroup", "harness/torture", "results"},
	"cmd/tailrace":        {"segment", "strategies", "workload", "harness", "harness/torture", "results", "plots", "claims"},
}

// listed is a package as go list -json describes it.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", module+"/...")
	output, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < len(mayImport) {
		t.Errorf("go list finds %d packages, want the %d that have rules", len(packages), len(mayImport))
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s has no rule about what it may import", name)
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && !slices.Contains(allowed, ours) {
				t.Errorf("package %s imports %s, it may import only %q of ours", name, ours, allowed)
			}
		}
	}
}

// untypedAtomic is a function of sync/atomic that takes an address: nothing keeps others from using
// the same word without it, as the types do.
var untypedAtomic = regexp.MustCompile(`^(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)$`)

func TestForbiddenCalls(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			path := filepath.Join(p.Dir, file)
			positions := token.NewFileSet()
			syntax, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			mayExit := p.ImportPath == module+"/cmd/tailrace" && file == "main.go"
			ast.Inspect(syntax, func(node ast.Node) bool {
				if problem := forbidden(node, mayExit); problem != "" {
					t.Errorf("%s: %s", positions.Position(node.Pos()), problem)
				}
				return true
			})
		}
	}
}

func forbidden(node ast.Node, mayExit bool) string {
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			return "an init function works behind the reader's back"
		}
	case *ast.SelectorExpr:
		pkg, _ := n.X.(*ast.Ident)
		switch {
		case pkg == nil:
		case pkg.Name == "atomic" && untypedAtomic.MatchString(n.Sel.Name):
			return "atomic." + n.Sel.Name + " on a plain word; use a type of sync/atomic"
		case pkg.Name == "os" && n.Sel.Name == "Exit" && !mayExit,
			pkg.Name == "log" && strings.HasPrefix(n.Sel.Name, "Fatal"):
			return pkg.Name + "." + n.Sel.Name + " takes the decision from the caller; return an error"
		}
	}
	return ""
}

func TestForbiddenFindsWhatIsForbidden(t *testing.T) {
	const source = `package p
func init() { atomic.AddInt64(&n, 1); os.Exit(1); log.Fatalf("x") }`
	syntax, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(syntax, func(node ast.Node) bool {
		if forbidden(node, false) != "" {
			found++
		}
		return true
	})
	if found != 4 {
		t.Errorf("found %d of 4", found)
	}
}
