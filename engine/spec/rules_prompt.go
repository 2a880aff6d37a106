package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var placeholder = regexp.MustCompile(`\{([A-Za-z_-]+)\}`)

var placeholders = []string{"canary", "index", "words", "word-list", "filler"}

// prompt checks what a capacity prompt asks for together.
func (r *rules) prompt(p path, n *node) {
	r.template(p, n)
	builder := textOf(n.get("builder"))
	lengths, tokens := n.get("lengths"), n.get("tokens")
	if lengths != nil && tokens != nil {
		r.errs.add(lengths.at, p.with("lengths"), "both tokens and lengths are given", "keep one: lengths are drawn, tokens is one length for all")
	}
	if c := n.get("calibrate"); c != nil && textOf(c) == "endpoint" && tokens == nil {
		r.errs.add(c.at, p.with("calibrate"), "there is no one length to hold the prompts to", "give tokens, or drop calibrate")
	}
	if shared := n.get("sharedTokens"); shared != nil && textOf(n.get("cache")) != "shared" && shared.text != "0" {
		r.errs.add(shared.at, p.with("sharedTokens"), "a shared prefix, and cache is unique", "write cache: shared, or drop sharedTokens")
	}
	if !strings.HasPrefix(builder, "anvil/") {
		return
	}
	if t := n.get("template"); t != nil {
		r.errs.add(t.at, p.with("template"), builder+" has prompts of its own", "drop template or builder")
	}
	if c := n.get("calibrate"); textOf(c) == "endpoint" {
		r.errs.add(c.at, p.with("calibrate"), builder+" reproduces prompts of nominal length", "drop calibrate or builder")
	}
	if tokens == nil && lengths == nil {
		r.errs.add(n.at, p, builder+" needs a length", "give tokens or lengths")
	}
}

func (r *rules) template(p path, prompt *node) {
	t := prompt.get("template")
	text, ok := t.str()
	if !ok {
		return
	}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(placeholders, m[1]) {
			r.errs.add(t.at, p.with("template"), fmt.Sprintf("unknown placeholder {%s}", clip(m[1])), didYouMean(m[1], placeholders))
		}
	}
	if c := prompt.get("canary"); c != nil && c.text == "true" && !strings.Contains(text, "{canary}") {
		r.errs.add(t.at, p.with("template"), "has no {canary}, but canary is true", "")
	}
}
