package tinyengine

import (
	"context"
	"errors"
	"strings"
	"testing"
)

const copyPrompt = "Begin with REQ-0417 then repeat these 5 words:\nalpha tulip mango zulu kelp"

func user(text string) []Message { return []Message{{Role: "user", Content: text}} }

func TestGenerate(t *testing.T) {
	m := loadEmbedded(t, "tiny-q8_0")
	const answer = "REQ-0417 alpha tulip mango zulu kelp"
	loop := user("Loop these 5 words without stopping:\nalpha tulip mango zulu kelp")
	for _, c := range []struct {
		name     string
		messages []Message
		o        Options
		want     string
		finish   string
		tokens   int
	}{
		{"end token counts", user(copyPrompt), Options{}, answer, FinishStop, 14},
		{"length", user(copyPrompt), Options{MaxTokens: 9}, "REQ-0417 alpha", FinishLength, 9},
		{"exactly the text without its end", user(copyPrompt), Options{MaxTokens: 13}, answer, FinishLength, 13},
		{"stop", user(copyPrompt), Options{Stop: []string{" mango"}}, "REQ-0417 alpha tulip", FinishStop, 11},
		{"greedy nucleus", user(copyPrompt), Options{Temperature: 1, TopP: 1e-6, Seed: 4}, answer, FinishStop, 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			var streamed strings.Builder
			c.o.OnToken = func(s string) error { streamed.WriteString(s); return nil }
			r, err := m.Generate(context.Background(), c.messages, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != c.want || r.Finish != c.finish || r.CompletionTokens != c.tokens {
				t.Errorf("%+v, want %q, %s, %d tokens", r, c.want, c.finish, c.tokens)
			}
			if streamed.String() != r.Text {
				t.Errorf("streamed %q, text %q", streamed.String(), r.Text)
			}
		})
	}
	r, err := m.Generate(context.Background(), loop, Options{})
	if err != nil || r.Finish != FinishLength || r.PromptTokens+r.CompletionTokens != m.cfg.context {
		t.Errorf("endless answer: %s after %d + %d tokens, %v; want the context of %d filled", r.Finish, r.PromptTokens, r.CompletionTokens, err, m.cfg.context)
	}
}

func TestGenerateRefuses(t *testing.T) {
	m := loadEmbedded(t, "tiny-q2_k")
	var long *ContextError
	fits := strings.Repeat("1", m.cfg.context-5) // bos, user, end, assistant, one free
	for _, c := range []struct {
		name     string
		messages []Message
		want     string
	}{
		{"none", nil, "no messages"},
		{"role", []Message{{Role: "developer", Content: "x"}}, "role"},
		{"one too many", user(fits + "1"), "1024 tokens"},
		{"huge", user(strings.Repeat("1", 6<<20)), "at least"},
	} {
		_, err := m.Generate(context.Background(), c.messages, Options{MaxTokens: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if tooLong := errors.As(err, &long); tooLong != (c.name == "huge" || c.name == "one too many") {
			t.Errorf("%s: %T", c.name, err)
		}
	}
	if r, err := m.Generate(context.Background(), user(fits), Options{}); err != nil || r.PromptTokens != m.cfg.context-1 || r.CompletionTokens != 1 {
		t.Errorf("a prompt that just fits: %+v, %v", r, err)
	}
}

// TestCancel: the token after the cancellation is not computed, and the next
// request on the recycled buffers is not affected.
func TestCancel(t *testing.T) {
	m := loadEmbedded(t, "tiny-q8_0")
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	r, err := m.Generate(ctx, user(copyPrompt), Options{OnToken: func(string) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || r.CompletionTokens != 3 {
		t.Errorf("%v after %d tokens, want cancelled after 3", err, r.CompletionTokens)
	}
	if r, err := m.Generate(ctx, user(copyPrompt), Options{}); !errors.Is(err, context.Canceled) || r.CompletionTokens != 0 {
		t.Errorf("cancelled before: %v, %d tokens", err, r.CompletionTokens)
	}
	gone := errors.New("gone")
	if _, err := m.Generate(context.Background(), user(copyPrompt), Options{OnToken: func(string) error { return gone }}); !errors.Is(err, gone) {
		t.Errorf("error of OnToken: %v", err)
	}
	if r, err := m.Generate(context.Background(), user(copyPrompt), Options{MaxTokens: 9}); err != nil || r.Text != "REQ-0417 alpha" {
		t.Errorf("afterwards: %q, %v", r.Text, err)
	}
}
