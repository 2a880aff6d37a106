package llm_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

var update = flag.Bool("update", false, "write golden files")

// pageSets are the folders of testdata/pages, with the model asked for.
var pageSets = map[string]string{
	"vllm": "", "vllm-dev": "", "vllm-text": "", "vllm-adapter": "sql", "sglang": "", "sglang-old": "", "llamacpp": "", "llamacpp-old": "", "tgi": "", "tgi-old": "",
}

// pageSet reads the pages of a folder by path.
func pageSet(tb testing.TB, name string) map[string]string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "pages", name, "*"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%s: %v", name, err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		switch base := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)); base {
		case "identity":
		case "v1_models", "inference_v1_config":
			out["/"+strings.ReplaceAll(base, "_", "/")] = string(b)
		default:
			out["/"+base] = string(b)
		}
	}
	return out
}

// known is what is kept of an identity, and which page told each field.
type known struct {
	Identity llm.Identity      `json:"identity"`
	By       map[string]string `json:"by"`
}

func knownOf(tb testing.TB, docs map[string]string, model string) known {
	tb.Helper()
	id, _, err := identify(tb, llm.Options{URL: pages(tb, docs) + "/v1", Model: model})
	if err != nil {
		tb.Fatal(err)
	}
	return known{id, id.By}
}

// TestPages: what is read of each engine's pages, and by which page.
func TestPages(t *testing.T) {
	for name, model := range pageSets {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(knownOf(t, pageSet(t, name), model), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", "pages", name, "identity.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(golden)
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			for _, secret := range []string{"alice", "10.0.3", "sk-server", "host-7", "/root", "/models"} {
				if strings.Contains(strings.ReplaceAll(string(got), "GET /v1/models", ""), secret) {
					t.Errorf("%q is in the identity", secret)
				}
			}
		})
	}
}

// volatile are fields that change between two looks at one configuration, or
// that say where it runs.
var volatile = map[string]bool{
	"created": true, "permission": true, "port": true, "host": true, "nccl_port": true, "random_seed": true, "dist_init_addr": true, "api_key": true,
	"mem_fraction_static": true, "max_total_num_tokens": true, "max_req_input_len": true, "internal_states": true, "status": true, "log_level": true,
	"num_gpu_blocks": true, "gpu_memory_utilization": true, "data_parallel_master_ip": true, "data_parallel_master_port": true, "data_parallel_rpc_port": true, "instance_id": true,
	"vllm_env": true, "system_env": true, "is_processing": true, "id_task": true, "prompt": true, "next_token": true, "is_sleeping": true, "seed": true,
	"max_batch_total_tokens": true, "max_waiting_tokens": true, "validation_workers": true, "modified_at": true, "stream": true, "n_probs": true,
}

func shake(v any, n int) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if volatile[name] {
				v[name] = []any{n, "10.9.9." + fmt.Sprint(n), nil, map[string]any{"load": n}}[n%4]
				continue
			}
			if name != "override_generation_config" { // each of its fields is a parameter
				v[name] = shake(e, n)
			}
		}
		v["x_unknown"] = n
	case []any:
		for i := range v {
			v[i] = shake(v[i], n)
		}
	}
	return v
}

var (
	moving = regexp.MustCompile(`(num_gpu_blocks|gpu_memory_utilization)="[^"]*"`)
	sample = regexp.MustCompile(`(?m) [0-9.]+$`)
)

// TestVolatileIsNoIdentity: whatever load, ports, seeds and memory are, the
// identity has the same bytes.
func TestVolatileIsNoIdentity(t *testing.T) {
	for name, model := range pageSets {
		want := knownOf(t, pageSet(t, name), model)
		for n := range 8 {
			docs := pageSet(t, name)
			for path, doc := range docs {
				if path == "/metrics" {
					docs[path] = sample.ReplaceAllString(moving.ReplaceAllString(doc, fmt.Sprintf(`$1="%d"`, n)), fmt.Sprintf(" %d.5", n))
					continue
				}
				var v any
				if err := json.Unmarshal([]byte(doc), &v); err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(shake(v, n))
				if err != nil {
					t.Fatal(err)
				}
				docs[path] = string(b)
			}
			if d := cmp.Diff(want, knownOf(t, docs, model)); d != "" {
				t.Errorf("%s, %d: %s", name, n, d)
			}
		}
	}
}

// Pages that are something else say nothing, and do no harm.
func TestHostilePages(t *testing.T) {
	for _, doc := range []string{``, `null`, `[]`, `"x"`, `{"a":1,"a":2}`, `{"model_path":7,"tp_size":"x","version":[],"vllm_config":[1]}`,
		`{"model_path":null,"tp_size":-1,"vllm_config":{"model_config":7,"cache_config":"x","speculative_config":[]}}`, `{"model_id":"x","max_total_tokens":1e99}`, "\xff", `{"x":"\ud800"}`} {
		for name, model := range pageSets {
			docs := pageSet(t, name)
			for path := range docs {
				if path != "/v1/models" {
					docs[path] = doc
				}
			}
			k := knownOf(t, docs, model)
			if v := k.Identity; v.Tensor != 0 || v.KVCache != "" || v.Parameters != nil || v.MaxSeqs != 0 || v.Speculative != "" {
				t.Errorf("%s of %q: %+v", name, doc, v)
			}
		}
	}
}

// A page that was there and cannot be told now is an error: an identity that
// lacks it would be another one.
func TestBusyPageIsAnError(t *testing.T) {
	docs := pageSet(t, "vllm")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if docs[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(docs[r.URL.Path]))
	}))
	defer s.Close()
	if _, _, err := identify(t, llm.Options{URL: s.URL + "/v1"}); err == nil || !strings.Contains(err.Error(), "/metrics: overload") {
		t.Error(err)
	}
}

func TestLabels(t *testing.T) {
	base := pageSet(t, "vllm")
	for lines, want := range map[string]string{
		`vllm:cache_config_info{cache_dtype="auto",block_size="16"} 1`:                                                                                              "auto 16",
		`vllm:cache_config_info{ cache_dtype="a\"b\\c" , block_size="16", } 1`:                                                                                      `a"b\c 16`,
		`vllm:cache_config_info{engine="0",cache_dtype="auto",block_size="16"} 1` + "\n" + `vllm:cache_config_info{engine="1",cache_dtype="fp8",block_size="16"} 1`: " 16",
		`vllm:cache_config_info{cache_dtype="None",block_size=""} 1`:                                                                                                " ",
		`vllm:cache_config_info{cache_dtype="auto`:                                                                                                                  " ",
		`vllm:cache_config_info{cache_dtype=auto} 1`:                                                                                                                " ",
		`vllm:cache_config_info{="auto"} 1`:                                                                                                                         " ",
		`vllm:cache_config_info 1`:                                                                                                                                  " ",
	} {
		base["/metrics"] = lines + "\n"
		id := knownOf(t, base, "").Identity
		if got := id.KVCache + " " + id.Settings["block_size"]; got != want {
			t.Errorf("%s: %q, want %q", lines, got, want)
		}
	}
}

func TestServedPathIsNotKept(t *testing.T) {
	for served, want := range map[string]string{
		"/home/alice/m.gguf": "m.gguf", "../models/m.gguf": "m.gguf", `C:\Users\alice\m.gguf`: "m.gguf", "~/m": "m", "org/name": "org/name", "m:latest": "m:latest", "/": "/",
		"https://host.example/m": "m",
	} {
		if got := llm.ShownName(served); got != want {
			t.Errorf("%s: %s, want %s", served, got, want)
		}
	}
}

// noting serves fixed answers by path, any method, and counts the asked.
func noting(t *testing.T, docs map[string]string) (string, map[string][]byte) {
	asked := map[string][]byte{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1<<14)
		n, _ := r.Body.Read(body)
		asked[r.URL.Path] = body[:n]
		w.Header().Set("Content-Type", "application/json")
		if docs[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(docs[r.URL.Path]))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

// A template's behaviour: the prompt that it makes, without dates.
func TestTemplateProbe(t *testing.T) {
	digest := step.Sum([]byte("<s>on <date> at 7</s>")).String()
	for name, c := range map[string]struct {
		set     string
		docs    map[string]string
		by, got string
	}{
		"llama.cpp":         {"llamacpp", map[string]string{"/apply-template": `{"prompt":"<s>on 30 Nov 2026 at 7</s>"}`}, "POST /apply-template", digest},
		"TGI":               {"tgi", map[string]string{"/chat_tokenize": `{"templated_text":"<s>on 2026-11-30 at 7</s>","tokenize_response":[]}`}, "POST /chat_tokenize", digest},
		"vLLM":              {"vllm", map[string]string{"/tokenize": `{"count":3,"max_model_len":32768,"tokens":[1,2,3]}`, "/detokenize": `{"prompt":"<s>on December 1, 2026 at 7</s>"}`}, "POST /tokenize, POST /detokenize", digest},
		"vLLM, half of it":  {"vllm", map[string]string{"/tokenize": `{"count":3,"tokens":[1,2,3]}`}, "", ""},
		"vLLM, no list":     {"vllm", map[string]string{"/tokenize": `{"count":3}`, "/detokenize": `{"prompt":"x"}`}, "", ""},
		"not told":          {"llamacpp", nil, "", ""},
		"something else":    {"llamacpp", map[string]string{"/apply-template": `{"prompt":7}`}, "", ""},
		"nobody knows how":  {"sglang", map[string]string{"/apply-template": `{"prompt":"x"}`}, "", ""},
		"a broken document": {"llamacpp", map[string]string{"/apply-template": `{`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			docs := pageSet(t, c.set)
			for path, doc := range c.docs {
				docs[path] = doc
			}
			delete(docs, "/metrics")
			url, asked := noting(t, docs)
			_, client, err := identify(t, llm.Options{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			p, err := client.Probe(t.Context())
			if err != nil || p.Template != c.got || p.TemplateBy != c.by {
				t.Errorf("%+v %v", p, err)
			}
			if ask := asked["/detokenize"]; c.by != "" && c.set == "vllm" && !strings.Contains(string(ask), `"tokens":[1,2,3]`) {
				t.Errorf("asked %s", ask)
			}
		})
	}
}

// Ollama's own default context shows only of a loaded model.
func TestContextInForce(t *testing.T) {
	const tags, show = `{"models":[{"name":"m:latest","digest":"` + hexA + `"}]}`, `{"model_info":{"general.architecture":"llama","llama.context_length":32768},"parameters":"PARAMS"}`
	for name, c := range map[string]struct {
		params   string
		ps       []string // answers of /api/ps in order, the last one for ever
		want     int
		requests int
	}{
		"loaded":            {"", []string{`{"models":[{"name":"other","context_length":9},{"name":"m:latest","context_length":4096,"size_vram":1,"expires_at":"2026-11-30T07:00:00Z"}]}`}, 4096, 2},
		"another came":      {"", []string{`{"models":[]}`, `{"models":[{"model":"m:latest","context_length":2048}]}`}, 2048, 3},
		"never loaded":      {"", []string{`{"models":[]}`}, 0, 3},
		"too old to tell":   {"", []string{`{"models":[{"name":"m:latest"}]}`}, 0, 2},
		"no such page":      {"", []string{""}, 0, 2},
		"nonsense":          {"", []string{`{"models":7}`}, 0, 2},
		"the model sets it": {"num_ctx 1024", []string{`{"models":[{"name":"m:latest","context_length":7}]}`}, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			looks, sent := 0, 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/api/version":
					_, _ = w.Write([]byte(`{"version":"0.17.4"}`))
				case "/api/tags":
					_, _ = w.Write([]byte(tags))
				case "/api/show":
					_, _ = w.Write([]byte(strings.Replace(show, "PARAMS", c.params, 1)))
				case "/api/ps":
					doc := c.ps[min(looks, len(c.ps)-1)]
					if looks++; doc == "" {
						w.WriteHeader(http.StatusNotFound)
					}
					_, _ = w.Write([]byte(doc))
				default:
					sent++
					w.Header().Set("Content-Type", "application/x-ndjson")
					_, _ = fmt.Fprintf(w, `{"model":"m:latest","message":{"content":"x"},"done":true,"done_reason":"length","prompt_eval_count":%d,"eval_count":1}`+"\n", []int{115, 60, 60}[min(sent, 3)-1])
				}
			}))
			defer s.Close()
			_, client, err := identify(t, llm.Options{URL: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			p, err := client.Probe(t.Context())
			if err != nil || p.Context != c.want || p.Requests != c.requests || sent != c.requests || p.Tokens != 60 {
				t.Errorf("%+v %v, %d sent", p, err, sent)
			}
		})
	}
}

// FuzzPages: no page of any engine makes an identity that is not fit to be kept.
func FuzzPages(f *testing.F) {
	for name := range pageSets {
		for path, doc := range pageSet(f, name) {
			f.Add(path, doc)
		}
	}
	f.Add("/api/ps", `{"models":[{"name":"m","context_length":1}]}`)
	f.Fuzz(func(t *testing.T, path, doc string) {
		for _, set := range []string{"vllm-dev", "vllm-text", "sglang", "llamacpp", "tgi"} {
			docs := pageSet(t, set)
			delete(docs, "/server_info")
			docs[path] = doc
			id, _, err := identify(t, llm.Options{URL: pages(t, docs) + "/v1"})
			if err != nil {
				continue
			}
			checkFit(t, id)
		}
	})
}

func checkFit(t *testing.T, id llm.Identity) {
	b, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := step.Canonical(b); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	for _, n := range []int{id.Tensor, id.Pipeline, id.Data, id.MaxSeqs, id.ContextLength, id.SpeculativeTokens} {
		if n < 0 {
			t.Fatalf("%s", b)
		}
	}
	for _, s := range []string{id.Repo, id.File, id.KVCache, id.Speculative, id.EngineVersion, id.Quantization} {
		if len(s) > 512 || strings.ContainsAny(s, "\n\x1b") {
			t.Fatalf("%q", s)
		}
	}
}
