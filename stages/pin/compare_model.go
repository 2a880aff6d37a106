package pin

import (
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// model lists the pins of the weights, and what an engine says of them besides.
func (o observation) model(c spec.Candidate) []evidence.PinField {
	fields := []evidence.PinField{
		o.repository(c.Model.Repo),
		o.field("model.revision", c.Model.Revision, o.id.Revision, "revision", same(exact)),
		o.digest(c.Model.SHA256),
	}
	if o.id.File != "" {
		fields = append(fields, o.field("model.file", "", o.id.File, "file", same(exact)))
	}
	if o.id.Parent != "" {
		fields = append(fields, o.field("model.parent", "", o.id.Parent, "parent", same(exact)))
	}
	return fields
}

// repository compares the declared repository. A local path may hold anything:
// that its last part is another name proves nothing.
func (o observation) repository(want string) evidence.PinField {
	if want == "" || o.id.Repo != "" || o.id.File == "" {
		return o.field("model.repo", want, o.id.Repo, "repo", repositories)
	}
	f := o.field("model.repo", want, o.id.File, "file", repositories)
	f.State, f.Note = unknown, "the engine loaded a local path, which cannot be held against a repository; declare model.sha256 or check the folder"
	return f
}

// repositories ignores case, as hubs do. "gpt2" may be one that has no
// organisation, or a folder.
func repositories(want, got string) (state, note string) {
	if strings.EqualFold(want, got) {
		return equal, ""
	}
	if !strings.Contains(got, "/") {
		return unknown, "the engine tells a name without an organisation, which may be a folder"
	}
	return differs, ""
}

// engines knows that TGI is short for something.
func engines(a, b string) bool {
	short := map[string]string{"textgenerationinference": "tgi", "huggingfacetgi": "tgi", "llamaserver": "llamacpp"}
	x, y := letters(a), letters(b)
	if s, ok := short[x]; ok {
		x = s
	}
	if s, ok := short[y]; ok {
		y = s
	}
	return x == y
}

// labels: an engine knows the label that its image was built with. What is
// declared is a digest.
func labels(want, got string) (state, note string) {
	return unknown, "the engine tells the label of its build, which no digest can be held against"
}
