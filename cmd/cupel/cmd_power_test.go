package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// The exact table of docs/gate.md is what the command prints.
func TestGateDocIsCurrent(t *testing.T) {
	doc, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"power", "--simulate", "--items", "20,100,200", "--runs", "100"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		documented[strings.Join(strings.Fields(line), " ")] = true
	}
	_, table, _ := strings.Cut(stdout.String(), "exact\n")
	table, _, _ = strings.Cut(table, "\nother scores")
	rows := 0
	for line := range strings.Lines(table) {
		rows++
		if row := strings.Join(strings.Fields(line), " "); !documented[row] {
			t.Errorf("docs/gate.md lacks the row %q", row)
		}
	}
	if rows != 1+3*4 {
		t.Errorf("%d rows", rows)
	}
}
