package build

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/stages/items"
)

const maxID = 512 // bytes, as items allow

// request is what a log line asks.
type request struct {
	item items.Item
	time time.Time // zero = none
	cut  bool      // it ended with an answer

	unmapped bool // it has a field answer, and the map names none
}

// parser reads lines by a field map.
type parser struct {
	id, time, input, system, tools, schema, answer, cluster []string
	labels                                                  map[string][]string
}

func newParser(m FieldMap) *parser {
	p := &parser{id: splitPath(m.ID), time: splitPath(m.Time), input: splitPath(m.Input), system: splitPath(m.System),
		tools: splitPath(m.Tools), schema: splitPath(m.Schema), answer: splitPath(m.Answer), cluster: splitPath(m.Cluster),
		labels: map[string][]string{}}
	for label, path := range m.Labels {
		p.labels[label] = splitPath(path)
	}
	return p
}

// parse reads one line; an error is a reason.
func (p *parser) parse(line []byte) (request, error) {
	var r request
	if !utf8.Valid(line) {
		return r, notUTF8
	}
	top, err := parseObject(line)
	if err != nil {
		return r, err
	}
	root := requestOf(top)
	for _, f := range []func(top, root object, r *request) error{p.readInput, p.readTools, p.readID, p.readTime, p.readLabels} {
		if err := f(top, root, &r); err != nil {
			return r, err
		}
	}
	p.readReference(top, root, &r.item)
	r.unmapped = p.answer == nil && top.get("answer") != nil
	r.item.Source = "log"
	return r, nil
}

// requestOf returns the object in which the request stands: the line itself, or
// its body (OpenAI batches) or request.
func requestOf(top object) object {
	for _, name := range []string{"messages", "input", "prompt"} {
		if top.get(name) != nil {
			return top
		}
	}
	for _, name := range []string{"body", "request"} {
		if v := top.get(name); v != nil && v[0] == '{' {
			o, _ := parseObject(v)
			return o
		}
	}
	return top
}

// field returns what stands at the path of the map, or without one, under the
// first usual name that is there.
func field(path []string, top, root object, usual ...string) []byte {
	if path != nil {
		return top.find(path)
	}
	for _, name := range usual {
		if v := top.get(name); v != nil {
			return v
		}
		if v := root.get(name); v != nil {
			return v
		}
	}
	return nil
}

func (p *parser) readInput(top, root object, r *request) error {
	v := field(p.input, top, root, "messages", "input", "prompt")
	if v == nil {
		return noInput
	}
	msgs, err := parseInput(v)
	if err != nil {
		return err
	}
	if s := field(p.system, top, root, "system", "instructions"); s != nil {
		prompt, err := content(s)
		if err != nil {
			return badSystem
		}
		if strings.TrimSpace(prompt) != "" {
			msgs = append([]items.Message{{Role: "system", Content: prompt}}, msgs...)
		}
	}
	for len(msgs) > 0 && msgs[len(msgs)-1].Role == "assistant" {
		msgs, r.cut = msgs[:len(msgs)-1], true
	}
	return setTurns(&r.item, msgs)
}

// setTurns puts the only system message, if it is the first, into System.
func setTurns(it *items.Item, msgs []items.Message) error {
	systems := 0
	for _, m := range msgs {
		if strings.TrimSpace(m.Content) == "" && m.ToolCalls == nil && m.Role != "tool" {
			return emptyTurn
		}
		if m.Role == "system" {
			systems++
		}
	}
	if len(msgs) == 0 || msgs[len(msgs)-1].Role == "system" {
		return notAsked
	}
	if systems == 1 && msgs[0].Role == "system" {
		it.System, msgs = msgs[0].Content, msgs[1:]
	}
	it.Input = msgs
	return nil
}

func (p *parser) readTools(top, root object, r *request) error {
	v := field(p.tools, top, root, "tools")
	if v == nil || string(v) == "[]" {
		return nil
	}
	if v[0] != '[' {
		return badTools
	}
	r.item.Tools = json.RawMessage(v)
	return nil
}

func (p *parser) readID(top, root object, r *request) error {
	v := field(p.id, top, root, "id", "request_id", "custom_id")
	if v == nil {
		return nil
	}
	id, ok := text(v)
	if !ok {
		if id = string(v); strings.Trim(id, "0123456789") != "" {
			return badID
		}
	}
	if usableID(id) {
		r.item.ID = id
	}
	return nil
}

func usableID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, unicode.IsControl)
}

func (p *parser) readTime(top, root object, r *request) error {
	v := field(p.time, top, root, "ts", "timestamp", "created", "created_at")
	if v == nil {
		return nil
	}
	var err error
	r.time, err = parseTime(v)
	return err
}

func (p *parser) readLabels(top, root object, r *request) error {
	for label, path := range p.labels {
		v, err := scalar(top.find(path))
		if err != nil {
			return err
		}
		if v == "" {
			continue
		}
		if r.item.Strata == nil {
			r.item.Strata = map[string]string{}
		}
		r.item.Strata[label] = v
	}
	if p.cluster == nil {
		return nil
	}
	var err error
	r.item.Cluster, err = scalar(top.find(p.cluster))
	return err
}

// scalar returns a text, number or boolean as a text, "" for nothing.
func scalar(v []byte) (string, error) {
	if v == nil {
		return "", nil
	}
	if s, ok := text(v); ok {
		return s, nil
	}
	if v[0] == '{' || v[0] == '[' {
		return "", badLabel
	}
	return string(v), nil
}

// readReference takes what an answer can be scored against: a reference of the
// log, or the JSON Schema that the request itself demanded.
func (p *parser) readReference(top, root object, it *items.Item) {
	if v := top.find(p.answer); v != nil {
		it.Answer = json.RawMessage(v)
	}
	schema := top.find(p.schema)
	if p.schema == nil {
		schema = root.find([]string{"response_format", "json_schema", "schema"})
		if schema == nil {
			schema = root.find([]string{"text", "format", "schema"})
		}
	}
	if schema != nil && schema[0] == '{' {
		it.Schema = json.RawMessage(schema)
		it.Scorer = items.Scorers{{Name: "json_schema"}}
	}
}
