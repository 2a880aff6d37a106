package prompts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

// TestPlacesShareNothing: the same workload in another place has the same facts
// and no prompt in common.
func TestPlacesShareNothing(t *testing.T) {
	heads := map[string]string{}
	for _, place := range []string{"a", "b"} {
		ladder, err := Ladder(place, 1024, PrefixCached, 1, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		item := Context(must(Profile("smoke")), place, 0)[0]
		for name, text := range map[string]string{
			"ladder":  mustBuild(t, ladder.Timed, 0).Text,
			"context": mustBuild(t, ContextSet{Items: []ContextItem{item}}, 0).Text,
			"bench":   mustBuild(t, Bench(place, nil)[0], 0).Text,
			"shared":  mustBuild(t, mustNew(t, Cell{Shared: place, Prompt: spec.CapacityPrompt{Tokens: 200, Cache: "shared"}}), 0).Text,
		} {
			head := name + text[:min(uniqueWithin, len(text))]
			if of, seen := heads[head]; seen {
				t.Errorf("%s begins alike in %s and %s: %q", name, of, place, head)
			}
			heads[head] = place
		}
		if p := mustBuild(t, ContextSet{Items: []ContextItem{item}}, 0); p.Answer.Want != "K557508437185" || len(p.Text) > 3*8192 || len(p.Text) < 3*8192-8 {
			t.Errorf("%s in %d characters", p.Answer.Want, len(p.Text))
		}
	}
}

// TestBlocks: prompts begin alike as far as their lists of blocks do, and no
// further; another trial, and the warm-up, have nothing of them.
func TestBlocks(t *testing.T) {
	c := Cell{Trial: 1, Requests: 5, Prompt: spec.CapacityPrompt{Cache: "unique"}, CharsPerToken: 4,
		Lengths: []int{2000, 2000, 2000, 300, 2000}, Blocks: Blocks{"7 8 9 10", "7 8 11 12", "", "7 8", "7 8 9 10"}}
	var texts []string
	for i := range 6 {
		p := mustBuild(t, mustNew(t, c), i)
		if want := 4 * p.AskedTokens; len(p.Text) > want || len(p.Text) < want-24 {
			t.Errorf("prompt %d: %d characters of %d", i, len(p.Text), want)
		}
		texts = append(texts, p.Text)
	}
	again := c
	again.Trial = 2
	texts = append(texts, mustBuild(t, mustNew(t, again), 0).Text)
	for _, w := range []struct{ a, b, low, high int }{
		{0, 1, 2*2048 - 24, 2 * 2048}, {0, 2, 0, 1}, {0, 3, 1000, 1200}, {0, 4, 7800, 8000}, {0, 5, 0, 1}, {0, 6, 0, 1},
	} {
		n := 0
		for a, b := texts[w.a], texts[w.b]; n < min(len(a), len(b)) && a[n] == b[n]; n++ {
		}
		if n < w.low || n > w.high {
			t.Errorf("prompts %d and %d have %d bytes in common, want %d to %d", w.a, w.b, n, w.low, w.high)
		}
	}
	if texts[0] == texts[4] || !strings.Contains(texts[4], fmt.Sprintf("request %d", 4)) {
		t.Error("two requests of the same blocks are one prompt")
	}
	for _, no := range []spec.CapacityPrompt{{Builder: AnvilN}, {Cache: "shared"}} {
		if (Cell{Prompt: no}).Replays() {
			t.Errorf("%+v begins with blocks", no)
		}
	}
}
