package tinyengine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"

	"github.com/go-json-experiment/json"
)

func randomSeed() uint64 { return rand.Uint64() }

// chat serves POST /v1/chat/completions.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, e := readBody(w, r)
	if e != nil {
		replyError(w, e)
		return
	}
	req, e := decodeChat(body)
	if e != nil {
		replyError(w, e)
		return
	}
	m, e := s.model(req.Model)
	if e != nil {
		replyError(w, e)
		return
	}
	prompt, err := m.render(req.messages())
	if err != nil {
		replyError(w, promptError(err))
		return
	}
	if s.queue.Acquire(r.Context(), 1) != nil {
		return // the client went away while it waited
	}
	defer s.queue.Release(1)
	a := s.newAnswer(w, req, m)
	o := req.options(s.seed())
	if req.Stream {
		o.OnToken = a.token
	}
	result, err := m.generate(r.Context(), prompt, o)
	if err != nil {
		return // gone, or a write to it failed
	}
	a.end(result)
}

func promptError(err error) *apiError {
	var long *ContextError
	e := badRequest("messages", "%v", err)
	if errors.As(err, &long) {
		e.code("context_length_exceeded")
	}
	return e
}

// answer writes one completion, whole or as a stream.
type answer struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	req    *chatRequest
	head   chatResponse
	opened bool
}

func (s *Server) newAnswer(w http.ResponseWriter, req *chatRequest, m *Model) *answer {
	object := "chat.completion"
	if req.Stream {
		object = "chat.completion.chunk"
	}
	return &answer{w: w, flush: http.NewResponseController(w), req: req, head: chatResponse{
		ID:      fmt.Sprintf("chatcmpl-%d", s.serial.Add(1)),
		Object:  object,
		Created: s.now().Unix(),
		Model:   m.name,
		System:  "tinyengine-1-" + m.digest[:12],
		Choices: []choice{},
	}}
}

// token sends one content chunk and hands it to the network before the next
// token is computed. The chunk with the role goes out with the first token, not
// before the prompt is through: it must not pass for a first token.
func (a *answer) token(text string) error {
	if err := a.open(); err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	if err := a.chunk(chunkAnswer{Content: text}, nil, nil); err != nil {
		return err
	}
	err := a.flush.Flush()
	// The readers of this stream may live in this very process (cupel demo) and
	// wait for a processor that computing goroutines hold.
	runtime.Gosched()
	return err
}

func (a *answer) open() error {
	if a.opened {
		return nil
	}
	a.opened = true
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.Header().Set("Cache-Control", "no-cache")
	return a.chunk(chunkAnswer{Role: "assistant"}, nil, nil)
}

// chunk writes one event. With usage it is the last one, without choices.
func (a *answer) chunk(delta chunkAnswer, finish *string, use *usage) error {
	c := a.head
	c.Usage = use
	if use == nil {
		c.Choices = []choice{{Delta: &delta, Finish: finish}}
	}
	b, err := json.Marshal(c)
	if err == nil {
		_, err = fmt.Fprintf(a.w, "data: %s\n\n", b)
	}
	return err
}

func (a *answer) end(r Result) {
	if !a.req.Stream {
		a.head.Choices = []choice{{Message: &wireAnswer{"assistant", r.Text}, Finish: &r.Finish}}
		a.head.Usage = usageOf(r)
		reply(a.w, http.StatusOK, a.head)
		return
	}
	err := a.open()
	if err == nil {
		err = a.chunk(chunkAnswer{}, &r.Finish, nil)
	}
	if err == nil && a.req.StreamOptions != nil && a.req.StreamOptions.IncludeUsage {
		err = a.chunk(chunkAnswer{}, nil, usageOf(r))
	}
	if err == nil {
		fmt.Fprint(a.w, "data: [DONE]\n\n")
	}
}
