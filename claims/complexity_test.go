package claims

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/strategies"
)

func TestComplexity(t *testing.T) {
	figures, err := complexity(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"actor-lines", "actor-declarations", "actor-over-atomics", "rwmutex-lines"}
	for _, s := range []string{"mutex", "rwmutex", "atomics", "actor"} {
		want = append(want, s+"-code", s+"-declared", s+"-exported", s+"-coordination", s+"-states")
	}
	checkNames(t, figures, want)
	for _, name := range []string{"mutex-code", "mutex-declared", "mutex-coordination", "actor-states", "actor-lines"} {
		if f := figureNamed(t, figures, name); !(f.Value > 0) {
			t.Errorf("%s is %v", name, f.Value)
		}
	}
	if f := figureNamed(t, figures, "mutex-coordination"); f.Value != 1 {
		t.Errorf("mutex has %v locks and the like, want its lock alone", f.Value)
	}
}

func TestLines(t *testing.T) {
	figures, err := lines("atomics", "mutex")(tinyBench(t))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, figures, []string{"atomics-lines", "atomics-declarations"})
	for _, pair := range [][2]string{{"nobody", "mutex"}, {"mutex", "nobody"}} {
		if _, err := lines(pair[0], pair[1])(tinyBench(t)); err == nil {
			t.Errorf("%v are compared", pair)
		}
	}
}

// The states that are said to be in the code are: as names that it declares.
func TestStatesAreDeclared(t *testing.T) {
	for strategy, states := range callStates {
		var declared []string
		for _, name := range strategies.SourceFiles(strategy) {
			text, err := fs.ReadFile(strategies.Sources(), name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.Field:
					for _, id := range node.Names {
						declared = append(declared, id.Name)
					}
				case *ast.ValueSpec:
					for _, id := range node.Names {
						declared = append(declared, id.Name)
					}
				case *ast.TypeSpec:
					declared = append(declared, node.Name.Name)
				case *ast.FuncDecl:
					declared = append(declared, node.Name.Name)
				}
				return true
			})
		}
		for _, state := range states {
			if !slices.Contains(declared, state) {
				t.Errorf("%s declares no %s", strategy, state)
			}
		}
	}
}

func TestMeasureSource(t *testing.T) {
	const source = `// Package p is one line of code and two of comments.
// This is the second.
package p

import "sync" // code with a comment

/* no
code */
type t struct {
	a, b int
	sync.Mutex
	done chan int
	p    pin
	x    atomic.Pointer[int]
}

func (t) m() {
	_ = 1; _ = 2
}

func (t) M() {}

var s = "text
`
	want := size{lines: 14, declarations: 9, coordination: 4, exported: 1}
	text := strings.Replace(source, "\"text\n", "\"text\"\n", 1)
	if got, err := measureSource("p.go", []byte(text)); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := measureSource("p.go", []byte(source)); err == nil {
		t.Error("what is no Go is counted")
	}
}

func figureNamed(t *testing.T, figures []results.Figure, name string) *results.Figure {
	t.Helper()
	for i := range figures {
		if figures[i].Name == name {
			return &figures[i]
		}
	}
	t.Fatalf("there is no figure %s", name)
	return nil
}

// checkNames wants exactly these figures, in any order.
func checkNames(t *testing.T, figures []results.Figure, want []string) {
	t.Helper()
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("figures are %q, not %q", names, want)
	}
}
