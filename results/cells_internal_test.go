package results

import (
	"reflect"
	"testing"
)

// A field that is added to Cell has to tell cells apart everywhere: in benchmark names and descriptions,
// and, if it is part of the point, in the order of points.
func TestNoFieldOfACellIsForgotten(t *testing.T) {
	fields := reflect.TypeFor[Cell]()
	for i := range fields.NumField() {
		var a, b Cell
		field := reflect.ValueOf(&b).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString("A/A") // the one arm that there is
		case reflect.Int, reflect.Int64:
			field.SetInt(7)
		case reflect.Float64:
			field.SetFloat(0.5)
		default:
			t.Fatalf("no value for %s of type %s", fields.Field(i).Name, field.Type())
		}
		name := fields.Field(i).Name
		if name == "ProducePercent" { // it means something for workers alone
			a.Workers, b.Workers = 1, 1
		}
		named := false
		for _, key := range cellKeys {
			named = named || key.value(a) != key.value(b)
		}
		if !named {
			t.Errorf("cellKeys leaves out %s", name)
		}
		if a.Point() == b.Point() {
			if name != "Strategy" && name != "Arm" && name != "Build" {
				t.Errorf("%s is no part of the point", name)
			}
			continue
		}
		if comparePoints(a.Point(), b.Point()) == 0 || comparePoints(a.Point(), b.Point()) != -comparePoints(b.Point(), a.Point()) {
			t.Errorf("comparePoints leaves out %s", name)
		}
	}
}

func TestAnova(t *testing.T) {
	// Fertilisers on plots: F(2, 15) = 9.3, p = 0.0024, the example of Wikipedia's "One-way analysis of variance".
	p, ok := anova([][]float64{{6, 8, 4, 5, 3, 4}, {8, 12, 9, 11, 6, 8}, {13, 9, 11, 8, 7, 12}})
	if !ok || p < 0.0023 || p > 0.0025 {
		t.Errorf("p %v, %v", p, ok)
	}
	for name, groups := range map[string][][]float64{
		"none": nil, "one": {{1, 2, 3}}, "one with values": {{1, 2, 3}, nil}, "single values": {{1}, {2}},
	} {
		if p, ok := anova(groups); ok {
			t.Errorf("%s: p %v", name, p)
		}
	}
	if p, ok := anova([][]float64{{1, 1}, {1, 1}}); !ok || p != 1 {
		t.Errorf("equal values: %v, %v", p, ok)
	}
	if p, ok := anova([][]float64{{1, 1}, {2, 2}}); !ok || p != 0 {
		t.Errorf("equal values in each of two different groups: %v, %v", p, ok)
	}
}
