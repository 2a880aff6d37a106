package llm

// protocol is what tells one wire protocol from the others.
type protocol struct {
	api  API
	path string // of a request, below the base (OpenAI) or the root (Ollama)
	body func(*draft) (any, error)
	read func(*decoding, []byte, event) error // one event of a stream, or the whole answer
}

var protocols = []protocol{
	{OpenAI, "/chat/completions", chatBodyOf, (*decoding).openAI},
	{OpenAICompletions, "/completions", completionBodyOf, (*decoding).completion},
	{OpenAIResponses, "/responses", responsesBodyOf, (*decoding).responses},
	{Ollama, "/api/chat", ollamaChatOf, (*decoding).ollama},
	{OllamaGenerate, "/api/generate", ollamaGenerateOf, (*decoding).generate},
}

// apiNames are all names, for messages.
const apiNames = "openai, openai-completions, openai-responses, ollama or ollama-generate"

// protocol finds the protocol of that name.
func (a API) protocol() (protocol, bool) {
	for _, p := range protocols {
		if p.api == a {
			return p, true
		}
	}
	return protocol{}, false
}

// ollama reports whether a is one of Ollama's own APIs: at the root of the
// server, and streaming lines of JSON.
func (a API) ollama() bool { return a == Ollama || a == OllamaGenerate }
