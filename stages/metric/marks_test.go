package metric

import (
	"reflect"
	"strings"
	"testing"
)

// TestMarks: every flag of a cell has a mark by its name, and only its own.
func TestMarks(t *testing.T) {
	flags := 0
	for f := range reflect.TypeFor[Cell]().Fields() {
		if f.Type.Kind() != reflect.Bool {
			continue
		}
		flags++
		var c Cell
		reflect.ValueOf(&c).Elem().FieldByIndex(f.Index).SetBool(true)
		marks := c.Marks()
		if code := strings.ReplaceAll(f.Tag.Get("json"), "_", "-"); len(marks) != 1 || marks[0].Code != code || marks[0].Sentence == "" {
			t.Errorf("%s: %+v", code, marks)
		}
	}
	if c := (Cell{}); flags == 0 || c.Marks() != nil {
		t.Errorf("%d flags, and a calm cell has %v", flags, c.Marks())
	}
}
