package gen

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

// perTask is the number of items of most strata of the tool suite.
const perTask = 22

// toolUse makes calls that are needed and calls that are not.
func toolUse() []items.Item {
	var out []items.Item
	for _, part := range []struct {
		task  string
		count int
		make  func(d *draw, i int) question
	}{
		{"single", perTask, singleCall}, {"choice", perTask, chosenCall}, {"parallel", perTask, parallelCalls}, {"types", 4 * len(typed), typedCall},
		{"none", perTask, noCall}, {"missing", 2 * len(simple), missingArgument}, {"result", perTask, useResult}, {"recovery", 20, afterError},
	} {
		for i := range part.count {
			out = append(out, part.make(newDraw("tool-use", part.task, fmt.Sprint(i)), i).item(part.task, i+1))
		}
	}
	return out
}

// others returns n tools besides those that are named, in random order with them.
func withOthers(d *draw, n int, own ...ability) []tool {
	var tools []tool
	names := map[string]bool{}
	for _, a := range own {
		if !names[a.name] {
			names[a.name] = true
			tools = append(tools, a.tool)
		}
	}
	for _, a := range shuffled(d, simple) {
		if n > 0 && !names[a.name] {
			tools = append(tools, a.tool)
			n--
		}
	}
	return shuffled(d, tools)
}

func calling(tools []tool, input items.Input, calls ...items.Call) question {
	return question{input: input, tools: tools, scorers: items.Scorers{sameCalls}, calls: calls, callsSet: true}
}

func singleCall(d *draw, i int) question {
	a := simple[i%len(simple)]
	said, args := a.request(d)
	return calling([]tool{a.tool}, ask("%s", said), call(a.name, args))
}

func chosenCall(d *draw, i int) question {
	a := simple[i%len(simple)]
	said, args := a.request(d)
	return calling(withOthers(d, 7, a), ask("%s", said), call(a.name, args))
}

// parallelCalls asks for several things at once that do not depend on one
// another.
func parallelCalls(d *draw, i int) question {
	n := 2 + i%3
	chosen := some(d, simple, n)
	text, calls := "Please do all of these now, with one call for each:", []items.Call{}
	for k, a := range chosen {
		said, args := a.request(d)
		text += fmt.Sprintf("\n%d. %s", k+1, said)
		calls = append(calls, call(a.name, args))
	}
	q := calling(withOthers(d, 2, chosen...), ask("%s", text), calls...)
	q.labels = map[string]string{"calls": fmt.Sprint(n)}
	return q
}

func typedCall(d *draw, i int) question {
	a := typed[i%len(typed)]
	said, args := a.request(d)
	q := calling(withOthers(d, 2, a.ability), ask("%s", said), call(a.name, args))
	q.labels = map[string]string{"argument": a.kind}
	return q
}

// noCall asks for what needs no tool although there are tools.
func noCall(d *draw, i int) question {
	said, answer := "", ""
	switch i % 6 {
	case 0:
		a, b := d.between(12, 80), d.between(12, 80)
		said, answer = fmt.Sprintf("What is %d plus %d? Answer with the number only.", a, b), fmt.Sprint(a+b)
	case 1:
		w := pick(d, things)
		said, answer = fmt.Sprintf("How many letters does the word \"%s\" have? Answer with the number only.", w), fmt.Sprint(len(w))
	case 2:
		three := some(d, cities, 3)
		first := min(three[0], three[1], three[2])
		said, answer = fmt.Sprintf("Which of these comes first in the alphabet: %s? Answer with the name only.", listed(three)), first
	case 3:
		w := pick(d, colors)
		said, answer = fmt.Sprintf("Write the word \"%s\" backwards, in small letters, and nothing else.", w), reversed(w)
	case 4:
		who, age := some(d, firstNames, 2), d.between(20, 60)
		said, answer = fmt.Sprintf("%s is %d years old and %s is %d. Who is older? Answer with the name only.", who[0], age, who[1], age+d.between(1, 9)), who[1]
	default:
		n, unit := d.between(2, 9), []struct {
			said string
			each int
		}{{"How many eggs are %d dozen eggs?", 12}, {"%d weeks are how many days?", 7}, {"Into how many minutes can %d hours be divided?", 60}, {"%d spiders have how many legs together?", 8}}[i/6%4]
		said, answer = fmt.Sprintf(unit.said+" Answer with the number only.", n), fmt.Sprint(n*unit.each)
	}
	q := calling(withOthers(d, 5), ask("%s", said))
	q.scorers, q.answer = append(q.scorers, sameText), answer
	return q
}

func reversed(w string) string {
	b := []byte(w)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// lacking are requests in which one argument is left open.
var lacking = map[string][]struct{ said, argument string }{
	"get_weather":      {{"What is the weather like there?", "city"}, {"Should I take a coat today?", "city"}},
	"set_timer":        {{"Start a countdown for the eggs.", "minutes"}, {"Set a timer, please.", "minutes"}},
	"send_message":     {{"Send the message \"On my way\".", "to"}, {"Send Petra a message.", "body"}},
	"convert_currency": {{"Convert my USD to NOK.", "amount"}, {"How much is 80 CHF?", "to"}},
	"book_table":       {{"Book a table at Keller's today at 19:30.", "people"}, {"Reserve for six guests at Novak's today.", "time"}},
	"find_route":       {{"How do I get to Vienna by bus?", "from"}, {"Plan my journey from Riga to Oslo.", "mode"}},
	"set_thermostat":   {{"Make it 21.5 degrees Celsius.", "room"}, {"Set the temperature of the office.", "celsius"}},
	"track_parcel":     {{"Where is my parcel?", "code"}, {"Track the shipment that I ordered.", "code"}},
	"create_event":     {{"Put \"paint the fence\" into my calendar at 10:00.", "date"}, {"On 2026-07-04 I \"repair the wagon\"; make an event of it.", "start"}},
	"query_stock":      {{"How many of them are left in the Essen warehouse?", "sku"}, {"Check the stock of article TRK-4471.", "warehouse"}},
	"translate_text":   {{"Translate \"good morning\" for me with the tool.", "language"}, {"Use the tool to translate it into French.", "text"}},
}

const askBack = "Call a tool only when the conversation says the value of every required argument. If it does not say one, call no tool and answer with the word MISSING, a colon and the name of that argument, and nothing else."

// missingArgument must not be called: what is missing would be made up.
func missingArgument(d *draw, i int) question {
	a := simple[i/2]
	l := lacking[a.name][i%2]
	q := calling(withOthers(d, 3, a), ask("%s", l.said))
	q.system, q.scorers, q.answer = askBack, append(q.scorers, sameText), "MISSING: "+l.argument
	q.labels = map[string]string{"argument": l.argument}
	return q
}
