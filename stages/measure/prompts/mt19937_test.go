package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
)

func readJSON[T any](t testing.TB, file string) (out T) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// hexFloat writes a number from [0, 1) as Python's float.hex does.
func hexFloat(f float64) string {
	s := strconv.FormatFloat(f, 'x', 13, 64)
	mantissa, exponent, _ := strings.Cut(s, "p")
	n, _ := strconv.Atoi(exponent)
	if f == 0 {
		return "0x0.0p+0"
	}
	return mantissa + "p" + strconv.Itoa(n)
}

// TestCPythonRandom: the file was written once by CPython 3.11's random.Random:
// 10,000 draws of random() by their hash, then draws of whole numbers.
func TestCPythonRandom(t *testing.T) {
	for _, want := range readJSON[[]struct {
		Seed   int64
		First  []string
		SHA256 string
		Ranges []int64
	}](t, "cpython_random.json") {
		rng, all := newMT(want.Seed), sha256.New()
		var first []string
		for i := range 10000 {
			s := hexFloat(rng.float64())
			if all.Write([]byte(s + "\n")); i < 2 {
				first = append(first, s)
			}
		}
		if d := cmp.Diff(want.First, first); d != "" {
			t.Errorf("seed %d: %s", want.Seed, d)
		}
		if got := hex.EncodeToString(all.Sum(nil)); got != want.SHA256 {
			t.Errorf("seed %d: 10,000 draws hash to %s", want.Seed, got)
		}
		rng = newMT(want.Seed)
		ranges := []int64{rng.between(1e11, 1e12-1), rng.between(1, 255), int64(rng.bits(7)), int64(rng.bits(53)), rng.between(0, 1<<33)}
		if d := cmp.Diff(want.Ranges, ranges); d != "" {
			t.Errorf("seed %d: %s", want.Seed, d)
		}
	}
}

// TestLengthPlans: the plans of seeds 0, 1 and 7 were taken from the tool, that
// of seed 42 from CPython's draws alone.
func TestLengthPlans(t *testing.T) {
	const a, b, c, d = 16000, 32768, 65536, 131072
	for seed, want := range map[int64][]int{
		0:  {c, c, b, b, b, b, c, b, b, b, d, b},
		1:  {a, c, c, b, b, b, c, c, a, a, c, b},
		7:  {b, a, c, a, b, b, a, b, a, b, a, a},
		42: {c, a, b, b, c, c, c, a, b, a, b, b},
	} {
		got, err := Lengths(spec.Lengths{Seed: seed, Distribution: AnvilAgentic}, 12)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("seed %d: %s", seed, d)
		}
	}
	capped, _ := Lengths(spec.Lengths{Seed: 0, Distribution: AnvilAgentic, Max: 40000}, 3)
	if d := cmp.Diff([]int{40000, 40000, b}, capped); d != "" {
		t.Error(d)
	}
	if _, err := Lengths(spec.Lengths{Distribution: "azure"}, 1); err == nil {
		t.Error("an unknown distribution is accepted")
	}
	if n := quantile(1); n != 262144 {
		t.Errorf("the longest is %d", n)
	}
}
