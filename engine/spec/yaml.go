package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"gopkg.in/yaml.v3"

	"github.com/cupel-dev/cupel/engine/step"
)

// parseYAML reads one YAML document strictly: whatever YAML 1.1, YAML 1.2 and
// JSON readers disagree about is an error with a position.
func parseYAML(file string, src []byte) (*node, Errors) {
	if errs := checkText(file, src); errs != nil {
		return nil, errs
	}
	docs, err := yamlDocuments(src)
	if err != nil {
		return nil, Errors{yamlSyntaxError(file, err)}
	}
	if len(docs) == 0 || docs[0].Kind == 0 {
		return nil, Errors{{File: file, Msg: "is empty", Hint: "a campaign begins with apiVersion: " + APIVersion}}
	}
	r := &yamlReader{file: file, open: map[*yaml.Node]bool{}}
	if len(docs) > 1 {
		r.fail(docs[1], "a second document", "a file holds one: remove the --- line")
		return nil, r.errs
	}
	return r.value(docs[0].Content[0], 0), r.errs
}

// yamlDocuments returns at most two document nodes.
func yamlDocuments(src []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: cannot be read: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	for len(docs) < 2 {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, &doc)
	}
	return docs, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func yamlSyntaxError(file string, err error) *Error {
	e := &Error{File: file}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		m = []string{"", ""}
	}
	e.Msg = "YAML: " + clip(strings.TrimPrefix(err.Error(), m[0]))
	e.Line, e.Col = 1, 1
	if m[1] != "" {
		e.Line, _ = strconv.Atoi(m[1])
	}
	// yaml.v3 counts lines from 0 in what its parser, and not its scanner, says.
	if strings.HasPrefix(e.Msg, "YAML: did not find expected") && m[1] != "" {
		e.Line++
	}
	return e
}

// yamlReader turns yaml.v3 nodes into nodes.
type yamlReader struct {
	file  string
	errs  Errors
	count int                 // values made so far
	bytes int                 // in their texts
	full  bool                // either went over its limit
	open  map[*yaml.Node]bool // collections that are being read: an alias to one is a cycle
}

func (r *yamlReader) pos(n *yaml.Node) pos { return pos{r.file, n.Line, n.Column} }

func (r *yamlReader) fail(n *yaml.Node, msg, hint string) {
	r.errs.add(r.pos(n), nil, msg, hint)
}

func (r *yamlReader) value(n *yaml.Node, depth int) *node {
	out := &node{kind: cue.BottomKind, at: r.pos(n)}
	r.count++
	r.bytes += len(n.Value)
	if r.count > maxValues || r.bytes > maxTextBytes {
		if !r.full {
			r.full = true
			r.fail(n, fmt.Sprintf("more than %d values or %d bytes of text", maxValues, maxTextBytes), "aliases multiply what they stand for; write fewer")
		}
		return out
	}
	if depth > maxDepth {
		r.fail(n, fmt.Sprintf("nested deeper than %d levels", maxDepth), "")
		return out
	}
	if n.Kind == yaml.AliasNode {
		if r.open[n.Alias] {
			r.fail(n, fmt.Sprintf("alias *%s stands inside its own anchor", clip(n.Value)), "")
			return out
		}
		return r.value(n.Alias, depth)
	}
	if n.Kind == yaml.ScalarNode {
		return r.scalar(n, out)
	}
	if tag := n.ShortTag(); tag != "!!map" && tag != "!!seq" {
		r.fail(n, fmt.Sprintf("YAML tag %s", clip(tag)), "remove the tag")
		return out
	}
	r.open[n] = true
	defer delete(r.open, n)
	if n.Kind == yaml.SequenceNode {
		out.kind = cue.ListKind
		for _, e := range n.Content {
			out.elems = append(out.elems, r.value(e, depth+1))
		}
		return out
	}
	return r.mapping(n, out, depth)
}

// mapping reads a map. Merged keys (<<) come after the map's own, which win.
func (r *yamlReader) mapping(n *yaml.Node, out *node, depth int) *node {
	out.kind = cue.StructKind
	seen := map[string]int{} // name -> line
	var merged *yaml.Node
	for i := 0; i+1 < len(n.Content) && !r.full; i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.ShortTag() == "!!merge" && merged == nil {
			merged, seen[k.Value] = v, k.Line
			continue
		}
		if k.Kind != yaml.ScalarNode || r.keyTag(k) != "!!str" {
			r.fail(n.Content[i], fmt.Sprintf("key %s is not a text", clip(k.Value)), "write it in quotes")
			continue
		}
		if line, dup := seen[k.Value]; dup {
			r.fail(n.Content[i], fmt.Sprintf("key %q is already on line %d", clip(k.Value), line), "keep one of the two")
			continue
		}
		seen[k.Value] = k.Line
		out.fields = append(out.fields, field{k.Value, r.pos(n.Content[i]), r.value(v, depth+1)})
	}
	if merged != nil {
		r.merge(merged, out, depth)
	}
	return out
}

// keyTag treats a key that looks like a date, or a second <<, as the text it is.
func (r *yamlReader) keyTag(k *yaml.Node) string {
	if tag := k.ShortTag(); tag != "!!timestamp" && tag != "!!merge" {
		return tag
	}
	return "!!str"
}

// merge adds to out the fields of a map, or of a list of maps, that out lacks.
func (r *yamlReader) merge(m *yaml.Node, out *node, depth int) {
	v := r.value(m, depth+1)
	maps := []*node{v}
	if v.kind == cue.ListKind {
		maps = v.elems
	}
	have := make(map[string]bool, len(out.fields))
	for _, f := range out.fields {
		have[f.name] = true
	}
	for _, src := range maps {
		if src.kind != cue.StructKind {
			r.fail(m, "<< needs a map or a list of maps", "")
			return
		}
		for _, f := range src.fields {
			if !have[f.name] {
				have[f.name] = true
				out.fields = append(out.fields, f)
			}
		}
	}
}

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	// numberLike is what some YAML or JSON reader takes for a number.
	numberLike = regexp.MustCompile(`^[-+]?(\.?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+)$`)
	notFinite  = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

func (r *yamlReader) scalar(n *yaml.Node, out *node) *node {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str" {
		r.fail(n, fmt.Sprintf("YAML tag %s", clip(n.Tag)), "remove the tag")
		return out
	}
	tag := n.ShortTag()
	if plain && tag != "!!null" && n.Style&yaml.TaggedStyle == 0 && (numberLike.MatchString(n.Value) || notFinite.MatchString(n.Value)) {
		return r.number(n, out)
	}
	switch tag {
	case "!!null":
		out.kind = cue.NullKind
		return out
	case "!!bool":
		out.kind, out.text = cue.BoolKind, strings.ToLower(n.Value)
		return out
	case "!!str", "!!timestamp", "!!merge":
		out.kind, out.text = cue.StringKind, n.Value
		return out
	}
	r.fail(n, fmt.Sprintf("YAML tag %s", clip(tag)), "remove the tag")
	return out
}

const quoteHint = "write it in quotes if a text is meant"

func (r *yamlReader) number(n *yaml.Node, out *node) *node {
	v := n.Value
	digits := strings.TrimLeft(v, "+-")
	switch {
	case notFinite.MatchString(v):
		r.fail(n, v+" is not a finite number", "a value that is not known is left out")
	case strings.Contains(v, "_"):
		r.fail(n, fmt.Sprintf("%s has underscores, which readers take differently", clip(v)), "write "+clip(strings.ReplaceAll(v, "_", ""))+", or "+quoteHint)
	case len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E':
		r.fail(n, fmt.Sprintf("%s looks octal, hexadecimal or binary, which readers take differently", clip(v)), "write it in decimals without a leading 0, or "+quoteHint)
	case !jsonNumber.MatchString(v):
		r.fail(n, fmt.Sprintf("%s is an unusual way to write a number", clip(v)), "write digits before and after the point and no plus sign, or "+quoteHint)
	default:
		if err := step.CheckNumber(v); err != nil {
			r.fail(n, err.Error(), quoteHint)
			break
		}
		out.kind, out.text = cue.NumberKind, v
	}
	return out
}
