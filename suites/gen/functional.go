package gen

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

// functionalGate is written by hand: each item is something that every usable
// instruct model does, so that a failure points at the serving.
func functionalGate() []items.Item {
	var out []items.Item
	for _, part := range []struct {
		task      string
		questions []question
	}{
		{"answer", shortAnswers()}, {"arithmetic", sums()}, {"json", objects()}, {"tool", oneTool()},
		{"copy", copies()}, {"stop", stops()}, {"unicode", scripts()}, {"honest", notGiven()},
	} {
		for i, q := range part.questions {
			out = append(out, q.item(part.task, i+1))
		}
	}
	return out
}

func shortAnswers() []question {
	var out []question
	for _, q := range [][]string{
		{"What is the capital of France? Answer with the name of the city only.", "Paris"},
		{"Which planet of our solar system is called the Red Planet? Answer with one word.", "Mars"},
		{"What is the chemical symbol of gold? Answer with the symbol only.", "Au"},
		{"Which day comes after Wednesday? Answer with one word.", "Thursday"},
		{"What is the opposite of hot? Answer with one word.", "cold"},
		{"How many legs does a spider have? Answer with one digit.", "8", "eight"},
	} {
		out = append(out, question{input: ask("%s", q[0]), scorers: items.Scorers{sameText}, answer: q[1:]})
	}
	return out
}

func sums() []question {
	var out []question
	for _, q := range []struct {
		text   string
		answer int
	}{
		{"What is 17 + 25? Answer with the number only.", 42},
		{"What is 9 times 8? Answer with the number only.", 72},
		{"A box holds 12 eggs. How many eggs are in 5 boxes? Answer with the number only.", 60},
		{"Subtract 38 from 100. Answer with the number only.", 62},
		{"A train leaves at 14:10 and arrives at 15:45 on the same day. How many minutes does it take? Answer with the number only.", 95},
	} {
		out = append(out, question{input: ask("%s", q.text), scorers: items.Scorers{aNumber}, answer: q.answer})
	}
	return out
}

func objects() []question {
	same := items.Scorers{scorer("json_equal", map[string]any{"extract": true, "ignore_case": true, "trim": true})}
	text, whole := map[string]any{"type": "string", "minLength": 1}, func(lo, hi int) map[string]any {
		return map[string]any{"type": "integer", "minimum": lo, "maximum": hi}
	}
	closed := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return []question{
		{input: ask("Make a JSON object of this order: Mia Lopez buys 3 boxes of green tea, to be sent to Oslo. Use exactly these fields: customer (string), item (string, without the boxes), quantity (integer), city (string). Answer with the JSON only."),
			scorers: same, answer: ordered{{"customer", "Mia Lopez"}, {"item", "green tea"}, {"quantity", 3}, {"city", "Oslo"}}},
		{input: ask("Write the numbers 4, 8 and 15 as a JSON array of integers in this order. Answer with the JSON only."),
			scorers: same, answer: []int{4, 8, 15}},
		{input: ask("The lamp is on and the door is closed. Answer with a JSON object that has two boolean fields, lamp_on and door_open, and nothing else."),
			scorers: same, answer: ordered{{"lamp_on", true}, {"door_open", false}}},
		{input: ask("Ada is 36 years old and lives in London; Alan is 41 and lives in Wilmslow. Answer with a JSON array of two objects in the order of the text, each with the fields name, age (integer) and city. Only JSON."),
			scorers: same, answer: []ordered{{{"name", "Ada"}, {"age", 36}, {"city", "London"}}, {{"name", "Alan"}, {"age", 41}, {"city", "Wilmslow"}}}},
		{input: ask("Make up a person. Answer with a JSON object with exactly these fields: name (a string that is not empty), age (an integer from 18 to 99), hobbies (an array of two or three strings). Only JSON."),
			scorers: items.Scorers{validJSON}, schema: closed(map[string]any{"name": text, "age": whole(18, 99), "hobbies": map[string]any{"type": "array", "items": text, "minItems": 2, "maxItems": 3}}, "name", "age", "hobbies"),
			answer: ordered{{"name", "Ada"}, {"age", 36}, {"hobbies", []string{"chess", "rowing"}}}},
		{input: ask("Invent a support ticket. Answer with a JSON object with exactly these fields: title (string), priority (one of low, normal, high), contact (an object with the fields name and email, both strings). Only JSON."),
			scorers: items.Scorers{validJSON}, schema: closed(map[string]any{"title": text, "priority": map[string]any{"enum": []string{"low", "normal", "high"}}, "contact": closed(map[string]any{"name": text, "email": map[string]any{"type": "string", "pattern": "@"}}, "name", "email")}, "title", "priority", "contact"),
			answer: ordered{{"title", "Printer offline"}, {"priority", "high"}, {"contact", ordered{{"name", "Ada"}, {"email", "ada@example.com"}}}}},
	}
}

func oneTool() []question {
	weather := tool{"get_weather", "The weather in a city now.", []param{text("city", "Name of the city")}}
	timer := tool{"set_timer", "Start a timer.", []param{whole("minutes", "Length in minutes")}}
	light := tool{"set_light", "Switch the light of a room.", []param{oneOf("room", "The room", "kitchen", "bedroom", "office"), flag("on", "true switches it on")}}
	email := tool{"send_email", "Send an e-mail.", []param{text("to", "Address"), text("subject", "Subject line")}}
	one := func(t tool, text string, args map[string]any) question {
		return question{input: ask("%s", text), tools: []tool{t}, scorers: items.Scorers{sameCalls}, callsSet: true, calls: items.Calls{call(t.name, args)}}
	}
	both := one(weather, "Start a timer of 9 minutes, please.", nil)
	both.tools, both.calls = []tool{weather, timer}, items.Calls{call(timer.name, map[string]any{"minutes": 9})}
	return []question{
		one(weather, "What is the weather in Oakland? Use the tool.", map[string]any{"city": "Oakland"}),
		one(timer, "Set a timer for 25 minutes.", map[string]any{"minutes": 25}),
		one(light, "Please switch the light in the bedroom off.", map[string]any{"room": "bedroom", "on": false}),
		one(email, "Send an e-mail to ada@example.com with the subject Lunch.", map[string]any{"to": "ada@example.com", "subject": "Lunch"}),
		both,
	}
}

func copies() []question {
	var out []question
	for _, text := range []string{
		"The quick brown fox jumps over the lazy dog.",
		"order 4471-B, 3 pieces, 19.90 EUR",
		"lime slate amber coral mint plum ivory teal rust pearl",
		"if (a[i] != b[j]) { return -1; }",
	} {
		out = append(out, repeat(text))
	}
	return out
}

func repeat(text string) question {
	return question{input: ask("Repeat the following line exactly as it is, and write nothing else:\n%s", text), scorers: items.Scorers{sameBytes}, answer: text}
}

// stops are answered by a text that ends where it should.
func stops() []question {
	var out []question
	words := scorer("exact", map[string]any{"ignore_case": true, "ignore_punctuation": true, "collapse_space": true})
	for _, q := range []struct {
		text    string
		scorer  items.ScorerRef
		answers []string
	}{
		{"Reply with the one word READY and nothing else.", words, []string{"READY"}},
		{"Write the numbers from 1 to 10, separated by commas, and then stop.", words, []string{"1, 2, 3, 4, 5, 6, 7, 8, 9, 10", "1,2,3,4,5,6,7,8,9,10"}},
		{"Write the letters from a to e, one on each line, then stop. Write nothing before or after them.", scorer("exact", map[string]any{"ignore_case": true}), []string{"a\nb\nc\nd\ne"}},
		{"Say the word hello three times in one line, separated by spaces, and nothing more.", words, []string{"hello hello hello"}},
	} {
		out = append(out, question{input: ask("%s", q.text), scorers: items.Scorers{q.scorer}, answer: q.answers})
	}
	return out
}

func scripts() []question {
	var out []question
	for _, text := range []string{
		"Grüße aus Łódź: naïve café, €5 – süß!",
		"東京は日本の首都です。",
		"Привет, мир! Ёжик в тумане.",
		"🙂 👩‍🚀 🇳🇴 ✅ 1️⃣",
		"مرحبا بالعالم",
	} {
		out = append(out, repeat(text))
	}
	return out
}

// notGiven asks for what a record holds, and for what it does not hold.
func notGiven() []question {
	var out []question
	for _, q := range []struct{ record, field, answer string }{
		{"name: Ada Stone\ncity: Rome\nplan: team", "phone number", "NOT GIVEN"},
		{"name: Hugo Lind\nphone: 555-0142\ncity: Bergen", "city", "Bergen"},
		{"order: 8841\nitem: blue chair\nquantity: 2", "price", "NOT GIVEN"},
		{"order: 8850\nitem: oak table\nquantity: 1\nprice: 249.00", "item", "oak table"},
		{"flight: LX 318\nfrom: Zurich\nto: London\ngate: B34", "gate", "B34"},
		{"flight: DY 62\nfrom: Oslo\nto: Nice", "departure time", "NOT GIVEN"},
	} {
		out = append(out, question{
			input:   ask("%s\n\nAnswer from this record only. What is the %s? Write the value and nothing else; if the record does not say it, write NOT GIVEN.", q.record, q.field),
			scorers: items.Scorers{sameText}, answer: q.answer, labels: map[string]string{"given": fmt.Sprint(q.answer != "NOT GIVEN")},
		})
	}
	return out
}
