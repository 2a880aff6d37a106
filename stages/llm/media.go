package llm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Media is a picture or a film that goes with the text of a user's message.
//
//	                    image                          video
//	openai              image_url, as a data URL       video_url, as a data URL; vLLM and SGLang
//	openai-responses    input_image, as a data URL     refused
//	openai-completions  refused                        refused
//	ollama, -generate   images, as base64              refused
type Media struct {
	Kind string `json:"kind"` // image | video
	MIME string `json:"mime"` // image/png, video/mp4, ...
	Data []byte `json:"data"`
}

// MediaKinds are the values of Media.Kind.
var MediaKinds = []string{"image", "video"}

func (m *Media) base64() string { return base64.StdEncoding.EncodeToString(m.Data) }

func (m *Media) dataURL() string { return "data:" + m.MIME + ";base64," + m.base64() }

// checkMedia refuses what no protocol could carry, and what this one cannot.
func (d *draft) checkMedia(k *known) error {
	for i, m := range d.Messages {
		for j := range m.Media {
			err := m.Media[j].check(k)
			if m.Role != "user" {
				err = fmt.Errorf("a message of the role %s holds media, only a user's may", m.Role)
			}
			if err != nil {
				return fmt.Errorf("message %d: %w", i+1, err)
			}
		}
	}
	return nil
}

func (m *Media) check(k *known) error {
	switch {
	case m.Kind != "image" && m.Kind != "video":
		return fmt.Errorf("media of the kind %q, want image or video", m.Kind)
	case !strings.HasPrefix(m.MIME, m.Kind+"/") || strings.ContainsAny(m.MIME, ";, "):
		return fmt.Errorf("the type of the %s is %q, want %s/ and a format", m.Kind, m.MIME, m.Kind)
	case len(m.Data) == 0:
		return fmt.Errorf("the %s is empty", m.Kind)
	case k.api == OpenAICompletions:
		return step.WithHint(errors.New("a bare prompt has no place for media"), "use api: openai")
	case m.Kind == "video" && (k.api.ollama() || k.engine == engineOllama):
		return step.WithHint(errors.New("Ollama takes images and no video"), "send single frames as images, or ask another engine")
	case m.Kind == "video" && k.api == OpenAIResponses:
		return step.WithHint(errors.New("the responses API takes images and no video"), "use api: openai")
	}
	return nil
}

// chatPart is a part of a chat message that is not text alone.
type chatPart struct {
	Type  string   `json:"type"`
	Text  string   `json:"text,omitzero"`
	Image *mediaAt `json:"image_url,omitzero"`
	Video *mediaAt `json:"video_url,omitzero"`
}

type mediaAt struct {
	URL string `json:"url"`
}

// chatContent is a message's text, or its parts when it holds media. The text
// of a message without media stays a string: its bytes are in stored digests.
func chatContent(m Message) any {
	if len(m.Media) == 0 {
		return m.Content
	}
	var parts []chatPart
	if m.Content != "" {
		parts = append(parts, chatPart{Type: "text", Text: m.Content})
	}
	for i := range m.Media {
		at := &mediaAt{m.Media[i].dataURL()}
		if m.Media[i].Kind == "video" {
			parts = append(parts, chatPart{Type: "video_url", Video: at})
		} else {
			parts = append(parts, chatPart{Type: "image_url", Image: at})
		}
	}
	return parts
}

// inputPart is a part of a turn of the responses API.
type inputPart struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitzero"`
	Image string `json:"image_url,omitzero"`
}

// responsesContent is chatContent for the responses API.
func responsesContent(m Message) any {
	if len(m.Media) == 0 {
		return m.Content
	}
	var parts []inputPart
	if m.Content != "" {
		parts = append(parts, inputPart{Type: "input_text", Text: m.Content})
	}
	for i := range m.Media {
		parts = append(parts, inputPart{Type: "input_image", Image: m.Media[i].dataURL()})
	}
	return parts
}

// ollamaImages are a message's images as Ollama takes them, nil = none.
func ollamaImages(m Message) (images []string) {
	for i := range m.Media {
		images = append(images, m.Media[i].base64())
	}
	return images
}
