package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Handler serves the whole hostile suite: a request below /case/NAME/ gets the
// answer of the case with that Slug, whatever it asks for, so that
// http://HOST/case/NAME/v1 is the base URL of an OpenAI-compatible server and
// http://HOST/case/NAME that of an Ollama. Lists of models are answered in
// good faith, and / lists the cases with what must come out. It needs a
// server that lets it take the connection, as that of net/http does for
// HTTP/1.1.
func Handler() http.Handler { return HandlerWith(time.Sleep) }

// HandlerWith is Handler with another way to wait between pieces.
func HandlerWith(sleep func(time.Duration)) http.Handler {
	cases := map[string]Hostile{}
	for _, h := range Hostiles() {
		cases[h.Slug()] = h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, below := strings.CutPrefix(r.URL.Path, "/case/")
		name, path, _ := strings.Cut(rest, "/")
		h, known := cases[name]
		switch {
		case !below && r.URL.Path == "/":
			list(w)
		case !below || !known:
			http.Error(w, "no such case", http.StatusNotFound)
		case r.Method == http.MethodGet:
			h.goodFaith(w, path)
		default:
			h.serve(w, r, sleep)
		}
	})
}

// serve answers below HTTP: net/http would not let most of the cases out.
func (h Hostile) serve(w http.ResponseWriter, r *http.Request, sleep func(time.Duration)) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this server does not give its connection away: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	h.write(conn, sleep)
}

// goodFaith answers what a client asks before it measures.
func (h Hostile) goodFaith(w http.ResponseWriter, path string) {
	model := h.Model
	if model == "" {
		model = "tiny"
	}
	entry := map[string]any{"id": model, "object": "model", "name": model, "model": model}
	switch path {
	case "v1/models":
		reply(w, map[string]any{"object": "list", "data": []any{entry}})
	case "api/tags":
		reply(w, map[string]any{"models": []any{entry}})
	case "api/version":
		reply(w, map[string]any{"version": "0.0.0"})
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func list(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, h := range Hostiles() {
		must := "usable"
		if h.Class != "" {
			must = string(h.Class)
		}
		_, _ = fmt.Fprintf(w, "/case/%s\t%s\t%s\n", h.Slug(), must, h.Name)
	}
}
