package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/prior/table"
)

// docs/research.md holds the table of headers as it is in the code.
func TestResearchDoc(t *testing.T) {
	b, err := os.ReadFile("../../docs/research.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(b), table.AliasTable()) {
		t.Error("the table of headers differs; put what `cupel research fields` prints at the end")
	}
}
