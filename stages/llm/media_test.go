package llm_test

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

func shown(media ...llm.Media) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: "user", Content: "see", Media: media}}, Sampling: llm.Sampling{TopP: 1, MaxTokens: 9}}
}

var (
	png = llm.Media{Kind: "image", MIME: "image/png", Data: []byte("abc")}
	mp4 = llm.Media{Kind: "video", MIME: "video/mp4", Data: []byte("abc")}
)

func TestMediaBytes(t *testing.T) {
	for _, c := range []struct {
		api  llm.API
		r    llm.Request
		want string
	}{
		{llm.OpenAI, shown(png), `"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}}]}]`},
		{llm.OpenAI, shown(mp4, png), `[{"type":"text","text":"see"},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,YWJj"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}}]`},
		{llm.OpenAIResponses, shown(png), `"input":[{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,YWJj"}]}]`},
		{llm.Ollama, shown(png, png), `"messages":[{"role":"user","content":"see","images":["YWJj","YWJj"]}]`},
		{llm.OllamaGenerate, shown(png), `"prompt":"see","images":["YWJj"],"stream"`},
	} {
		p, err := of(t, c.api).Prepare(c.r)
		if err != nil || !strings.Contains(string(p.Body), c.want) {
			t.Errorf("%s: %v, want %s", c.api, err, c.want)
		} else if p.PromptBytes != len("see") {
			t.Errorf("%s: %d prompt bytes: text alone counts", c.api, p.PromptBytes)
		}
	}
	silent := shown(png)
	silent.Messages[0].Content = ""
	if p, err := of(t, llm.OpenAI).Prepare(silent); err != nil || strings.Contains(string(p.Body), `"text"`) {
		t.Errorf("an empty text became a part: %v", err)
	}
}

func TestMediaRefused(t *testing.T) {
	for _, c := range []struct {
		api   llm.API
		media llm.Media
		says  string
	}{
		{llm.OpenAICompletions, png, "no place for media"},
		{llm.Ollama, mp4, "no video"},
		{llm.OllamaGenerate, mp4, "no video"},
		{llm.OpenAIResponses, mp4, "no video"},
		{llm.OpenAI, llm.Media{Kind: "sound", MIME: "audio/wav", Data: []byte("a")}, `kind "sound"`},
		{llm.OpenAI, llm.Media{Kind: "image", MIME: "video/mp4", Data: []byte("a")}, `"video/mp4"`},
		{llm.OpenAI, llm.Media{Kind: "image", MIME: "image/png;x", Data: []byte("a")}, `"image/png;x"`},
		{llm.OpenAI, llm.Media{Kind: "image", MIME: "image/png"}, "empty"},
	} {
		if _, err := of(t, c.api).Prepare(shown(c.media)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %s: %v, want %q in it", c.api, c.media.Kind, err, c.says)
		}
	}
	r := shown(png)
	r.Messages = append(r.Messages, llm.Message{Role: "assistant", Content: "a", Media: []llm.Media{png}})
	if _, err := of(t, llm.OpenAI).Prepare(r); err == nil || !strings.Contains(err.Error(), "message 2: a message of the role assistant") {
		t.Error(err)
	}
	e := llmtest.New(t, llmtest.Script{Ollama: "0.17.4", Models: []llmtest.Model{{ID: "m:latest", Digest: hexA, Weights: hexB}}})
	id, _, err := identify(t, llm.Options{URL: e.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.PrepareFor(id)(shown(mp4)); err == nil || !strings.Contains(err.Error(), "no video") {
		t.Error(err)
	}
}
