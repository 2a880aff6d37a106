package llm

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxWords  = 2048     // bytes of an endpoint's own words that are kept
	maxSaid   = 64 << 10 // bytes of a failed answer that are read
	minSecret = 4        // shorter values would blank out ordinary text
	redacted  = "[redacted]"
)

// redactor takes key and header values out of what an endpoint says.
type redactor struct {
	replace *strings.Replacer
	forms   []string // all spellings, longest first
}

func newRedactor(o Options) *redactor {
	values := []string{o.APIKey}
	for _, v := range o.Headers {
		values = append(values, v)
		if scheme, rest, ok := strings.Cut(v, " "); ok && isToken(scheme) {
			values = append(values, rest) // the key in "Bearer KEY"
		}
	}
	var forms []string
	for _, v := range values {
		if len(v) >= minSecret {
			forms = append(forms, spellings(v)...)
		}
	}
	// Longer first: a value may be a part of another one.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	forms = slices.Compact(forms)
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, redacted)
	}
	return &redactor{replace: strings.NewReplacer(pairs...), forms: forms}
}

// spellings are the ways in which an answer may repeat a value.
func spellings(v string) []string {
	out := []string{v, url.QueryEscape(v), url.PathEscape(v), base64.StdEncoding.EncodeToString([]byte(v))}
	quoted, err := jsontext.AppendQuote(nil, v)
	if err != nil {
		return out // not UTF-8: JSON cannot spell it
	}
	html, err := jsontext.AppendFormat(nil, quoted, jsontext.EscapeForHTML(true))
	if err != nil {
		html = quoted
	}
	return append(out, string(quoted[1:len(quoted)-1]), string(html[1:len(html)-1]))
}

// words makes an endpoint's text safe to show and keep: secrets out, control
// characters escaped, at most maxWords bytes. cut says that s itself is only
// the beginning of what was said, so that its end may be half a secret.
func (r *redactor) words(s string, cut bool) string {
	s = r.replace.Replace(s)
	if cut {
		s = r.withoutTail(s)
	}
	return escape(strings.TrimSpace(s), maxWords)
}

// page takes the secrets out of a page that is kept whole.
func (r *redactor) page(b []byte) []byte {
	for _, f := range r.forms {
		if bytes.Contains(b, []byte(f)) {
			return []byte(r.replace.Replace(string(b)))
		}
	}
	return b
}

// withoutTail takes the beginning of a secret off the end of s.
func (r *redactor) withoutTail(s string) string {
	most := 0
	for _, f := range r.forms {
		for n := min(len(f)-1, len(s)); n >= minSecret && n > most; n-- {
			if strings.HasSuffix(s, f[:n]) {
				most = n
			}
		}
	}
	return s[:len(s)-most]
}

// escape writes everything that is not printable, and every byte that is not
// UTF-8, as a Go escape, and stops before limit bytes are exceeded.
func escape(s string, limit int) string {
	const more = "…"
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		piece := s[:n]
		switch {
		case r == utf8.RuneError && n == 1:
			piece = `\x` + string("0123456789abcdef"[s[0]>>4]) + string("0123456789abcdef"[s[0]&15])
		case !unicode.IsPrint(r):
			q := strconv.QuoteRune(r)
			piece = q[1 : len(q)-1]
		}
		if b.Len()+len(piece) > limit-len(more) {
			b.WriteString(more)
			break
		}
		b.WriteString(piece)
		s = s[n:]
	}
	return b.String()
}
