package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// TestReady: ready is who answers at the path and lists the model, however empty
// the page at the path is.
func TestReady(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {}) // 200, nothing, no type
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/loading", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	for _, c := range []struct {
		path, model string
		want        error
	}{
		{"", "m", nil}, {"/health", "m", nil}, {"/none", "m", nil}, {"/v1/models", "m", nil}, {"/health", "", nil},
		{"/loading", "m", step.ErrOutside}, {"/missing", "m", step.ErrOutside}, {"/health", "other", step.ErrOutside},
	} {
		client, err := llm.New(llm.Options{URL: s.URL + "/v1", Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Ready(t.Context(), c.path); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s, model %q: %v", c.path, c.model, err)
		}
	}
	s.Close()
	client, err := llm.New(llm.Options{URL: s.URL + "/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(t.Context(), "/health"); !errors.Is(err, step.ErrUnreachable) {
		t.Error(err)
	}
}
