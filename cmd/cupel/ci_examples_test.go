package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The pipelines in docs/ci are YAML, and every cupel command in them is one.
func TestPipelineExamples(t *testing.T) {
	files, err := filepath.Glob("../../docs/ci/*.yml")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(b, &doc); err != nil {
			t.Fatal(file, err)
		}
		n := 0
		texts(&doc, func(text string) {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "cupel ") {
					n++
					line, _, _ = strings.Cut(line, " >> ")
					checkExample(t, strings.ReplaceAll(line, `"`, ""))
				}
			}
		})
		if n < 4 {
			t.Errorf("%s: %d cupel commands", file, n)
		}
	}
}

func texts(n *yaml.Node, f func(string)) {
	if n.Kind == yaml.ScalarNode {
		f(n.Value)
	}
	for _, c := range n.Content {
		texts(c, f)
	}
}
