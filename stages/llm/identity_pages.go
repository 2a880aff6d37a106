package llm

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
)

// page is one page on which an engine tells of itself. read adds what it finds
// to the identity and reports whether the page was understood.
type page struct {
	name string // as it is shown: GET /info
	at   string // below the root
	kind pageKind
	read func(doc []byte, id *Identity) bool
}

// pagesOf lists what is read of an engine, after /v1/models and /props. Pages
// in one row are the same under an older name, or tell the same: the first that
// is understood ends the row. An engine that is not known may be TGI, which puts
// the model's name where others put their own.
func pagesOf(engine string) [][]page {
	switch engine {
	case engineVLLM:
		return [][]page{
			{{name: "GET /version", at: "/version", read: readVersion}},
			{{name: "GET /server_info", at: "/server_info?config_format=json", read: readVLLMServer},
				{name: "GET /inference/v1/config", at: "/inference/v1/config", read: readVLLMConfig}},
			{{name: "GET /metrics", at: "/metrics", kind: metricsPage, read: readVLLMMetrics}},
			{{name: "GET /tokenizer_info", at: "/tokenizer_info", read: readVLLMTokenizer}},
		}
	case engineSGLang:
		return [][]page{
			{{name: "GET /server_info", at: "/server_info", read: readSGLangServer},
				{name: "GET /get_server_info", at: "/get_server_info", read: readSGLangServer}},
			{{name: "GET /model_info", at: "/model_info", read: readSGLangModel},
				{name: "GET /get_model_info", at: "/get_model_info", read: readSGLangModel}},
		}
	case "":
		return [][]page{{{name: "GET /info", at: "/info", read: readTGI}}}
	}
	return nil
}

// read asks for one page. That it is not there, or is something else, says
// nothing: false. That it could not be told is an error.
func (c *Client) read(ctx context.Context, where place, id *Identity, p page) (known bool, err error) {
	if p.kind.accept == "" {
		p.kind = jsonPage
	}
	doc, f := c.page(ctx, c.transport, where.root+p.at, nil, p.kind)
	switch {
	case f == nil:
		id.tell(p.name, func() { known = p.read(c.redact.page(doc), id) })
		return known, nil
	case f.untold():
		return false, problem(http.MethodGet+" "+where.root+p.at, f)
	}
	return false, nil
}

// tell remembers for each field that change changes that this page told it.
func (id *Identity) tell(name string, change func()) {
	before := id.facts()
	change()
	for field, now := range id.facts() {
		was, told := before[field]
		if string(was) == string(now) {
			continue
		}
		if id.By == nil {
			id.By = map[string]string{}
		}
		if by := id.By[field]; told && by != "" { // a list of several pages
			id.By[field] = by + ", " + name
			continue
		}
		id.By[field] = name
	}
}

// facts are the fields that an identity's JSON form has.
func (id *Identity) facts() (out map[string]json.RawMessage) {
	b, err := json.Marshal(id)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		panic("llm: an identity is plain data: " + err.Error())
	}
	return out
}

// setting adds settings; one that another page told already stays.
func (id *Identity) setting(more map[string]string) { id.Settings = merged(id.Settings, more) }

// applies adds parameters likewise.
func (id *Identity) applies(more map[string]string) { id.Parameters = merged(id.Parameters, more) }

func merged(old, more map[string]string) map[string]string {
	if len(more) == 0 {
		return old
	}
	out := maps.Clone(more)
	maps.Copy(out, old)
	return out
}

// set keeps what an earlier page told.
func set[T comparable](to *T, v T) {
	var zero T
	if *to == zero {
		*to = v
	}
}

func readVersion(doc []byte, id *Identity) bool {
	v := decodeVersion(doc)
	set(&id.EngineVersion, v)
	return v != ""
}
