package claims

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
)

// size is how much source there is.
type size struct {
	lines        int // that hold code: neither blank nor only a comment
	declarations int // types, functions, methods, and fields of structs
	coordination int // of the fields: locks, atomics, channels, and what keeps files open under readers
	exported     int // types, functions and methods whose names are exported
}

// measureSource counts a Go file.
func measureSource(name string, text []byte) (size, error) {
	n := size{lines: codeLines(text)}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return size{}, err
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeSpec:
			n.declare(node.Name)
		case *ast.FuncDecl:
			n.declare(node.Name)
		case *ast.StructType:
			for _, f := range node.Fields.List {
				fields := max(1, len(f.Names)) // an embedded one has no name
				n.declarations += fields
				if coordinates(f.Type) {
					n.coordination += fields
				}
			}
		}
		return true
	})
	return n, nil
}

func (n *size) declare(name *ast.Ident) {
	n.declarations++
	if name.IsExported() {
		n.exported++
	}
}

// codeLines counts the lines with a token on them.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := make(map[int]bool)
	for {
		at, t, literal := s.Scan()
		if t == token.EOF {
			return len(lines)
		}
		if t == token.SEMICOLON && literal == "\n" {
			continue // that of the end of a line
		}
		lines[file.Line(at)] = true
	}
}

// coordinates reports whether goroutines meet at fields of a type.
func coordinates(field ast.Expr) bool {
	switch t := field.(type) {
	case *ast.ChanType:
		return true
	case *ast.Ident:
		return t.Name == "gate" || t.Name == "pin"
	case *ast.IndexExpr:
		return coordinates(t.X)
	case *ast.SelectorExpr:
		from, ok := t.X.(*ast.Ident)
		return ok && (from.Name == "sync" || from.Name == "atomic")
	}
	return false
}
