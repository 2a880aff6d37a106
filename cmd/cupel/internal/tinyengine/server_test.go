package tinyengine

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func startServer(t *testing.T, names ...string) *Server {
	t.Helper()
	var models []*Model
	for _, n := range names {
		models = append(models, loadEmbedded(t, n))
	}
	s, err := Start(t.Context(), "127.0.0.1:0", models...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func call(t testing.TB, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *Server) post(t testing.TB, body string) (int, string) {
	t.Helper()
	return call(t, "POST", s.url+"/v1/chat/completions", body)
}

func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

func TestDescribe(t *testing.T) {
	s := startServer(t, "tiny-q8_0", "tiny-q2mix")
	status, body := call(t, "GET", s.URL()+"/v1/models", "")
	list := decode[struct {
		Object string
		Data   []modelCard
	}](t, body)
	want := []modelCard{
		{
			ID: "tiny-q2mix", Object: "model", Created: created, OwnedBy: "cupel-tinyengine", Quantization: "MIXED", MaxModelLen: 1024,
			Meta:   modelMeta{1024, 1024, 256, 3214080, 1487872},
			Digest: "18d3b38d848ceb20d52ff2646f52df33d94b1cd06d82519c547a596ee7f3be1a",
		},
		{
			ID: "tiny-q8_0", Object: "model", Created: created, OwnedBy: "cupel-tinyengine", Quantization: "Q8_0", MaxModelLen: 1024,
			Meta:   modelMeta{1024, 1024, 256, 3214080, 3423232},
			Digest: "71e02d4fe19aa1453f9c609f753e88d69c3b0a406044d34922217f7d17ffcdb6",
		},
	}
	if d := cmp.Diff(want, list.Data); status != 200 || list.Object != "list" || d != "" {
		t.Errorf("models: %d %q (-want +got):\n%s", status, list.Object, d)
	}
	status, body = call(t, "GET", s.URL()+"/props?model=tiny-q8_0", "")
	p := decode[modelProps](t, body)
	if status != 200 || p.BuildInfo != BuildInfo || p.ModelAlias != "tiny-q8_0" || p.Defaults.Context != 1024 ||
		p.TotalSlots < 1 || p.ChatTemplate != chatTemplate || len(p.TemplateSHA256) != 64 || len(p.TokenizerSHA) != 64 {
		t.Errorf("props: %d %+v", status, p)
	}
	if status, body = call(t, "GET", s.URL()+"/health", ""); status != 200 || body != "{\"status\":\"ok\"}\n" {
		t.Errorf("health: %d %s", status, body)
	}
	for _, path := range []string{"/props", "/props?model=x", "/metrics"} {
		if status, body := call(t, "GET", s.URL()+path, ""); status != 404 || !strings.Contains(body, `"invalid_request_error"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func chatBody(extra string) string {
	return fmt.Sprintf(`{"model":"tiny-q8_0","messages":[{"role":"user","content":%q}],"temperature":0%s}`, copyPrompt, extra)
}

func TestChatWhole(t *testing.T) {
	s := startServer(t, "tiny-q8_0")
	status, body := s.post(t, chatBody(""))
	r := decode[chatResponse](t, body)
	if status != 200 || r.Object != "chat.completion" || r.Model != "tiny-q8_0" || len(r.Choices) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	c := r.Choices[0]
	if c.Message.Content != "REQ-0417 alpha tulip mango zulu kelp" || c.Message.Role != "assistant" || *c.Finish != "stop" {
		t.Errorf("choice %s", body)
	}
	if d := cmp.Diff(&usage{33, 14, 47}, r.Usage); d != "" {
		t.Errorf("usage (-want +got):\n%s", d)
	}
	parts := strings.Replace(chatBody(""), `"content":`, `"content":[{"type":"text","text":`, 1)
	parts = strings.Replace(parts, `"}]`, `"}]}]`, 1)
	if status, again := s.post(t, parts); status != 200 || decode[chatResponse](t, again).Choices[0].Message.Content != c.Message.Content {
		t.Errorf("text parts: %d %s", status, again)
	}
}

// events reads an SSE stream up to [DONE].
func events(t *testing.T, body string) (out []chatResponse) {
	t.Helper()
	text, rest, done := strings.Cut(body, "data: [DONE]\n\n")
	if !done || rest != "" {
		t.Fatalf("stream does not end with [DONE]: %q", body)
	}
	for _, e := range strings.SplitAfter(text, "\n\n") {
		if e == "" {
			continue
		}
		out = append(out, decode[chatResponse](t, strings.TrimSpace(strings.TrimPrefix(e, "data: "))))
	}
	return out
}

func TestChatStream(t *testing.T) {
	s := startServer(t, "tiny-q8_0")
	for _, withUsage := range []bool{false, true} {
		extra := `,"stream":true`
		if withUsage {
			extra += `,"stream_options":{"include_usage":true}`
		}
		_, body := s.post(t, chatBody(extra))
		got := events(t, body)
		if withUsage {
			last := got[len(got)-1]
			if d := cmp.Diff(&usage{33, 14, 47}, last.Usage); d != "" || len(last.Choices) != 0 || !strings.Contains(body, `"choices":[],"usage"`) {
				t.Errorf("usage chunk %+v", last)
			}
			got = got[:len(got)-1]
		}
		var text []string
		for i, e := range got {
			c := e.Choices[0]
			if role := c.Delta.Role; (role == "assistant") != (i == 0) || e.Usage != nil || e.ID != got[0].ID {
				t.Errorf("chunk %d: %+v", i, e)
			}
			if (c.Finish != nil) != (i == len(got)-1) {
				t.Errorf("chunk %d: finish %v", i, c.Finish)
			}
			text = append(text, c.Delta.Content)
		}
		want := "||R|E|Q|-|0|4|1|7| alpha| tulip| mango| zulu| kelp|"
		if g := "|" + strings.Join(text, "|"); g != want {
			t.Errorf("contents %q, want %q", g, want)
		}
	}
}

func TestChatErrors(t *testing.T) {
	s := startServer(t, "tiny-q8_0")
	long, _ := json.Marshal(strings.Repeat("alpha ", 1100))
	for _, c := range []struct {
		name, body string
		status     int
		code       string
		message    string
	}{
		{"cut off", `{"model":"tiny-q8_0"`, 400, "", "EOF"},
		{"not an object", `[]`, 400, "", "chat completion"},
		{"same key twice", chatBody(`,"seed":1,"seed":2`), 400, "", "duplicate"},
		{"no model", `{"messages":[{"role":"user","content":"x"}]}`, 400, "", "model is missing"},
		{"unknown model", strings.Replace(chatBody(""), "tiny-q8_0", "absent", 1), 404, "model_not_found", "absent"},
		{"no messages", `{"model":"tiny-q8_0","messages":[]}`, 400, "", "messages is empty"},
		{"role", strings.Replace(chatBody(""), `"user"`, `"developer"`, 1), 400, "", "developer"},
		{"image", `{"model":"tiny-q8_0","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "", "image_url"},
		{"content number", `{"model":"tiny-q8_0","messages":[{"role":"user","content":1}]}`, 400, "", "text parts"},
		{"too long", `{"model":"tiny-q8_0","messages":[{"role":"user","content":` + string(long) + `}]}`, 400, "context_length_exceeded", "context length is 1024"},
		{"tools", chatBody(`,"tools":[{"type":"function"}]`), 400, "unsupported_parameter", "tools"},
		{"logprobs", chatBody(`,"logprobs":true`), 400, "unsupported_parameter", "log probabilities"},
		{"n", chatBody(`,"n":2`), 400, "unsupported_parameter", "n must be 1"},
		{"json mode", chatBody(`,"response_format":{"type":"json_object"}`), 400, "unsupported_parameter", "response_format"},
		{"penalty", chatBody(`,"presence_penalty":0.5`), 400, "unsupported_parameter", "penalties"},
		{"temperature", strings.Replace(chatBody(""), `"temperature":0`, `"temperature":3`, 1), 400, "", "temperature"},
		{"top_p", chatBody(`,"top_p":0`), 400, "", "top_p"},
		{"max_tokens", chatBody(`,"max_tokens":0`), 400, "", "max_tokens"},
		{"two limits", chatBody(`,"max_tokens":4,"max_completion_tokens":5`), 400, "", "max_tokens"},
		{"empty stop", chatBody(`,"stop":""`), 400, "", "stop"},
		{"five stops", chatBody(`,"stop":["a","b","c","d","e"]`), 400, "", "stop"},
		{"body size", chatBody(`,"user":"` + strings.Repeat("x", maxBody) + `"`), 413, "", "larger"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := s.post(t, c.body)
			e := decode[struct {
				Error struct {
					Message, Type string
					Code          *string
				}
			}](t, body).Error
			code := ""
			if e.Code != nil {
				code = *e.Code
			}
			if status != c.status || code != c.code || !strings.Contains(e.Message, c.message) || e.Type != "invalid_request_error" {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestChatAccepts(t *testing.T) {
	s := startServer(t, "tiny-q8_0")
	neutral := chatBody(`,"n":1,"tools":[],"tool_choice":"none","logprobs":false,"response_format":{"type":"text"},` +
		`"frequency_penalty":0,"presence_penalty":0,"logit_bias":{},"stop":null,"seed":7,"user":"u","max_completion_tokens":9`)
	status, body := s.post(t, neutral)
	if status != 200 || *decode[chatResponse](t, body).Choices[0].Finish != "length" {
		t.Errorf("%d %s", status, body)
	}
	all := `{"model":"tiny-q8_0","max_tokens":2,"stop":["x"],"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},` +
		`{"role":"assistant","content":null},{"role":"tool","content":"t"},{"role":"user","content":"b"}]}`
	if status, body := s.post(t, all); status != 200 || decode[chatResponse](t, body).Usage.PromptTokens != 1+5*2+4+1 {
		t.Errorf("%d %s", status, body)
	}
}

// TestConcurrent: what runs beside a request has no influence on its text.
func TestConcurrent(t *testing.T) {
	s := startServer(t, "tiny-q8_0", "tiny-q2_k")
	body := func(i int) string {
		return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Say something new."}],"temperature":1.8,"top_p":0.95,"seed":%d,"max_tokens":24}`,
			[]string{"tiny-q8_0", "tiny-q2_k"}[i%2], i)
	}
	text := func(i int) string {
		_, answer := s.post(t, body(i))
		return decode[chatResponse](t, answer).Choices[0].Message.Content
	}
	const n = 8
	alone, together := make([]string, n), make([]string, n)
	for i := range n {
		alone[i] = text(i)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { together[i] = text(i) })
	}
	wg.Wait()
	if d := cmp.Diff(alone, together); d != "" {
		t.Errorf("alone against together:\n%s", d)
	}
	if alone[0] == alone[2] && alone[2] == alone[4] {
		t.Error("seeds make no difference")
	}
}

// TestClientGoesAway: its slot is free again although its answer would have
// gone on; and a client that leaves the queue never computes.
func TestClientGoesAway(t *testing.T) {
	s := startServer(t, "tiny-q8_0")
	loop := `{"model":"tiny-q8_0","temperature":0,"stream":true,"messages":[{"role":"user","content":"Loop these 5 words without stopping:\nalpha tulip mango zulu kelp"}]}`
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/chat/completions", strings.NewReader(loop))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	leave()
	resp.Body.Close()
	if err := s.queue.Acquire(t.Context(), s.slots); err != nil {
		t.Fatal(err)
	}
	ctx, leave = context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/chat/completions", strings.NewReader(chatBody("")))
		_, err := http.DefaultClient.Do(req)
		waiting <- err
	}()
	leave()
	if err := <-waiting; err == nil {
		t.Error("a request got an answer while every slot was taken")
	}
	s.queue.Release(s.slots)
	if status, body := s.post(t, chatBody("")); status != 200 {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

func TestStartRefuses(t *testing.T) {
	m := loadEmbedded(t, "tiny-q2_k")
	for addr, models := range map[string][]*Model{
		"0.0.0.0:0": {m}, ":0": {m}, "localhost:0": {m}, "192.0.2.1:80": {m}, "127.0.0.1:0": nil, "127.0.0.2:0": {m, m},
	} {
		if s, err := Start(t.Context(), addr, models...); err == nil {
			s.Close()
			t.Errorf("%s with %d models must be refused", addr, len(models))
		}
	}
}

func TestServerEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, "127.0.0.1:0", loadEmbedded(t, "tiny-q2_k"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := http.Get(s.URL() + "/health"); err == nil {
		t.Error("still answering")
	}
}

func FuzzDecodeChat(f *testing.F) {
	f.Add([]byte(chatBody(`,"stop":["a"],"max_tokens":3,"seed":-1`)))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"\ud83d"}]}],"top_p":1e-400}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, e := decodeChat(body)
		if e != nil {
			if e.status != 400 || e.Message == "" {
				t.Fatalf("%+v", e)
			}
			return
		}
		o := r.options(1)
		if !(o.Temperature >= 0 && o.Temperature <= 2) || !(o.TopP > 0 && o.TopP <= 1) || o.MaxTokens < 0 || len(r.messages()) == 0 {
			t.Fatalf("%+v from %q", o, bytes.TrimSpace(body))
		}
	})
}
