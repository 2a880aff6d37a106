package scrub

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/stages/items"
)

// Item scrubs everything that is sent or shown of an item: messages, system
// prompt, tools and the arguments of calls, references, labels and the names it
// goes by. It returns how many values each rule replaced. The slices of the
// given item are not written to. After an error the item must not be used.
func (s *Scrubber) Item(it *items.Item) (map[string]int, error) {
	n := s.Session()
	n.reserveItem(it)
	err := n.item(it)
	if err == nil && n.rememberMentions() {
		err = n.item(it)
	}
	return n.counts, err
}

func (n *Session) item(it *items.Item) error {
	it.System = n.Text(it.System)
	it.Input = slices.Clone(it.Input)
	for i := range it.Input {
		m := &it.Input[i]
		m.Content, m.ToolCallID = n.Text(m.Content), n.Text(m.ToolCallID)
		if err := n.raw("tool_calls", &m.ToolCalls); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name string
		raw  *json.RawMessage
	}{{"tools", &it.Tools}, {"answer", &it.Answer}, {"schema", &it.Schema}} {
		if err := n.raw(f.name, f.raw); err != nil {
			return err
		}
	}
	if err := n.references(it); err != nil {
		return err
	}
	it.ID, it.Cluster = n.Text(it.ID), n.Text(it.Cluster)
	it.Strata = maps.Clone(it.Strata)
	for _, label := range slices.Sorted(maps.Keys(it.Strata)) {
		it.Strata[label] = n.Text(it.Strata[label])
	}
	return nil
}

func (n *Session) references(it *items.Item) error {
	it.Facts = slices.Clone(it.Facts)
	for i, fact := range it.Facts {
		it.Facts[i] = n.Text(fact)
	}
	it.ExpectTool = slices.Clone(it.ExpectTool)
	for i := range it.ExpectTool {
		if err := n.raw("expect_tool", &it.ExpectTool[i].Arguments); err != nil {
			return err
		}
	}
	return nil
}

// raw scrubs a field that holds JSON. The error names the field and no value.
func (n *Session) raw(field string, v *json.RawMessage) error {
	if len(*v) == 0 {
		return nil
	}
	out, err := n.JSON(*v)
	if err != nil {
		return fmt.Errorf("%s cannot be scrubbed as JSON", field)
	}
	*v = out
	return nil
}

func (n *Session) reserveItem(it *items.Item) {
	n.reserve(it.System)
	for _, m := range it.Input {
		n.reserve(m.Content)
		n.reserve(string(m.ToolCalls))
	}
	for _, v := range []json.RawMessage{it.Tools, it.Answer, it.Schema} {
		n.reserve(string(v))
	}
}
