package gen

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

var needleKinds = []kindOf{
	{"needle", depths, oneNeedle}, {"multi", depths, manyNeedles}, {"order", depths, orderedNeedles},
	{"distractor", depths, distractors}, {"identifiers", depths, identifiers}, {"chain", depths, chain},
}

func needle(tokens []int) ([]items.Item, map[string][]byte, error) {
	return contexts("needle", tokens, needleKinds), nil, nil
}

const journal = "Read the journal of a haulage company and answer the question after it."

// notes returns the filler of a journal: nothing in it is a code.
func notes(d *draw) func() string {
	forms := []func() string{
		func() string {
			return fmt.Sprintf("%s moved %d %s %ss from %s to %s.", pick(d, firstNames), d.between(2, 90), pick(d, colors), pick(d, things), pick(d, cities), pick(d, cities))
		},
		func() string {
			return fmt.Sprintf("The %s %s waited %d hours in %s because of %s.", pick(d, colors), pick(d, things), d.between(2, 40), pick(d, cities), pick(d, []string{"fog", "rain", "a strike", "customs", "repairs", "snow"}))
		},
		func() string {
			return fmt.Sprintf("%s %s wrote from %s that every %s had arrived.", pick(d, firstNames), pick(d, lastNames), pick(d, cities), pick(d, things))
		},
		func() string {
			return fmt.Sprintf("In %s the crew of %s painted %s %s.", pick(d, cities), pick(d, lastNames), withArticle(pick(d, colors)), pick(d, things))
		},
	}
	return func() string { return pick(d, forms)() }
}

func withArticle(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// found is a question whose answer is written as it stands in the text.
func found(d *draw, asked string, facts []fact, size int, answer string) question {
	return question{
		input: ask("%s", context(journal, asked, facts, size, notes(d))), answer: answer,
		scorers: items.Scorers{scorer("exact", map[string]any{"ignore_case": true, "collapse_space": true})},
	}
}

const onlyIt = " Answer with the code only."

func depotLine(depot, code string) string {
	return fmt.Sprintf("The access code of depot %s is %s.", depot, code)
}

func oneNeedle(d *draw, depth float64, size int) question {
	depot, code := pick(d, cities), d.code(2, 6)
	return found(d, fmt.Sprintf("What is the access code of depot %s?", depot)+onlyIt, []fact{{depth, depotLine(depot, code)}}, size, code)
}

func manyNeedles(d *draw, depth float64, size int) question {
	depots := some(d, cities, 3)
	facts, codes := make([]fact, 3), make([]string, 3)
	for i, depot := range depots {
		codes[i] = d.code(2, 6)
		facts[i] = fact{along(depth, i), depotLine(depot, codes[i])}
	}
	return found(d, fmt.Sprintf("What are the access codes of the depots %s, %s and %s? Answer with the three codes in this order, separated by \" | \", and nothing else.", depots[0], depots[1], depots[2]),
		facts, size, strings.Join(codes, " | "))
}

// orderedNeedles stand in the text in another order than that which is asked for.
func orderedNeedles(d *draw, depth float64, size int) question {
	turn, facts, codes := shuffled(d, numbers(4)), make([]fact, 4), make([]string, 4)
	for i, n := range turn {
		codes[n] = d.code(2, 6)
		facts[i] = fact{along(depth, i), fmt.Sprintf("Checkpoint %d reported the seal %s.", n+1, codes[n])}
	}
	return found(d, "Which seals did the checkpoints 1, 2, 3 and 4 report? Answer with the four seals in the order of the checkpoints' numbers, separated by \" | \", and nothing else.",
		facts, size, strings.Join(codes, " | "))
}

// distractors are facts of the same form about something else, and one that was
// true before.
func distractors(d *draw, depth float64, size int) question {
	depots := some(d, cities, 6)
	asked, code := depots[0], d.code(2, 6)
	facts := []fact{{depth, depotLine(asked, code)}}
	for i, other := range depots[1:] {
		facts = append(facts, fact{along(depth, i+1), depotLine(other, d.code(2, 6))})
	}
	facts = append(facts, fact{along(depth, 6), fmt.Sprintf("Until last year the access code of depot %s was %s.", asked, d.code(2, 6))})
	return found(d, fmt.Sprintf("What is the access code of depot %s now?", asked)+onlyIt, facts, size, code)
}

func identifiers(d *draw, depth float64, size int) question {
	hex := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789abcdef"[d.below(16)])
		}
		return b.String()
	}
	values := [][2]string{
		{"NAME", pick(d, firstNames) + " " + pick(d, lastNames) + "-" + fmt.Sprint(d.between(1000, 9999))},
		{"UUID", hex(8) + "-" + hex(4) + "-4" + hex(3) + "-a" + hex(3) + "-" + hex(12)},
		{"NUMBER", fmt.Sprint(d.between(1e10, 9e10))},
		{"IP", fmt.Sprintf("198.51.100.%d", d.between(1, 254))}, // a range for documentation
		{"SYMBOL", fmt.Sprintf("resolve_%s_%d", pick(d, things), d.between(10000, 99999))},
	}
	var facts []fact
	var answer []string
	for i, v := range values {
		facts = append(facts, fact{along(depth, i), fmt.Sprintf("The consignment's %s is %s.", v[0], v[1])})
		answer = append(answer, v[0]+"="+v[1])
	}
	return found(d, "Give the consignment's identifiers exactly as they are written, in the form NAME=… | UUID=… | NUMBER=… | IP=… | SYMBOL=… and nothing else.", facts, size, strings.Join(answer, " | "))
}

// chain is a fact that is found by way of two others.
func chain(d *draw, depth float64, size int) question {
	who, ware := some(d, lastNames, 3), some(d, things, 3)
	facts := []fact{}
	var code string
	for i := range who { // the first is asked for, the others lead elsewhere
		truck, end := d.code(1, 4), d.code(2, 6)
		if i == 0 {
			code = end
		}
		facts = append(facts,
			fact{along(depth, 3*i), fmt.Sprintf("Order %s was given to driver %s.", strings.ToUpper(ware[i]), who[i])},
			fact{along(depth, 3*i+1), fmt.Sprintf("Driver %s takes truck %s.", who[i], truck)},
			fact{along(depth, 3*i+2), fmt.Sprintf("Truck %s carries the seal %s.", truck, end)})
	}
	return found(d, fmt.Sprintf("Which seal is on the truck that order %s goes with?", strings.ToUpper(ware[0]))+" Answer with the seal only.", facts, size, code)
}
