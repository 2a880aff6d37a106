package tinyengine

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goldenItem holds what Ollama 0.17.4 (its own portable build, one thread,
// repeat_penalty 1, temperature 0, max_tokens 256, /v1/chat/completions)
// answered for each embedded model. In cut are the models whose answer Ollama
// broke off because one token had come thirty times in a row; this engine goes
// on, so there its text only begins with Ollama's.
type goldenItem struct {
	ID      string            `json:"id"`
	Input   string            `json:"input"`
	Outputs map[string]string `json:"outputs"`
	Cut     []string          `json:"cut"`
}

// fullEnv makes the test use all 200 items per model instead of every eighth:
// about a minute on two cores.
const fullEnv = "CUPEL_TINYENGINE_FULL"

// TestAgreesWithOllama wants every text to be Ollama's, character by character.
// Measured: 200 of 200 for each of the six models, and, for the first five, 10,000
// of 10,000 answers on the 2,000 items that these were taken from. Rounding follows the reference
// engine at every step, so nothing is left to near ties. The one step without a
// guarantee is the float64 sum in an F16 dot product, whose order could change
// the last bit of its float32 once in some 1e8 sums; no item here depends on it.
func TestAgreesWithOllama(t *testing.T) {
	items := readLines[goldenItem](t, "testdata/ollama-golden.jsonl")
	stride := 8
	if os.Getenv(fullEnv) != "" {
		stride = 1
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			m := loadEmbedded(t, name)
			var wg sync.WaitGroup
			work := make(chan goldenItem)
			for range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					for it := range work {
						checkGolden(t, m, it)
					}
				})
			}
			for i := 0; i < len(items); i += stride {
				work <- items[i]
			}
			close(work)
			wg.Wait()
		})
	}
}

func checkGolden(t *testing.T, m *Model, it goldenItem) {
	want := it.Outputs[m.name]
	r, err := m.Generate(context.Background(), user(it.Input), Options{MaxTokens: 256})
	if err != nil {
		t.Errorf("%s: %v", it.ID, err)
	}
	same := r.Text == want
	if slices.Contains(it.Cut, m.name) {
		same = len(want) > 0 && strings.HasPrefix(r.Text, want)
	}
	if !same {
		t.Errorf("%s: %q, Ollama answered %q", it.ID, r.Text, want)
	}
}
