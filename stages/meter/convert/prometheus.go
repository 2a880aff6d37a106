package convert

import (
	"errors"
	"strings"
)

// metric is one line of the Prometheus text format.
type metric struct {
	name   string
	labels map[string]string
	value  string
	stamp  string // ms since 1970, "" = none
}

var errMetric = errors.New("not a line of the Prometheus text format")

// readMetric reads name{label="value",...} value [timestamp].
func readMetric(line string) (m metric, err error) {
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return m, errMetric
	}
	m.name, m.labels = line[:end], map[string]string{}
	rest := line[end:]
	if strings.HasPrefix(rest, "{") {
		if rest, err = m.readLabels(rest[1:]); err != nil {
			return m, err
		}
	}
	f := strings.Fields(rest)
	if len(f) != 1 && len(f) != 2 {
		return m, errMetric
	}
	m.value = f[0]
	if len(f) == 2 {
		m.stamp = f[1]
	}
	return m, nil
}

// readLabels reads up to the closing brace and returns what is behind it.
func (m *metric) readLabels(s string) (rest string, err error) {
	for {
		s = strings.TrimLeft(s, " \t,")
		if strings.HasPrefix(s, "}") {
			return s[1:], nil
		}
		name, behind, ok := strings.Cut(s, "=")
		behind = strings.TrimLeft(behind, " ")
		if !ok || !strings.HasPrefix(behind, `"`) {
			return "", errMetric
		}
		name = strings.TrimSpace(name)
		value, rest, ok := quoted(behind[1:])
		if _, twice := m.labels[name]; !ok || twice {
			return "", errMetric
		}
		m.labels[name] = value
		s = rest
	}
}

// quoted reads up to the closing quote, and undoes \\, \" and \n.
func quoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			if s[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
