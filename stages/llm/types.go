// Package llm talks to model-serving endpoints: OpenAI-compatible servers and
// Ollama's own API. It is the only place that opens connections to them.
//
// A request is prepared (its body built and hashed) before it is timed. Time
// stamps are taken when bytes arrive, before anything is parsed. Nothing is
// retried here: a caller that retries does so visibly.
package llm

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// API names a wire protocol.
type API string

// The wire protocols.
const (
	OpenAI            API = "openai"             // POST {base}/chat/completions, base ends in /v1
	OpenAICompletions API = "openai-completions" // POST {base}/completions: one user message, sent as a bare prompt
	OpenAIResponses   API = "openai-responses"   // POST {base}/responses
	Ollama            API = "ollama"             // POST {base}/api/chat
	OllamaGenerate    API = "ollama-generate"    // POST {base}/api/generate: one user message, through the model's template
)

// Options say where an endpoint is and how to reach it.
type Options struct {
	URL       string            // http://127.0.0.1:8000/v1 or http://127.0.0.1:11434; no userinfo, query or fragment
	API       API               // "" = detect (see Detect)
	Model     string            // served name; "" = the only one that the endpoint lists
	APIKey    string            // value; sent as a bearer token; never logged, never in an error
	Headers   map[string]string // extra headers, values included; never logged
	Timeout   time.Duration     // per request, from dispatch to the end of the stream; 0 = 10 minutes
	MaxConns  int               // connections kept; 0 = 64. Never smaller than a caller's concurrency
	Transport http.RoundTripper // nil = an own transport without compression, proxies, redirects and HTTP/2
}

// Message is one turn of a conversation.
type Message struct {
	Role       string          `json:"role"` // system | user | assistant | tool
	Content    string          `json:"content"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
	Media      []Media         `json:"media,omitempty"` // of a user's turn, after its text
}

// Sampling is always sent in full.
type Sampling struct {
	Temperature float64
	TopP        float64
	Seed        int64
	MaxTokens   int // visible plus reasoning
	Stop        []string
}

// Request is one request, independent of the wire protocol. Ollama's own APIs
// are always told not to cut a long prompt silently; the others have no switch
// for it, or refuse such a prompt.
type Request struct {
	Messages []Message
	Tools    json.RawMessage // OpenAI tool array, nil = none
	Format   json.RawMessage // response_format, nil = none
	Sampling Sampling
	NoStream bool

	// Reasoning is a control such as thinking-off or effort-low, "" or none =
	// the engine's default. See ReasoningControl for how it is sent.
	Reasoning string
	Logprobs  int  // top log probabilities per token, 0 = none; -1 = the chosen token's alone
	IgnoreEOS bool // go on after the end token; vLLM, SGLang and llama.cpp
	NoOutput  bool // a probe for the prompt's length: one token, and an empty answer is fine
}

// Prepared is a request whose bytes are ready to be written. It may be sent
// any number of times, also concurrently.
type Prepared struct {
	Body   []byte
	Digest step.Digest // of the request as sent, without address and credentials

	// PromptBytes is the length of all messages' text in UTF-8, without what
	// JSON and the engine's template add.
	PromptBytes int

	path     string // below the base (OpenAI) or the root (Ollama)
	api      API
	model    string // asked for, to compare with the answer's
	stream   bool
	noOutput bool // an empty answer is fine
}

// Class says what kind of failure a request ended in.
type Class string

// The failure classes. "Outside" ones mean that we could not look (they are
// retried by running again); the others are results about the candidate.
const (
	ClassUnreachable  Class = "unreachable"        // outside: no connection
	ClassTimeout      Class = "timeout"            // outside: deadline passed
	ClassOverload     Class = "overload"           // outside: HTTP 429, 503
	ClassServerError  Class = "server-error"       // outside: other HTTP 5xx
	ClassAuth         Class = "auth"               // outside: HTTP 401, 403
	ClassNotFound     Class = "not-found"          // outside: HTTP 404 (model or path)
	ClassProtocol     Class = "protocol"           // outside: not this protocol (HTML, wrong content type, a redirect, no stream)
	ClassRejected     Class = "rejected"           // other HTTP 4xx: the server refuses this request
	ClassCutStream    Class = "cut-stream"         // the stream just stopped
	ClassInBandError  Class = "in-band-error"      // an error object inside a 200 answer
	ClassInvalidJSON  Class = "invalid-json"       // an event that is not JSON, or duplicate keys, or bad UTF-8
	ClassEmpty        Class = "no-visible-output"  // complete, and nothing visible in it
	ClassWrongModel   Class = "wrong-model"        // the answer names another model than was asked for
	ClassInconsistent Class = "inconsistent-clock" // time stamps out of order
	ClassCanceled     Class = "canceled"           // the caller stopped it; never recorded
)

// Outside reports whether the class means that we could not look.
func (c Class) Outside() bool {
	switch c {
	case ClassUnreachable, ClassTimeout, ClassOverload, ClassServerError, ClassAuth, ClassNotFound, ClassProtocol, ClassCanceled:
		return true
	}
	return false
}

// Failure is why a request has no usable answer.
type Failure struct {
	Class      Class  `json:"class"`
	Message    string `json:"message"`               // the endpoint's own words, at most 2,048 bytes, redacted
	Status     int    `json:"status,omitempty"`      // HTTP status, 0 = none
	RetryAfter int    `json:"retry_after,omitempty"` // seconds, 0 = not said
	NoByte     bool   `json:"no_byte,omitempty"`     // failed before the first byte of an answer: safe to send again
}

// Usage is the engine's own count; nil means that it did not say.
type Usage struct {
	PromptTokens    *int64 `json:"prompt_tokens,omitempty"`
	OutputTokens    *int64 `json:"output_tokens,omitempty"`
	ReasoningTokens *int64 `json:"reasoning_tokens,omitempty"`
	CachedTokens    *int64 `json:"cached_tokens,omitempty"`
}

// ToolCall is one call that the model asked for; Arguments as sent, unparsed.
type ToolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Times of one request in nanoseconds since dispatch (T0, the moment before
// the request is written), on the monotonic clock; -1 = did not happen.
type Times struct {
	StartUnixNS  int64 `json:"start_unix_ns"` // wall clock at T0
	Reused       bool  `json:"conn_reused"`
	Conn         int64 `json:"conn_ns"`          // connection ready
	Written      int64 `json:"written_ns"`       // request written
	Header       int64 `json:"header_ns"`        // response headers read
	FirstOutput  int64 `json:"first_output_ns"`  // first non-empty delta of any channel
	FirstVisible int64 `json:"first_visible_ns"` // first non-empty content delta
	LastOutput   int64 `json:"last_output_ns"`   // last non-empty delta
	End          int64 `json:"end_ns"`           // stream complete
}

// Logprob is one output token with its log probability, as the engine said.
type Logprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// ServerTimes are the engine's own durations in nanoseconds, 0 = not reported.
type ServerTimes struct {
	Total      int64 `json:"total_ns,omitempty"`
	Load       int64 `json:"load_ns,omitempty"`
	PromptEval int64 `json:"prompt_eval_ns,omitempty"`
	Eval       int64 `json:"eval_ns,omitempty"`
}

// Response is what came back; a failed one keeps what arrived before it failed.
type Response struct {
	Text            string
	Reasoning       string
	ToolCalls       []ToolCall
	FinishReason    string // stop | length | tool_calls | content_filter | ... as the endpoint said
	Usage           *Usage
	Model           string // as the endpoint said
	Failure         *Failure
	Times           Times
	Server          *ServerTimes
	ContentChunks   int // events with visible content; diagnostic, never tokens
	ReasoningChunks int
	Events          int // events of any kind
	Coalesced       int // output events that shared a read with an earlier one
	FirstChunkToks  int // tokens carried by the first output event when the engine says so, else 0

	// OutputNS are the stamps of the output events in ns: the first since
	// dispatch, then the gap to the one before. Events that shared a read have
	// the gap 0 and are counted in Coalesced. Empty when not streamed.
	OutputNS []int64
	Logprobs []Logprob // when asked for
	Raw      int       // bytes of the answer's body
	Ended    bool      // the protocol's own end came: [DONE], done:true, response.completed
}

// Truncated reports whether the answer was cut by the token limit.
func (r *Response) Truncated() bool { return r.FinishReason == "length" }

// Identity is what an endpoint says of itself, without anything that changes
// while it runs (no uptime, port, load) and without folders and hosts. Empty =
// it does not say. Numbers are 0 and "none" is written out, so that what is
// switched off differs from what nobody told.
type Identity struct {
	API        API    `json:"api"`
	Served     string `json:"served"`                // the model id that requests use; of a path its last part
	ServedCut  bool   `json:"served_cut,omitempty"`  // Served is the last part of a path: no request can be prepared with it
	EngineName string `json:"engine_name,omitempty"` // ollama, llama.cpp, vllm, sglang, tgi, cupel-tinyengine, ...

	EngineVersion string `json:"engine_version,omitempty"`
	EngineImage   string `json:"engine_image,omitempty"` // a label that the image was built with, not its digest

	Repo          string `json:"repo,omitempty"`           // on a hub: org/name
	Revision      string `json:"revision,omitempty"`       // of the repo: 40 or 64 hex
	File          string `json:"file,omitempty"`           // last part of a local path that the weights were loaded from
	Parent        string `json:"parent,omitempty"`         // the model that a served adapter belongs to
	ModelDigest   string `json:"model_digest,omitempty"`   // 64 hex: Ollama's manifest digest, a file's sha256
	WeightsDigest string `json:"weights_digest,omitempty"` // 64 hex of the weights file when known apart from the manifest

	Quantization  string `json:"quantization,omitempty"`   // of the weights, in the engine's word
	Dtype         string `json:"dtype,omitempty"`          // of what is not quantised: bfloat16, float16, ...
	KVCache       string `json:"kv_cache,omitempty"`       // type of the KV cache, in the engine's word; auto = the engine decides
	ContextLength int    `json:"context_length,omitempty"` // tokens that a request may use

	Tensor      int    `json:"tensor,omitempty"` // GPUs per dimension
	Pipeline    int    `json:"pipeline,omitempty"`
	Data        int    `json:"data,omitempty"`
	PrefixCache string `json:"prefix_cache,omitempty"` // on | off
	MaxSeqs     int    `json:"max_seqs,omitempty"`     // sequences that run at once

	Speculative       string `json:"speculative,omitempty"`        // the method in the engine's word, or none
	SpeculativeTokens int    `json:"speculative_tokens,omitempty"` // proposed at once
	SpeculativeDraft  string `json:"speculative_draft,omitempty"`  // the draft model: a repo, or the last part of a path

	TemplateSHA256    string `json:"template_sha256,omitempty"` // of the chat template text
	TokenizerRepo     string `json:"tokenizer_repo,omitempty"`
	TokenizerRevision string `json:"tokenizer_revision,omitempty"`
	TokenizerSHA256   string `json:"tokenizer_sha256,omitempty"`

	Parameters map[string]string `json:"parameters,omitempty"` // what the engine applies on its own to a request
	Settings   map[string]string `json:"settings,omitempty"`   // what else tells one configuration from another, by the engine's names

	By     map[string]string `json:"-"` // the page that told a field, by its JSON name; not identity
	Listed []string          `json:"-"` // all ids, for messages; not identity
	Notes  []string          `json:"-"` // what a reader should know about the fields above; not identity
}
