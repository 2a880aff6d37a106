package scrub

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Session is the memory of one item: which value has which placeholder.
type Session struct {
	s      *Scrubber
	number map[string]int    // type -> last number
	known  map[string]string // type, NUL, key -> placeholder
	counts map[string]int    // rule -> values replaced
	depth  int               // JSON in strings in JSON

	seen     map[string]span // value as it stood in a text -> what it was found to be
	mentions []string        // of seen, the longest first; set for the second pass over an item
}

// Session starts an item.
func (s *Scrubber) Session() *Session {
	return &Session{s: s, number: map[string]int{}, known: map[string]string{}, counts: map[string]int{}, seen: map[string]span{}}
}

// Counts returns how many values each rule has replaced so far. Patterns of the
// user count under their names.
func (n *Session) Counts() map[string]int { return n.counts }

// maxRounds bounds the search for what only a replacement has set free, such as
// a number that stood directly behind an address. Usual texts take two rounds.
const maxRounds = 64

// Text returns the text with its findings replaced. A text that is JSON as a
// whole stays JSON.
func (n *Session) Text(text string) string { return n.text(text, hint{}) }

// text is Text for the value of a member whose name gave a hint.
func (n *Session) text(text string, hint hint) string {
	if out, ok := n.jsonText(text); ok {
		return out
	}
	for range maxRounds {
		found := merge(n.s.findAfter(hint, text), n.mentioned(text))
		if len(found) == 0 {
			break
		}
		text = n.replace(text, found)
	}
	return text
}

// findAfter finds as if the hint stood before the text: "phone" before the value
// of the member phone_number. After a name such as password the whole value is
// one.
func (s *Scrubber) findAfter(h hint, text string) []span {
	if h.secret != notSecret {
		return s.findSecret(h.secret, text)
	}
	if h.cue == "" {
		return s.find(text)
	}
	prefix := h.cue + ": "
	found := s.find(prefix + text)
	found = slices.DeleteFunc(found, func(sp span) bool { return sp.lo < len(prefix) })
	for i := range found {
		found[i].lo -= len(prefix)
		found[i].hi -= len(prefix)
	}
	return found
}

func (s *Scrubber) findSecret(kind secretKind, text string) []span {
	found := s.find(text)
	i := slices.IndexFunc(s.rules, func(r rule) bool { return r.Name == "secret" })
	if i < 0 || strings.ContainsAny(text, " \t\r\n") || !isSecret(text, kind, true) {
		return found
	}
	r := &s.rules[i]
	return merge(found, []span{{hi: len(text), rule: r.Name, kind: r.Type, norm: r.norm}})
}

// span is a finding. A span without a rule is a placeholder that stands there
// already.
type span struct {
	lo, hi int
	rule   string
	kind   string // of the placeholder
	norm   func(string) string
}

// find returns findings that do not overlap, in the order of the text.
func (s *Scrubber) find(text string) []span {
	var kept, found []span
	eachPlaceholder(text, func(lo, hi int) { kept = append(kept, span{lo: lo, hi: hi}) })
	for _, c := range s.custom {
		found = found[:0]
		for _, m := range c.re.FindAllStringSubmatchIndex(text, -1) {
			if lo, hi := m[2*c.group], m[2*c.group+1]; lo >= 0 && lo < hi {
				found = append(found, span{lo: lo, hi: hi, rule: c.name, kind: c.name})
			}
		}
		kept = merge(kept, found)
	}
	has := triggers(text)
	if has&hasHigh != 0 {
		if v, ok := fold(text); ok {
			kept = merge(kept, s.findFolded(v))
		}
	}
	for i := range s.rules {
		r := &s.rules[i]
		if has&r.needs != r.needs {
			continue
		}
		found = found[:0]
		r.find(text, func(lo, hi int) {
			found = append(found, span{lo: lo, hi: hi, rule: r.Name, kind: r.Type, norm: r.norm})
		})
		slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.lo, b.lo) }) // rules with several shapes
		kept = merge(kept, found)
	}
	return slices.DeleteFunc(kept, func(sp span) bool { return sp.rule == "" })
}

// findFolded finds in a view. It goes before the original: a part of a value up
// to an invisible character may look like a shorter one.
func (s *Scrubber) findFolded(v view) []span {
	plain := Scrubber{rules: s.rules}
	found := plain.find(v.text)
	for i := range found {
		found[i].lo, found[i].hi = v.lo[found[i].lo], v.hi[found[i].hi-1]
	}
	return found
}

// merge adds to kept what overlaps neither it nor itself. Both are in the order
// of the text.
func merge(kept, found []span) []span {
	if len(found) == 0 {
		return kept
	}
	out := make([]span, 0, len(kept)+len(found))
	for _, sp := range found {
		for len(kept) > 0 && kept[0].hi <= sp.lo {
			out, kept = append(out, kept[0]), kept[1:]
		}
		free := len(out) == 0 || out[len(out)-1].hi <= sp.lo
		if free && (len(kept) == 0 || kept[0].lo >= sp.hi) {
			out = append(out, sp)
		}
	}
	return append(out, kept...)
}

func (n *Session) replace(text string, found []span) string {
	var out strings.Builder
	last := 0
	for _, sp := range found {
		out.WriteString(text[last:sp.lo])
		p := n.placeholder(sp, text[sp.lo:sp.hi])
		if isMemberNumber(text, sp) {
			p = `"` + p + `"`
		}
		out.WriteString(p)
		last = sp.hi
	}
	out.WriteString(text[last:])
	return out.String()
}

// isMemberNumber reports whether a finding is a bare number in JSON that stands
// inside of prose or a code fence: "card": 4111111111111111}. Without quotes the
// placeholder would break it.
func isMemberNumber(text string, sp span) bool {
	for i := sp.lo; i < sp.hi; i++ {
		if !isDigit(text[i]) {
			return false
		}
	}
	before := strings.TrimRight(text[max(0, sp.lo-8):sp.lo], " ")
	after := strings.TrimLeft(text[sp.hi:min(len(text), sp.hi+8)], " \r\n\t")
	return strings.HasSuffix(before, `":`) && after != "" && strings.IndexByte(",}]", after[0]) >= 0
}

func (n *Session) placeholder(sp span, value string) string {
	n.counts[sp.rule]++
	n.seen[value] = sp
	value = foldText(value)
	if sp.norm != nil {
		value = sp.norm(value)
	}
	key := sp.kind + "\x00" + value
	if p, ok := n.known[key]; ok {
		return p
	}
	n.number[sp.kind]++
	p := "<" + sp.kind + "_" + strconv.Itoa(n.number[sp.kind]) + ">"
	n.known[key] = p
	return p
}

// reserve keeps numbers that a text already uses, so that a placeholder in a log
// does not become one with a value found here.
func (n *Session) reserve(text string) {
	eachPlaceholder(text, func(lo, hi int) {
		kind, digits, _ := cutLast(text[lo+1:hi-1], '_')
		if num, err := strconv.Atoi(digits); err == nil && num < 1_000_000 {
			n.number[kind] = max(n.number[kind], num)
		}
	})
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// eachPlaceholder finds <TYPE_1>.
func eachPlaceholder(s string, f func(lo, hi int)) {
	for i := 0; ; {
		lo := strings.IndexByte(s[i:], '<')
		if lo < 0 {
			return
		}
		lo += i
		hi := lo + 1
		for hi < len(s) && (isUpper(s[hi]) || isDigit(s[hi]) || s[hi] == '_') {
			hi++
		}
		i = hi
		if at(s, hi) != '>' || !isUpper(at(s, lo+1)) {
			continue
		}
		if _, digits, ok := cutLast(s[lo+1:hi], '_'); ok && digits != "" && keep(digits, isDigit) == digits {
			f(lo, hi+1)
		}
	}
}
