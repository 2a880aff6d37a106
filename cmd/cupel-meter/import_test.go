package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

// command runs one and returns its exit code and what it said.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, words bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &words)
	return code, out.String(), words.String()
}

// file writes one to a folder of the test's own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImport(t *testing.T) {
	for format, c := range map[string]struct {
		text string
		args []string
		n    int
	}{
		"nvidia-smi": {"timestamp, uuid, power.draw.instant [W]\n2026/09/21 16:13:20.000, GPU-1, 75.00 W\n2026/09/21 16:13:20.050, GPU-1, 76.00 W\n", []string{"--utc-offset", "+02:00"}, 2},
		"dcgm":       {"# 1790000000\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID=\"GPU-1\"} 1000\n", nil, 1},
		"wall":       {"time,watts\n1790000000,100\n1790000001,101\n", nil, 2},
		"csv":        {"time,device,domain,quantity,unit,value\n1790000000,GPU-1,nvml.gpu,power,W,5\n", nil, 1},
	} {
		code, stdout, stderr := command(t, append([]string{"import", format, file(t, "in", c.text)}, c.args...)...)
		tr, err := trace.Read(strings.NewReader(stdout))
		if code != 0 || err != nil || len(tr.Samples[0]) != c.n || tr.Made != "import" || tr.WallNS != 1_790_000_000_000_000_000 {
			t.Errorf("%s: exit %d, %v, %s", format, code, err, stderr)
		}
		if !strings.HasPrefix(tr.Meter, "cupel-meter ") || !strings.Contains(stderr, " values over ") {
			t.Errorf("%s: %s, %s", format, tr.Meter, stderr)
		}
	}
}

func TestImportFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scrape-1790000010.prom":     `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 2000` + "\n",
		"1790000000.prom":            `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 1000` + "\n",
		"b-20260921T141350Z.txt":     `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 3000` + "\n",
		"c-2026-09-21T14:14:00Z.txt": `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"} 4000` + "\n",
		".hidden":                    "not a scrape",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := command(t, "import", "dcgm", dir)
	tr, err := trace.Read(strings.NewReader(stdout))
	if code != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	var at []int64
	for _, s := range tr.Samples[0] {
		at = append(at, s.T/1e9, s.V)
	}
	if want := []int64{0, 1000, 10, 2000, 30, 3000, 40, 4000}; !slices.Equal(at, want) {
		t.Errorf("%v, want %v", at, want)
	}
}

func TestImportFails(t *testing.T) {
	smi := file(t, "smi.csv", "timestamp, uuid, power.draw.instant [W]\n2026/09/21 16:13:20.000, GPU-1, 75.00 W\n")
	wall := file(t, "wall.csv", "time,watts\n1790000000,100\n")
	there := file(t, "there", "precious")
	for what, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"format":     {[]string{"import", "xml", wall}, 2, `there is no format "xml": want nvidia-smi, dcgm, wall or csv`},
		"no file":    {[]string{"import", "wall", there + "x"}, 2, there + "x: no such file or directory"},
		"folder":     {[]string{"import", "wall", t.TempDir()}, 2, ": no regular file"},
		"device":     {[]string{"import", "wall", os.DevNull}, 2, ": no regular file"},
		"local time": {[]string{"import", "nvidia-smi", smi}, 2, "say which with --utc-offset"},
		"offset":     {[]string{"import", "nvidia-smi", smi, "--utc-offset", "CET"}, 2, `--utc-offset "CET": want an offset such as +02:00`},
		"there":      {[]string{"import", "wall", wall, "--out", there}, 2, there},
		"arguments":  {[]string{"import", "wall"}, 2, "accepts 2 arg(s)"},
		"no values":  {[]string{"import", "wall", file(t, "x", "time,watts\n")}, 2, ": there is not one value in it"},
	} {
		code, stdout, stderr := command(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, %s, want %d %s", what, code, stderr, c.code, c.want)
		}
	}
	if b, _ := os.ReadFile(there); string(b) != "precious" {
		t.Error("a file was overwritten")
	}
}
