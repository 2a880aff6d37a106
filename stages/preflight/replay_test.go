package preflight

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// replay answers every request with what a real server once sent.
type replay []byte

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	_, raw, _ := bytes.Cut(r, []byte("# ---- raw (curl -sN -i)\n"))
	head, body, _ := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(append(head, "\n\n"...))), req)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// TestReplay: a call that Ollama really sent, of another city than was asked
// for, is one to the other tool's rule and none to cupel's.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		file, url, compat string
		api               llm.API
		want              string
	}{
		{"ollama-v1-table2-toolcall", "http://127.0.0.1:1/v1", "", llm.OpenAI, `it asks for "paris", want Oakland`},
		{"ollama-v1-table2-toolcall", "http://127.0.0.1:1/v1", "anvil", llm.OpenAI, "as asked"},
		{"ollama-table2-toolcall", "http://127.0.0.1:1", "", llm.Ollama, `it asks for "paris", want Oakland`},
		{"ollama-table2-toolcall", "http://127.0.0.1:1", "anvil", llm.Ollama, "as asked"},
		{"ollama-tools", "http://127.0.0.1:1", "", llm.Ollama, "no call was made, want one"},
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wire", c.file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		model := "table2"
		if strings.HasSuffix(c.file, "-tools") {
			model = "tiny"
		}
		client, err := llm.New(llm.Options{URL: c.url, API: c.api, Model: model, Transport: replay(b)})
		if err != nil {
			t.Fatal(err)
		}
		doc := replayed(t, client, spec.Preflight{Checks: []string{"streaming-tools"}, Compat: c.compat}, c.api)
		if got := doc.Checks[0].Reason; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.file, c.compat, got, c.want)
		}
	}
}

// known is a client whose identity is not asked for: the capture holds none.
type known struct{ *llm.Client }

func (known) Identity(context.Context) (llm.Identity, error) { return llm.Identity{}, nil }

func (known) Hardware(context.Context) (hardware.Seen, error) {
	return hardware.Unseen(hardware.NotLocal, ""), nil
}

func replayed(t *testing.T, c *llm.Client, pre spec.Preflight, api llm.API) (doc evidence.PreflightDoc) {
	t.Helper()
	pinned, err := json.Marshal(evidence.PinDoc{Observed: llm.Identity{API: api}})
	if err != nil {
		t.Fatal(err)
	}
	campaign := &spec.Campaign{Preflight: pre, Candidates: map[string]spec.Candidate{"a": {Sampling: spec.Sampling{TopP: 1, MaxTokens: 64}}}}
	job := &pintest.Job{S: Steps(campaign)[0], Inputs: map[string][]byte{pin.Input: pinned}}
	if err := (Runner{Dial: func(string) (Endpoint, error) { return known{c}, nil }}).Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(job.Output(evidence.OutPreflight), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
