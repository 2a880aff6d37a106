package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// bootstrapCase is a reference vector whose *_hex members must come out of the
// command line bit for bit.
type bootstrapCase struct {
	Name, Kind string
	Inputs     struct {
		IDs  []string
		A, B []float64
		N    int
		Boot int `json:"n_boot"`
		Seed uint64
	}
	Expected struct {
		Delta string `json:"delta_hex"`
		Lo    string `json:"lo_hex"`
		Hi    string `json:"hi_hex"`
	}
}

// pairs are the scores of both sides. The generated vectors give differences
// alone.
func (c *bootstrapCase) pairs() (ids []string, a, b []float64) {
	if c.Kind == "paired_bootstrap_seed" {
		return c.Inputs.IDs, c.Inputs.A, c.Inputs.B
	}
	for i := range c.Inputs.N {
		ids = append(ids, fmt.Sprintf("%06d", i))
		a = append(a, 0)
		b = append(b, float64((i*7919)%1009)/1009-0.5)
	}
	return ids, a, b
}

// TestCompareVectors compares files on the command line and gets what NumPy
// gets, to the last bit, whatever the order of the lines.
func TestCompareVectors(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../testdata/vectors/stats.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, raw := range file.Vectors {
		var kind struct{ Kind string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind != "paired_bootstrap_seed" && kind.Kind != "paired_bootstrap_generated" {
			continue
		}
		var c bootstrapCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			checkVector(t, &c)
		})
	}
	if n != 5 {
		t.Errorf("%d bootstrap vectors, want 5", n)
	}
}

func checkVector(t *testing.T, c *bootstrapCase) {
	ids, a, b := c.pairs()
	dir := t.TempDir()
	fileA, fileB := writeScores(t, dir, "a.jsonl", ids, a, false), writeScores(t, dir, "b.jsonl", ids, b, true)
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{
		"compare", fileA, fileB, "--json", "--interval", "bootstrap", "--generator", "numpy",
		"--resamples", strconv.Itoa(c.Inputs.Boot), "--seed", strconv.FormatUint(c.Inputs.Seed, 10),
	}, nil, &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var got struct {
		Overall struct{ Delta, Lo, Hi float64 }
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		name, want string
		got        float64
	}{{"delta", c.Expected.Delta, got.Overall.Delta}, {"lo", c.Expected.Lo, got.Overall.Lo}, {"hi", c.Expected.Hi, got.Overall.Hi}} {
		want, err := strconv.ParseFloat(v.want, 64)
		if err != nil {
			t.Fatal(err)
		}
		if math.Float64bits(want) != math.Float64bits(v.got) {
			t.Errorf("%s %x, want %s", v.name, v.got, v.want)
		}
	}
}

// writeScores writes a score file, its lines in order or backwards.
func writeScores(t *testing.T, dir, name string, ids []string, scores []float64, backwards bool) string {
	t.Helper()
	var lines [][]byte
	for i, id := range ids {
		line, err := json.Marshal(map[string]any{"id": id, "score": scores[i]})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, append(line, '\n'))
	}
	if backwards {
		slices.Reverse(lines)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
