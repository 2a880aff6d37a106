// Package gen makes the item sets that ship with cupel. Every item follows from
// its suite's name and its own id alone, so that the same version has the same
// bytes on every machine, whatever stands beside it. It takes no clock and does
// no I/O; whoever wants files freezes what Build returns.
package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Suite is an item set before it is frozen.
type Suite struct {
	Name, Version string
	Items         []items.Item
	Media         map[string][]byte // path in the suite's folder -> content
}

// Options of Build.
type Options struct {
	// Tokens are the nominal context lengths of suites that have them; nil
	// stands for the lengths that ship. A token counts as BytesPerToken bytes.
	Tokens []int
}

// Nominal lengths: what a token is counted as, and the limits of one item.
const (
	BytesPerToken = 4
	MinTokens     = 512
	MaxTokens     = 1 << 20 // 4 MiB of text; an item may have 8
)

// maker makes the items of a suite.
type maker struct {
	version string
	lengths []int // that ship; nil: the suite has no lengths
	items   func(tokens []int) ([]items.Item, map[string][]byte, error)
}

var makers = map[string]maker{
	"functional-gate":  {version: "1", items: fixed(functionalGate)},
	"long-tools":       {version: "1", lengths: []int{1024, 2048, 4096}, items: longTools},
	"multimodal-smoke": {version: "1", items: multimodal},
	"needle":           {version: "1", lengths: []int{1024, 2048, 4096}, items: needle},
	"planning":         {version: "1", items: fixed(planning)},
	"tool-use":         {version: "1", items: fixed(toolUse)},
}

// fixed adapts a generator that has neither lengths nor media.
func fixed(f func() []items.Item) func([]int) ([]items.Item, map[string][]byte, error) {
	return func([]int) ([]items.Item, map[string][]byte, error) { return f(), nil, nil }
}

// Names lists what Build can make, in alphabetical order.
func Names() []string {
	var out []string
	for name := range makers {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Lengths are the nominal context lengths with which a suite ships, nil for a
// suite that has none.
func Lengths(name string) []int { return makers[name].lengths }

// Build makes a suite. Other lengths than those that ship make another version
// of it, named after them: needle 1-8192-32768.
func Build(name string, o Options) (Suite, error) {
	m, ok := makers[name]
	if !ok {
		return Suite{}, step.WithHint(fmt.Errorf("no generator makes a suite %q", name), "there are "+strings.Join(Names(), ", "))
	}
	s := Suite{Name: name, Version: m.version}
	tokens := m.lengths
	if len(o.Tokens) > 0 {
		var err error
		if tokens, err = lengths(name, m, o.Tokens); err != nil {
			return Suite{}, err
		}
		if !slices.Equal(tokens, m.lengths) {
			s.Version = versionOf(m.version, tokens)
		}
	}
	var err error
	s.Items, s.Media, err = m.items(tokens)
	if err != nil {
		return Suite{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func lengths(name string, m maker, asked []int) ([]int, error) {
	if m.lengths == nil {
		return nil, fmt.Errorf("suite %s has no context lengths to choose", name)
	}
	for _, n := range asked {
		if n < MinTokens || n > MaxTokens {
			return nil, fmt.Errorf("a context of %d tokens is not between %d and %d", n, MinTokens, MaxTokens)
		}
	}
	out := slices.Clone(asked)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// versionOf names a version after its lengths; many of them are too long for a
// name and stand as their first, last and number.
func versionOf(version string, tokens []int) string {
	parts := []string{version}
	for _, n := range tokens {
		parts = append(parts, strconv.Itoa(n))
	}
	name := strings.Join(parts, "-")
	if len(name) <= 64 {
		return name
	}
	return fmt.Sprintf("%s-%d-to-%d.%s", version, tokens[0], tokens[len(tokens)-1], step.Sum([]byte(name)).Short())
}
