package guard

import (
	"reflect"
	"slices"
	"strings"
)

// inherit adds a group's own tags to what it has from the group around it.
func (f *field) inherit(tag reflect.StructTag) {
	if name := tag.Get("id"); name != "" {
		f.family = strings.TrimPrefix(f.family+"_"+name, "_")
	}
	if label := tag.Get("label"); label != "" {
		f.labels = append(slices.Clone(f.labels), label)
	}
}

// idOf is the id of a number: its own tag, or that of its group's family.
func idOf(tag string, group *field, name string) string {
	switch {
	case tag != "":
		return tag
	case group.family == "":
		return ""
	case len(group.labels) == 0:
		return group.family + "_" + name
	}
	return group.family + "_" + name + "{" + strings.Join(group.labels, ",") + "}"
}
