package prompts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
)

// TestContextAnswers: those of seed 17 were taken from the tool whose draws
// they are, the others from CPython's draws.
func TestContextAnswers(t *testing.T) {
	for name, want := range map[string]string{
		NativeNeedle:      "K557508437185",
		NativeOrder:       "K557508437185 | K434177192288 | K503557252183",
		NativeIdentifiers: "NAME=Iris Valen-5745 | UUID=b447c0ce-b484-38b5-c41f-9dfd2cb85f3f | NUMBER=24080090411 | IP=198.51.100.235 | SYMBOL=resolve_orchid_13530",
		NativeCrosslink:   "ASTER -> Mara Quill-5745 -> 203.0.113.45 -> commit_aster_80803",
	} {
		if f, err := newFacts(name, contextSeed); err != nil || f.want != want {
			t.Errorf("%s: %s, %v", name, f.want, err)
		}
	}
	for _, want := range readJSON[[]map[string]any](t, "context_answers.json") {
		seed := int64(want["seed"].(float64))
		for name, answer := range want {
			if f, err := newFacts(name, seed); name != "seed" && (err != nil || f.want != answer) {
				t.Errorf("%s, seed %d: %s, want %s", name, seed, f.want, answer)
			}
		}
	}
	if _, err := newFacts("needle", 17); err == nil {
		t.Error("an unknown case has facts")
	}
}

func TestProfiles(t *testing.T) {
	for name, want := range map[string][3]int{"smoke": {12, 245760, 2048}, "scout": {120, 13025280, 4096}, "deep": {441, 104832000, 8192}} {
		p := must(Profile(name))
		tokens := 0
		for _, item := range Context(p, "", 0) {
			tokens += item.Bucket
		}
		if got := [3]int{p.Requests(), tokens, p.Headroom}; got != want || len(Context(p, "", 0)) != want[0] {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, ok := Profile("full"); ok {
		t.Error("there is a profile that nobody wrote")
	}
	deep := must(Profile("deep"))
	deep.Buckets[0] = 1
	if again := must(Profile("deep")); again.Buckets[0] != 8192 || again.Floor != 0.7 || again.MaxDrop != 0.3 {
		t.Errorf("%+v", again)
	}
}

func TestProfileOf(t *testing.T) {
	floor := 0.5
	got, err := ProfileOf(spec.EffectiveContext{Profile: "smoke", Cases: []string{NativeCrosslink}, Buckets: []int{512, 256, 512}, Positions: []float64{1, 0}, Repetitions: 2, Floor: &floor})
	want := ContextProfile{"smoke", []string{NativeCrosslink}, []int{256, 512}, []float64{0, 1}, 2, 0.5, 0.2, 2048}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := ProfileOf(spec.EffectiveContext{Profile: "x"}); err == nil {
		t.Error("an unknown profile is accepted")
	}
}

func TestContextOrder(t *testing.T) {
	items := Context(must(Profile("scout")), "", 5)
	if a, b := items[0], items[1]; a.ID() != "native-needle-8192-0.100-r0" || b.ID() != "native-needle-8192-0.100-r1" || a.Seed != 5 || b.Seed != 6 {
		t.Errorf("%+v, %+v", a, b)
	}
	seen := map[string]bool{}
	for _, item := range items {
		if seen[item.ID()] {
			t.Errorf("%s twice", item.ID())
		}
		seen[item.ID()] = true
	}
}

// TestContextText: the prompt is as long as fits, and every record stands
// before the line that its position says.
func TestContextText(t *testing.T) {
	for _, name := range []string{NativeNeedle, NativeOrder, NativeDistractor, NativeIdentifiers, NativeCrosslink} {
		for _, at := range []float64{0, 0.05, 0.5, 0.9, 1} {
			item := ContextItem{Case: name, Bucket: 2048, Position: at, Seed: 17}
			p, err := item.Build(4)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(p.Text); n != 8192 || p.AskedTokens != 2048 || p.Group != name || p.Length != len(strings.Fields(p.Text)) {
				t.Errorf("%s: %d characters", item.ID(), n)
			}
			f, _ := newFacts(name, 17)
			filler := 0 // whole lines; the last one is cut to fit
			for line := range strings.Lines(p.Text) {
				if strings.HasPrefix(line, "Entry ") && len(line) == logLine {
					filler++
				}
			}
			for i, line := range item.places(f, filler) {
				where := strings.Index(p.Text, f.records[i]+"\n")
				if got := strings.Count(p.Text[:max(where, 0)], "\nEntry "); where < 0 || got != line {
					t.Errorf("%s: record %d stands before line %d of %d, want %d", item.ID(), i, got, filler, line)
				}
			}
			if !Answer(" "+strings.ToLower(f.want)+"\n", p).Passed || Answer(f.want+".", p).Passed || Answer("", p).Passed || p.Answer.Position != fmt.Sprint(at) {
				t.Errorf("%s: answer %q", item.ID(), f.want)
			}
		}
	}
}

func TestContextPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		at   float64
		want []int
	}{
		{NativeNeedle, 0.25, []int{2}}, // 2.5: a half goes to the even one
		{NativeNeedle, 0.35, []int{4}}, // 3.5
		{NativeOrder, 0.5, []int{5, 5, 5}},
		{NativeCrosslink, 0.1, []int{1, 5, 8}},
		{NativeCrosslink, 0.9, []int{9, 3, 6}},
		{NativeCrosslink, 1, []int{10, 4, 7}},
	} {
		f, err := newFacts(c.name, 17)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, ContextItem{Position: c.at}.places(f, 10)); d != "" {
			t.Errorf("%s at %v: %s", c.name, c.at, d)
		}
	}
}

func TestContextRefuses(t *testing.T) {
	for name, item := range map[string]ContextItem{
		"bucket":   {Case: NativeNeedle, Bucket: 20},
		"case":     {Case: "x", Bucket: 2048},
		"position": {Case: NativeNeedle, Bucket: 2048, Position: 1.5},
	} {
		if _, err := item.Build(0); err == nil {
			t.Errorf("%s: built", name)
		}
	}
	if _, err := (ContextItem{Case: NativeNeedle, Bucket: 2048}).Build(-1); err == nil {
		t.Error("built with a negative ratio")
	}
}

func TestContextSet(t *testing.T) {
	s := ContextSet{Items: []ContextItem{{Case: NativeNeedle, Bucket: 512}, {Case: NativeNeedle, Bucket: 1024}}, CPT: map[int]float64{512: 5}}
	for i, low := range []int{512*5 - logLine, 1024*3 - logLine, 512*5 - logLine} {
		if n := len(mustBuild(t, s, i).Text); n <= low || n > low+logLine {
			t.Errorf("prompt %d has %d characters", i, n)
		}
	}
	if len(appendLog(nil, 12345678)) != logLine+1 || !strings.HasPrefix(string(appendLog(nil, 42)), "Entry 0000042: ") {
		t.Errorf("%q", appendLog(nil, 42))
	}
}
