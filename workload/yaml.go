package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// FileError says what is wrong in a workload file, and where, in one line. It wraps ErrInvalid.
type FileError struct {
	File         string
	Line, Column int    // from 1
	Key          string // the key at fault; "" where the file is not even a list of keys
	Problem      string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("workload: %s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// Unwrap returns ErrInvalid.
func (e *FileError) Unwrap() error { return ErrInvalid }

// mapping is a YAML file that is a flat list of keys and plain values.
type mapping struct {
	file    string
	entries map[string]entry
	keys    []string // in the order of the file
}

type entry struct {
	key   *token.Token
	value ast.Node
}

// parseMapping reads the keys of a file; it does not look at the values. It walks the syntax tree
// itself, since decoding into a struct tells neither where a value stands nor whether it was there.
func parseMapping(file string, data []byte) (*mapping, error) {
	m := &mapping{file: file, entries: make(map[string]entry)}
	tree, err := parseYAML(data)
	if err != nil {
		return nil, m.syntaxError(err)
	}
	var body ast.Node
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.DirectiveType:
		case body != nil:
			return nil, m.errorAt(doc.Start, "", "a second document begins; give one workload a file")
		default:
			body = doc.Body
		}
	}
	switch body := body.(type) {
	case nil:
		return nil, m.errorAt(nil, "", "the file is empty; give a workload of keys and values, or one of OpenMessaging Benchmark")
	case *ast.MappingNode:
		for _, v := range body.Values {
			if err := m.add(v); err != nil {
				return nil, err
			}
		}
	default:
		return nil, m.errorAt(body.GetToken(), "", "keys with values are expected, not YAML type %s", body.Type().YAMLName())
	}
	return m, nil
}

func (m *mapping) add(v *ast.MappingValueNode) error {
	at := v.Key.GetToken()
	name := at.Value
	if first, ok := m.entries[name]; ok {
		return m.errorAt(at, name, "key %s is given twice; the first is on line %d", display(name), first.key.Position.Line)
	}
	m.entries[name] = entry{key: at, value: v.Value}
	m.keys = append(m.keys, name)
	return nil
}

func (m *mapping) has(key string) bool { _, ok := m.entries[key]; return ok }

// errorAt makes the error about what stands at a token; nil is the start of the file.
func (m *mapping) errorAt(at *token.Token, key, format string, args ...any) *FileError {
	e := &FileError{File: m.file, Line: 1, Column: 1, Key: key, Problem: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		e.Line, e.Column = max(at.Position.Line, 1), max(at.Position.Column, 1)
	}
	return e
}

// valueError makes the error about the value of a key, or about its absence.
func (m *mapping) valueError(key, format string, args ...any) *FileError {
	at, value := (*token.Token)(nil), ""
	if e, ok := m.entries[key]; ok {
		at = e.value.GetToken()
		switch e.value.(type) {
		case *ast.StringNode:
			value = " " + strconv.Quote(shorten(at.Value))
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
			value = " " + display(at.Value)
		}
	}
	return m.errorAt(at, key, "%s%s: %s", key, value, fmt.Sprintf(format, args...))
}

func (m *mapping) unknownKey(name string, names []string) *FileError {
	return m.errorAt(m.entries[name].key, name, "unknown key %s%s", display(name), Suggestion(name, names))
}

// syntaxError condenses the parser's error, a drawing of several lines, into one.
func (m *mapping) syntaxError(err error) error {
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &located) {
		return m.errorAt(located.GetToken(), "", "not YAML: %s", oneLine(located.GetMessage()))
	}
	return m.errorAt(nil, "", "not YAML: %s", oneLine(err.Error()))
}

func parseYAML(data []byte) (*ast.File, error) {
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // duplicates: see add
}

// The readers of a key's value: a missing key leaves the destination as it is.

func (m *mapping) text(key string, to *string) error {
	e, ok := m.entries[key]
	if !ok || e.value.Type() == ast.NullType {
		return nil
	}
	text, ok := scalarText(e.value)
	if !ok {
		return m.wrongType(key, "text")
	}
	*to = text
	return nil
}

// scalarText is what stands for a plain value in the file, without its quotes.
func scalarText(node ast.Node) (text string, ok bool) {
	switch v := node.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	default:
		return "", false
	}
}

// element is one value of a key, and where it stands.
type element struct {
	text string
	at   *token.Token
}

// values reads the texts of a key that is there: one, or for a list those of a sequence or of a text with commas.
func (m *mapping) values(key string, list bool) ([]element, error) {
	node := m.entries[key].value
	wanted := "a value"
	if list {
		wanted = "a value or a list of them"
		if sequence, ok := node.(*ast.SequenceNode); ok {
			return m.elements(key, sequence)
		}
	}
	text, ok := scalarText(node)
	if !ok {
		return nil, m.wrongType(key, wanted)
	}
	text = strings.TrimSpace(text)
	if !list {
		return []element{{text, node.GetToken()}}, nil
	}
	var values []element
	for part := range strings.SplitSeq(text, ",") {
		values = append(values, element{strings.TrimSpace(part), node.GetToken()})
	}
	return values, nil
}

func (m *mapping) elements(key string, sequence *ast.SequenceNode) ([]element, error) {
	if len(sequence.Values) == 0 {
		return nil, m.valueError(key, "the list is empty; give a value, or leave the key out")
	}
	var values []element
	for _, node := range sequence.Values {
		text, ok := scalarText(node)
		if !ok {
			return nil, m.errorAt(node.GetToken(), key, "%s: of YAML type %s; give values in the list", key, node.Type().YAMLName())
		}
		values = append(values, element{strings.TrimSpace(text), node.GetToken()})
	}
	return values, nil
}

func (m *mapping) truth(key string, to *bool) error {
	e, ok := m.entries[key]
	if !ok {
		return nil
	}
	v, ok := e.value.(*ast.BoolNode)
	if !ok {
		return m.wrongType(key, "true or false")
	}
	*to = v.Value
	return nil
}

// whole reads a whole number within [lowest, highest].
func (m *mapping) whole(key string, to *int, lowest, highest int) error {
	number := float64(*to)
	if err := m.number(key, &number, "a whole number", float64(lowest), float64(highest)); err != nil {
		return err
	}
	if number != math.Trunc(number) {
		return m.valueError(key, "give a whole number")
	}
	*to = int(number)
	return nil
}

// number reads a number within [lowest, highest]; wanted is what the error asks for.
func (m *mapping) number(key string, to *float64, wanted string, lowest, highest float64) error {
	e, ok := m.entries[key]
	if !ok {
		return nil
	}
	var number float64
	switch v := e.value.(type) {
	case *ast.FloatNode:
		number = v.Value
	case *ast.IntegerNode:
		switch i := v.Value.(type) {
		case int64:
			number = float64(i)
		case uint64:
			number = float64(i)
		}
	default:
		// The parser makes text of a number that is too large for it.
		var err error
		number, err = strconv.ParseFloat(e.value.GetToken().Value, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || number >= lowest && number <= highest {
			return m.wrongType(key, wanted)
		}
	}
	if !(number >= lowest && number <= highest) {
		return m.valueError(key, "outside %s to %s", formatNumber(lowest), formatNumber(highest))
	}
	*to = number
	return nil
}

func (m *mapping) wrongType(key, wanted string) error {
	return m.valueError(key, "of YAML type %s; give %s", m.entries[key].value.Type().YAMLName(), wanted)
}
