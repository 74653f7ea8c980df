package torture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// mutation is a change to the text of a file that a machine made.
type mutation struct {
	name string // FILE:LINE delete "TEXT", or exchange "TEXT" and "TEXT"; the line is that of the unchanged file
	text string // of the whole file
}

// mutations makes all mutants of a file: for every list of statements in the body of a function, in their order, the
// list without one of them, and with one and the next in each other's place.
func mutations(name, text string) ([]mutation, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := &mutator{file: set.File(file.Pos()), name: name, text: text}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BlockStmt:
			m.list(node.List)
		case *ast.CaseClause:
			m.list(node.Body)
		case *ast.CommClause:
			m.list(node.Body)
		}
		return true
	})
	return m.made, nil
}

type mutator struct {
	file       *token.File
	name, text string
	made       []mutation
}

func (m *mutator) list(statements []ast.Stmt) {
	for i, s := range statements {
		begin, end := m.extent(s)
		if deletable(s) {
			m.add(s, fmt.Sprintf("delete %q", m.excerpt(s)), m.text[:begin]+m.text[end:])
		}
		if i == 0 || !movable(statements[i-1]) || !movable(s) {
			continue
		}
		first, last := m.extent(statements[i-1])
		one, other := m.text[first:last], m.text[begin:end]
		if one != other {
			m.add(statements[i-1], fmt.Sprintf("exchange %q and %q", m.excerpt(statements[i-1]), m.excerpt(s)),
				m.text[:first]+other+m.text[last:begin]+one+m.text[end:])
		}
	}
}

func (m *mutator) add(at ast.Stmt, what, text string) {
	m.made = append(m.made, mutation{fmt.Sprintf("%s:%d %s", m.name, m.file.Line(at.Pos()), what), text})
}

// extent is where the text of a statement begins and ends.
func (m *mutator) extent(s ast.Stmt) (begin, end int) {
	return m.file.Offset(s.Pos()), m.file.Offset(s.End())
}

// excerpt is the first line of a statement.
func (m *mutator) excerpt(s ast.Stmt) string {
	begin, end := m.extent(s)
	line, _, more := strings.Cut(m.text[begin:end], "\n")
	if more {
		line += " …"
	}
	return line
}

// deletable reports whether the code has a meaning without a statement: what returns, leaves a loop or declares is
// none of these.
func deletable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt,
		*ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
		return true
	}
	return false
}

// movable are those, and := too, which may load what has to be loaded first. Where its neighbour needs the variable,
// the mutant does not compile.
func movable(s ast.Stmt) bool {
	_, assigns := s.(*ast.AssignStmt)
	return assigns || deletable(s)
}

func TestMutations(t *testing.T) {
	const source = `package p

func f(c chan int) (n int) {
	var v int // a declaration stays
	n = 1
	n++ // counted
	x := <-c
	if x > v {
		close(c)
	}
	for n < 9 {
		n += x; n += x
		break
	}
	select {
	case c <- 1:
		defer f(nil)
	default:
	}
	return n
}
`
	replaced := func(old, new string) string {
		if strings.Count(source, old) != 1 {
			t.Fatalf("%q is not once in the source", old)
		}
		return strings.Replace(source, old, new, 1)
	}
	const (
		branch = "if x > v {\n\t\tclose(c)\n\t}"
		loop   = "for n < 9 {\n\t\tn += x; n += x\n\t\tbreak\n\t}"
		choice = "select {\n\tcase c <- 1:\n\t\tdefer f(nil)\n\tdefault:\n\t}"
	)
	want := []mutation{
		{`p.go:5 delete "n = 1"`, replaced("n = 1", "")},
		{`p.go:6 delete "n++"`, replaced("n++", "")},
		{`p.go:5 exchange "n = 1" and "n++"`, replaced("n = 1\n\tn++", "n++\n\tn = 1")},
		{`p.go:6 exchange "n++" and "x := <-c"`, replaced("n++ // counted\n\tx := <-c", "x := <-c // counted\n\tn++")},
		{`p.go:8 delete "if x > v { …"`, replaced(branch, "")},
		{`p.go:7 exchange "x := <-c" and "if x > v { …"`, replaced("x := <-c\n\t"+branch, branch+"\n\tx := <-c")},
		{`p.go:11 delete "for n < 9 { …"`, replaced(loop, "")},
		{`p.go:8 exchange "if x > v { …" and "for n < 9 { …"`, replaced(branch+"\n\t"+loop, loop+"\n\t"+branch)},
		{`p.go:15 delete "select { …"`, replaced(choice, "")},
		{`p.go:11 exchange "for n < 9 { …" and "select { …"`, replaced(loop+"\n\t"+choice, choice+"\n\t"+loop)},
		{`p.go:9 delete "close(c)"`, replaced("close(c)", "")},
		{`p.go:12 delete "n += x"`, replaced("n += x; n", "; n")},
		{`p.go:12 delete "n += x"`, replaced("x; n += x", "x; ")},
		{`p.go:17 delete "defer f(nil)"`, replaced("defer f(nil)", "")},
	}
	got, err := mutations("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("from mutant %d on there are\n%+v\nwant\n%+v", i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
	if _, err := mutations("p.go", "package"); err == nil {
		t.Error("what is no Go is mutated")
	}
}

// The mutants of the models have a name each.
func TestMutationNames(t *testing.T) {
	for _, name := range coreStrategies {
		all, err := mutationsOf(name)
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(all))
		for i, m := range all {
			names[i] = m.name
		}
		slices.Sort(names)
		if n := len(slices.Compact(names)); n == 0 || n != len(all) {
			t.Errorf("%s: %d mutants have %d names", name, len(all), n)
		}
	}
}
