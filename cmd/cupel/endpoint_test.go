package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// scripted is an endpoint that answers from an item file and goes wrong where
// a test says so. It can be stopped and started again at the same address.
type scripted struct {
	tb    testing.TB
	name  string // of the model that it serves
	items map[string]item
	addr  string
	http  *http.Server

	mu      sync.Mutex
	wire    *llmtest.Endpoint
	perWord int               // tokens of a word of a prompt
	answers map[string]string // item -> what is answered instead of the reference
	faults  map[string]string // item -> kind; "" = every chat, "*" = every request
	held    map[string]chan struct{}
	asked   []string           // items of chat requests since the last look, in order of arrival
	all     []string           // the same, and never forgotten
	seeds   map[string][]int64 // item -> seeds of its requests since the last look
	seed    int64              // of the last chat request
	hits    int                // requests of any kind since the last look
	changed chan struct{}
}

// item is what an endpoint knows of a line of the item file, by its prompt.
type item struct{ id, answer string }

// digests of the two models of testdata/campaign.yaml.
var digests = map[string]string{"f16": strings.Repeat("a", 64), "q8": strings.Repeat("b", 64), "faithful": strings.Repeat("c", 64)}

// patience is how long a test waits for what must happen before it fails.
const patience = time.Minute

func newScripted(tb testing.TB, name, itemFile string) *scripted {
	tb.Helper()
	s := &scripted{
		tb: tb, name: name, items: readItems(tb, itemFile), addr: "127.0.0.1:0",
		perWord: 1, answers: map[string]string{}, faults: map[string]string{}, held: map[string]chan struct{}{}, seeds: map[string][]int64{}, changed: make(chan struct{}),
	}
	s.serve(llmtest.Model{ID: name, Digest: digests[name], Context: 512})
	s.start()
	tb.Cleanup(func() { s.release(); s.stop() })
	return s
}

func readItems(tb testing.TB, file string) map[string]item {
	tb.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]item{}
	for line := range bytes.Lines(b) {
		var it struct {
			ID, Input string
			Answer    json.RawMessage
		}
		if err := json.Unmarshal(line, &it); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		answer := string(it.Answer)
		var text string
		if json.Unmarshal(it.Answer, &text) == nil {
			answer = text
		}
		out[it.Input] = item{it.ID, answer}
	}
	return out
}

// serve changes what the endpoint says it is.
func (s *scripted) serve(m llmtest.Model) {
	wire := llmtest.New(s.tb, llmtest.Script{Models: []llmtest.Model{m}, Answer: s.answer, Fault: s.fault, Count: s.tokens})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wire = wire
}

// tokens counts those of a prompt.
func (s *scripted) tokens(prompt string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.perWord * len(strings.Fields(prompt))
}

// tokenise changes how many tokens a word has; the endpoint says nothing of it.
func (s *scripted) tokenise(perWord int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perWord = perWord
}

func (s *scripted) url() string { return "http://" + s.addr + "/v1" }

func (s *scripted) start() {
	s.tb.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.addr = l.Addr().String()
	s.http = &http.Server{Handler: s}
	go s.http.Serve(l)
}

func (s *scripted) stop() { _ = s.http.Close() }

// identify names the item of a prompt; preflight's prompts have names too.
func (s *scripted) identify(prompt string) item {
	if it, ok := s.items[prompt]; ok {
		return it
	}
	switch {
	case strings.HasPrefix(prompt, "You judge one answer"):
		return s.judged(prompt)
	case strings.Contains(prompt, "JSON"):
		return item{"json", `{"ok": true, "count": 3}`}
	case strings.Contains(prompt, "Say hello"):
		return item{"generate", "Hello there."}
	}
	return item{"load", prompt[strings.IndexByte(prompt, '\n')+1:]} // a capacity request: the canary stands after its nonce
}

// judged passes an answer that holds its reference. The item is named after the
// task that is judged.
func (s *scripted) judged(prompt string) item {
	part := func(from, to string) string {
		_, rest, _ := strings.Cut(prompt, from+"\n")
		mark := prompt[strings.Index(prompt, "##") : strings.Index(prompt, "##")+14]
		text, _, _ := strings.Cut(rest, "\n"+mark+" "+to)
		return text
	}
	task, reference, answer := part(" task", "reference"), part(" reference", "answer"), part(" answer", "end")
	id := "judged-" + task
	if it, ok := s.items[task]; ok {
		id = "judged-" + it.id
	}
	if strings.Contains(answer, reference) {
		return item{id, `{"reason": "it is there", "verdict": "pass"}`}
	}
	return item{id, `{"reason": "it is missing", "verdict": "fail"}`}
}

func (s *scripted) answer(prompt string) string {
	it := s.identify(prompt)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range []string{fmt.Sprintf("%s@%d", it.id, s.seed), it.id} {
		if a, ok := s.answers[at]; ok {
			return a
		}
	}
	return it.answer
}

// ServeHTTP counts, makes the faults below the protocol, and passes the rest on.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := s.count(r, body)
	s.mu.Lock()
	_, everywhere := s.faults["*"]
	wire := s.wire
	s.mu.Unlock()
	if (id != "" || everywhere) && s.raw(w, r, s.kind(id)) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	wire.ServeHTTP(w, r)
}

// count notes a request and returns the item that it asks for, "" when it is
// not a chat request.
func (s *scripted) count(r *http.Request, body []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return ""
	}
	var a struct {
		Messages []struct{ Content string }
		Seed     int64
	}
	if err := json.Unmarshal(body, &a); err != nil || len(a.Messages) == 0 {
		s.tb.Errorf("endpoint %s: a request that it cannot read: %s", s.name, body)
		return ""
	}
	prompt := a.Messages[len(a.Messages)-1].Content
	if strings.Contains(prompt, llm.ProbeText) {
		return "" // of a pin, which looks each time it is asked
	}
	id := s.identify(prompt).id
	s.asked = append(s.asked, id)
	s.all = append(s.all, id)
	s.seed = a.Seed
	s.seeds[id] = append(s.seeds[id], a.Seed)
	close(s.changed)
	s.changed = make(chan struct{})
	return id
}

// spoil makes a fault at the given items, at every chat request when there are none.
func (s *scripted) spoil(kind string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(ids) == 0 {
		ids = []string{""}
	}
	for _, id := range ids {
		s.faults[id] = kind
	}
}

// mend takes all faults and wrong answers back.
func (s *scripted) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	clear(s.answers)
}

// say answers an item with another text than its reference.
func (s *scripted) say(text string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.answers[id] = text
	}
}

// hold lets requests for an item arrive and answers them after release.
func (s *scripted) hold(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.held[id] = make(chan struct{})
	}
}

func (s *scripted) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		close(c)
	}
	clear(s.held)
}

// await returns when the item has been asked for since the last look.
func (s *scripted) await(id string) error {
	late := time.After(patience)
	for {
		s.mu.Lock()
		there, changed := slices.Contains(s.asked, id), s.changed
		s.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-changed:
		case <-late:
			return fmt.Errorf("endpoint %s: %s was not asked for", s.name, id)
		}
	}
}

// look returns what was asked for since the last look, sorted.
func (s *scripted) look() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Sorted(slices.Values(s.asked))
	s.asked, s.hits = nil, 0
	clear(s.seeds)
	return out
}
