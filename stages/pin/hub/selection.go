package hub

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// Selection chooses files by patterns on their paths: * stands for any
// characters, also slashes, ? for one, [a-z] for one of these. No include takes
// everything; an exclude goes over an include.
type Selection struct {
	Include, Exclude []string
}

// choose returns the files of a listing that are wanted. A pattern of Include
// that matches nothing is a mistake.
func (s Selection) choose(l *Listing) (files []inventory.Entry, err error) {
	include, err := patterns(s.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := patterns(s.Exclude)
	if err != nil {
		return nil, err
	}
	used := make([]bool, len(include))
	for _, f := range l.Files {
		wanted := len(include) == 0
		for i, p := range include {
			if p.MatchString(f.Path) {
				wanted, used[i] = true, true
			}
		}
		if wanted && !matches(exclude, f.Path) {
			files = append(files, f)
		}
	}
	for i, u := range used {
		if !u {
			return nil, step.Mark(ErrUsage, step.WithHint(fmt.Errorf("--include %q matches none of the %d files", s.Include[i], len(l.Files)), "look at the names on the model's page"))
		}
	}
	if len(files) == 0 {
		return nil, step.Mark(ErrUsage, fmt.Errorf("--exclude leaves none of the %d files", len(l.Files)))
	}
	return files, nil
}

// record is how the selection stands in an inventory, nil for everything.
func (s Selection) record() *inventory.Selection {
	if len(s.Include)+len(s.Exclude) == 0 {
		return nil
	}
	return &inventory.Selection{Include: s.Include, Exclude: s.Exclude}
}

func matches(all []*regexp.Regexp, path string) bool {
	for _, p := range all {
		if p.MatchString(path) {
			return true
		}
	}
	return false
}

func patterns(globs []string) (out []*regexp.Regexp, err error) {
	for _, g := range globs {
		p, err := pattern(g)
		if err != nil {
			return nil, step.Mark(ErrUsage, fmt.Errorf("pattern %q: %w", g, err))
		}
		out = append(out, p)
	}
	return out, nil
}

// pattern translates a glob. A [ without its ] stands for itself.
func pattern(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			set := strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(glob[i+1 : i+1+end])
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i += end + 1
		default:
			_, n := utf8.DecodeRuneInString(glob[i:])
			b.WriteString(regexp.QuoteMeta(glob[i : i+n]))
			i += n - 1
		}
	}
	return regexp.Compile(b.String() + `$`)
}
