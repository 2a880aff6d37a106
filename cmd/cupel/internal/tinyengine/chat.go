package tinyengine

import (
	"fmt"
	"slices"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string // system, user, assistant or tool
	Content string
}

// Roles are the roles the model's chat format has a tag for.
var Roles = []string{"system", "user", "assistant", "tool"}

const (
	tagEnd = "<|end|>"

	// chatTemplate documents, in the usual notation, what render does.
	chatTemplate = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)

func tagOf(role string) string { return "<|" + role + "|>" }

// ContextError says that a prompt leaves no room for an answer. It is never
// cut to fit: an evaluation that lost its first half silently is worse than none.
type ContextError struct {
	Prompt  int // tokens; a lower bound when AtLeast
	AtLeast bool
	Context int
}

func (e *ContextError) Error() string {
	more := ""
	if e.AtLeast {
		more = "at least "
	}
	return fmt.Sprintf("the prompt has %s%d tokens, the context length is %d and one token must be left for the answer", more, e.Prompt, e.Context)
}

// render turns messages into ids: BOS, each turn between its tags, and the tag
// of the assistant, whose turn it is.
func (m *Model) render(messages []Message) ([]int32, error) {
	t, size := m.tok, 0
	var ids []int32
	if t.addBOS {
		ids = append(ids, t.bos)
	}
	for i, msg := range messages {
		if !slices.Contains(Roles, msg.Role) {
			return nil, fmt.Errorf("message %d has role %q, want one of %v", i, msg.Role, Roles)
		}
		size += len(msg.Content)
	}
	// A token stands for at most t.longest bytes: huge prompts are refused
	// before time goes into tokenising them.
	if least := size / t.longest; least >= m.cfg.context {
		return nil, &ContextError{Prompt: least, AtLeast: true, Context: m.cfg.context}
	}
	for _, msg := range messages {
		ids = append(ids, t.special[tagOf(msg.Role)])
		ids = t.appendText(ids, msg.Content)
		ids = append(ids, t.special[tagEnd])
	}
	ids = append(ids, t.special[tagOf("assistant")])
	if len(ids) >= m.cfg.context {
		return nil, &ContextError{Prompt: len(ids), Context: m.cfg.context}
	}
	return ids, nil
}
