package tinyengine

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestEmbedded holds the files against the table of models/README.md.
func TestEmbedded(t *testing.T) {
	readme, err := os.ReadFile("models/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files := Embedded()
	if len(files) != len(Names()) {
		t.Errorf("%d files, %d names", len(files), len(Names()))
	}
	labels := map[string]string{"tiny-f16": "F16", "tiny-q8_0": "Q8_0", "tiny-q4_0": "Q4_0", "tiny-q2mix": "MIXED", "tiny-q2_k": "Q2_K", "tiny2-f16": "F16"}
	for _, name := range Names() {
		m := loadEmbedded(t, name)
		row := fmt.Sprintf("| %s.gguf | %d | %s |", name, len(files[name]), m.Digest())
		if !strings.Contains(string(readme), row) {
			t.Errorf("models/README.md lacks %q", row)
		}
		if m.quant != labels[name] || m.Name() != name {
			t.Errorf("%s: %s, %s", name, m.Name(), m.quant)
		}
	}
}

// The tokenizer is the same in all files: a comparison of two of them is about
// the weights.
func TestEmbeddedTokenizer(t *testing.T) {
	want := loadEmbedded(t, Names()[0]).tok.digest
	for _, name := range Names() {
		if got := loadEmbedded(t, name).tok.digest; got != want {
			t.Errorf("%s: tokenizer %s, want %s", name, got, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range Names() {
		file := Embedded()[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(name, file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
