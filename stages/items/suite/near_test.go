package suite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/dedupe"
)

// TestNearStaysTogether: no two items whose inputs are as alike as the
// threshold are on two sides, compared one by one; chains included.
func TestNearStaysTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	var texts []string
	for i := range 60 {
		var w []string
		for range 30 {
			w = append(w, fmt.Sprintf("w%d", r.IntN(100000)))
		}
		for j := range 1 + i%5 { // each variant is near to the one before it
			w[j*6] = fmt.Sprintf("v%d", r.IntN(100000))
			texts = append(texts, strings.Join(w, " "))
			fmt.Fprintf(&b, `{"id":"i%d-%d","input":%q,"scorer":"exact","answer":"x"}`+"\n", i, j, strings.Join(w, " "))
		}
	}
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", b.String())
	sides, rep, err := divide(d.open("items.jsonl"), SplitOptions{Salt: "s", Share: 0.4, Near: 0.85, Recipients: []string{id.Recipient().String()}})
	if err != nil {
		t.Fatal(err)
	}
	near := 0
	for i := range texts {
		for j := range i {
			a, b := dedupe.Shingles(dedupe.Normalise(texts[i], true)), dedupe.Shingles(dedupe.Normalise(texts[j], true))
			if dedupe.Jaccard(a, b) < 0.85 {
				continue
			}
			near++
			if sides[i] != sides[j] {
				t.Errorf("items %d and %d are alike and on two sides", i, j)
			}
		}
	}
	if near < 100 || rep.Groups < 40 || rep.HeldOut < 20 || rep.Development < 20 {
		t.Errorf("the test looks at too little: %d pairs, %+v", near, rep)
	}
}

// TestNearLooksAtWhatIsAsked: a page of system prompt does not make questions
// alike, and digits are differences.
func TestNearLooksAtWhatIsAsked(t *testing.T) {
	n, err := newNear(0.85)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"What is 3 + 4?", "What is 5 + 6?", "what  is 3 + 4?", "Name a river."} {
		n.add(&items.Item{ID: fmt.Sprint(i), System: strings.Repeat("Answer as a poet would. ", 50), Input: items.Input{{Role: "user", Content: text}}}, i)
	}
	got, err := n.groups()
	if fmt.Sprint(got) != "[[0 2]]" || err != nil {
		t.Error(got, err)
	}
}

func BenchmarkNear(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []items.Item
	for range 2000 {
		var w []string
		for range 80 {
			w = append(w, fmt.Sprintf("w%d", r.IntN(100000)))
		}
		all = append(all, items.Item{Input: items.Input{{Role: "user", Content: strings.Join(w, " ")}}})
	}
	for b.Loop() {
		n, err := newNear(0.85)
		if err != nil {
			b.Fatal(err)
		}
		for i := range all {
			n.add(&all[i], i)
		}
		if _, err := n.groups(); err != nil {
			b.Fatal(err)
		}
	}
}
