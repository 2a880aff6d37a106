package llm

import "strings"

// infoLabels returns the labels of a metric whose value says nothing: a
// configuration in the form of a metric. Where several lines (one per replica)
// say different things of a label, it is left out; nil = there is no such metric.
func infoLabels(page, metric string) map[string]string {
	var out map[string]string
	for line := range strings.Lines(page) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), metric+"{")
		if !ok {
			continue
		}
		labels, ok := readLabels(rest)
		switch {
		case !ok:
		case out == nil:
			out = labels
		default:
			agree(out, labels)
		}
	}
	return out
}

// agree leaves of a only what b says alike.
func agree(a, b map[string]string) {
	for name, v := range a {
		if b[name] != v {
			delete(a, name)
		}
	}
}

// readLabels reads name="value",... up to the closing brace. Empty values, and
// Python's None, are as good as none.
func readLabels(s string) (map[string]string, bool) {
	out := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t,")
		if strings.HasPrefix(s, "}") {
			return out, true
		}
		name, rest, ok := strings.Cut(s, `="`)
		if !ok || !isToken(name) {
			return nil, false
		}
		value, rest, ok := labelValue(rest)
		if !ok {
			return nil, false
		}
		if v := pathless(plain(value)); v != "" && v != "None" {
			out[name] = v
		}
		s = rest
	}
}

// labelValue reads a label's value up to its closing quote.
func labelValue(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			if s[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}
