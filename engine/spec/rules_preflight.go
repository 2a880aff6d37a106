package spec

import (
	"fmt"

	"cuelang.org/go/cue"
)

// preflightSections are the fields of preflight that set one check.
var preflightSections = []struct{ field, check string }{
	{"needle", "needle"}, {"tools", "tools"}, {"longTools", "long-tools"}, {"json", "json"}, {"generate", "generate"},
	{"reasoning", "reasoning"}, {"seed", "seed"}, {"image", "image"}, {"ocr", "ocr"}, {"video", "video"},
}

func (r *rules) preflight() {
	pre := r.root.get("preflight")
	checks := map[string]*node{}
	for i, n := range pre.get("checks").items() {
		s, ok := n.str()
		if ok && checks[s] != nil {
			r.errs.add(n.at, path{"preflight", "checks", index(i)}, fmt.Sprintf("a second %q", show(s)), "each check is made once")
		}
		checks[s] = n
	}
	if n := pre.get("json").get("expect"); n != nil && n.kind == cue.NullKind {
		r.fail(path{"preflight", "json", "expect"}, "found nothing (null), allowed any other JSON value", "leave it out to accept every JSON value")
	}
	defaults := pre.get("checks") == nil
	for _, s := range preflightSections {
		if f := pre.field(s.field); f != nil && checks[s.check] == nil && !(defaults && s.check == "generate") {
			r.warnings.add(f.at, path{"preflight", s.field}, "is set, but the check is not made", "add "+s.check+" to checks")
		}
	}
	r.needs(pre, checks)
	r.pictures(pre)
	r.longTools(pre)
}

// needs refuses checks that cannot be made without a setting.
func (r *rules) needs(pre *node, checks map[string]*node) {
	compat, _ := pre.get("compat").str()
	if n := checks["needle"]; n != nil && pre.get("needle") == nil && compat == "" {
		r.errs.add(n.at, path{"preflight", "checks"}, "the check needle needs a length", "add needle: {promptTokens: 16000} to preflight")
	}
	if n := checks["video"]; n != nil && pre.get("video") == nil {
		r.errs.add(n.at, path{"preflight", "checks"}, "the check video needs a film, cupel has none", "add video: {file: film.mp4, expect: [...]} to preflight")
	}
}

// pictures wants file and expect together: without a file cupel draws the
// pictures, and knows what is in them.
func (r *rules) pictures(pre *node) {
	for _, name := range []string{"image", "ocr"} {
		n, p := pre.get(name), path{"preflight", name}
		file, expect, prompt := n.get("file"), n.get("expect"), n.get("prompt")
		switch {
		case file != nil && expect == nil:
			r.errs.add(n.at, p, "names a file and not what the answer must hold", "add expect: [...]")
		case file == nil && (expect != nil || prompt != nil):
			r.errs.add(n.at, p, "says what to ask and names no file", "add file, or leave "+name+" out: cupel draws pictures of its own")
		}
	}
}

func (r *rules) longTools(pre *node) {
	n := pre.get("longTools")
	tokens, least := intOr(n.get("promptTokens"), 131072), intOr(n.get("min"), 100000)
	if n != nil && least > tokens {
		r.errs.add(n.at, path{"preflight", "longTools"}, fmt.Sprintf("wants at least %d tokens of a prompt of %d", least, tokens), "lower min, or raise promptTokens")
	}
}

// intOr is the number that n holds, otherwise where it holds none.
func intOr(n *node, otherwise int) int {
	if v, ok := intOf(n); ok {
		return v
	}
	return otherwise
}
