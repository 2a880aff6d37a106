package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/stages/llm"
)

// asked is what both protocols' requests have in common, and both limits.
type asked struct {
	Model     string        `json:"model"`
	Messages  []llm.Message `json:"messages"`
	Stream    bool          `json:"stream"`
	MaxTokens int           `json:"max_tokens"`
	Options   struct {
		NumPredict int `json:"num_predict"`
	} `json:"options"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (e *Endpoint) chat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	ollama := strings.HasPrefix(r.URL.Path, "/api/")
	var a asked
	if err := json.Unmarshal(body, &a); err != nil {
		fail(w, http.StatusBadRequest, err.Error(), ollama)
		return
	}
	if last := lastUser(a.Messages); strings.Contains(last, llm.ProbeText) && !e.script.Probes {
		e.answerProbe(w, &a, last, ollama)
		return
	}
	n, prompt := e.arrive(Seen{Path: r.URL.Path, Body: body, Header: r.Header.Clone(), Prompt: lastUser(a.Messages)})
	defer e.leave()
	if _, ok := e.find(a.Model); !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", a.Model), ollama)
		return
	}
	f := e.script.Fault(n, prompt)
	if f.Wait != nil {
		select {
		case <-f.Wait:
		case <-r.Context().Done():
			return
		}
	}
	if f.Status != 0 && f.Status != http.StatusOK {
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		fail(w, f.Status, f.Message, ollama)
		return
	}
	answer := newAnswer(&a, f, e.script.Answer(prompt), e.script.Count(prompt))
	var wire dialect = openAIWire{answer}
	if ollama {
		wire = ollamaWire{answer}
	}
	if !a.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, wire.whole())
		return
	}
	w.Header().Set("Content-Type", wire.contentType())
	send(w, r, f, wire.events())
}

// answerProbe counts a probe's tokens in good faith, and not among the requests.
func (e *Endpoint) answerProbe(w http.ResponseWriter, a *asked, prompt string, ollama bool) {
	answer := newAnswer(a, Fault{}, prompt, e.script.Count(prompt))
	var wire dialect = openAIWire{answer}
	if ollama {
		wire = ollamaWire{answer}
	}
	w.Header().Set("Content-Type", wire.contentType())
	for _, event := range wire.events() {
		_, _ = io.WriteString(w, event)
	}
}

// arrive notes a request and returns its number and prompt.
func (e *Endpoint) arrive(s Seen) (int, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, s)
	e.inFlight++
	e.highest = max(e.highest, e.inFlight)
	return len(e.seen) - 1, s.Prompt
}

func (e *Endpoint) leave() {
	e.mu.Lock()
	e.inFlight--
	e.mu.Unlock()
}

func lastUser(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == "user" {
			return messages[i].Content
		}
	}
	return ""
}

// send writes one event per write and stops where the fault says.
func send(w http.ResponseWriter, r *http.Request, f Fault, events []string) {
	out := http.NewResponseController(w)
	_ = out.Flush()
	for i, event := range events {
		if (f.Cut || f.Hang) && i == f.After {
			break
		}
		_, _ = io.WriteString(w, event)
		_ = out.Flush()
	}
	switch {
	case f.Cut:
		panic(http.ErrAbortHandler)
	case f.Hang:
		<-r.Context().Done()
	}
}

// answer is what a model says, as pieces of one token each.
type answer struct {
	model, finish string
	pieces        []string
	prompt        int // tokens
	usage         bool
	f             Fault
}

func newAnswer(a *asked, f Fault, text string, prompt int) answer {
	ans := answer{model: a.Model, finish: "stop", f: f, pieces: strings.SplitAfter(text, " "), prompt: prompt}
	if f.Empty || text == "" {
		ans.pieces = nil
	}
	if limit := max(a.MaxTokens, a.Options.NumPredict); limit > 0 && len(ans.pieces) > limit {
		ans.pieces, ans.finish = ans.pieces[:limit], "length"
	}
	if f.Model != "" {
		ans.model = f.Model
	}
	if f.Finish != "" {
		ans.finish = f.Finish
	}
	ans.usage = !f.NoUsage && (a.StreamOptions.IncludeUsage || !a.Stream)
	return ans
}

// tokens counts the output: one per piece and one per reasoning word.
func (a answer) tokens() int { return len(a.pieces) + len(strings.Fields(a.f.Reasoning)) }

func (a answer) text() string { return strings.Join(a.pieces, "") }

// fail answers in the error form of each protocol.
func fail(w http.ResponseWriter, status int, message string, ollama bool) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if ollama {
		_, _ = fmt.Fprintf(w, `{"error":%s}`, quote(message))
		return
	}
	_, _ = fmt.Fprintf(w, `{"error":{"message":%s,"type":"test","param":null,"code":null}}`, quote(message))
}
