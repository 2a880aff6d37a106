package gen

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// exchange is a conversation in which calls were made and answered: what the
// user said, and for each call its arguments and its result.
type exchange struct {
	said string
	made []made
}

type made struct {
	tool, args string // arguments as JSON
	result     any
}

// turns writes an exchange as an OpenAI conversation.
func (e exchange) turns() items.Input {
	in := ask("%s", e.said)
	var calls []ordered
	for i, m := range e.made {
		calls = append(calls, ordered{{"id", callID(i)}, {"type", "function"}, {"function", ordered{{"name", m.tool}, {"arguments", m.args}}}})
	}
	in = append(in, items.Message{Role: "assistant", ToolCalls: raw(calls)})
	for i, m := range e.made {
		in = append(in, items.Message{Role: "tool", ToolCallID: callID(i), Content: string(raw(m.result))})
	}
	return in
}

// callID has nine letters and digits: templates of Mistral take nothing else.
func callID(i int) string { return fmt.Sprintf("call%05d", i+1) }

// useResult asks for an answer from what a tool returned.
func useResult(d *draw, i int) question {
	var e exchange
	var answer []string
	var own ability
	switch i % 5 {
	case 0:
		city, n := pick(d, cities), d.between(-9, 38)
		own = simple[0]
		e = exchange{fmt.Sprintf("How warm is it in %s now? Look it up, and answer with the number of degrees Celsius only.", city),
			[]made{{"get_weather", argsOf(map[string]any{"city": city}), ordered{{"city", city}, {"temperature_c", n}, {"condition", pick(d, []string{"sunny", "sleet", "fog", "rain"})}, {"wind_kmh", d.between(40, 90)}}}}}
		answer = []string{fmt.Sprint(n), fmt.Sprintf("%d °C", n), fmt.Sprintf("%d°C", n)}
	case 1:
		two := some(d, cities, 2)
		warm, cold := d.between(15, 35), d.between(-9, 9)
		own = simple[0]
		result := func(city string, n int) made {
			return made{"get_weather", argsOf(map[string]any{"city": city}), ordered{{"city", city}, {"temperature_c", n}}}
		}
		e = exchange{fmt.Sprintf("Which city is warmer now, %s or %s? Look both up, and answer with the name only.", two[0], two[1]), []made{result(two[0], warm), result(two[1], cold)}}
		if d.below(2) == 0 {
			e.made = []made{result(two[0], cold), result(two[1], warm)}
			two[0] = two[1]
		}
		answer = []string{two[0]}
	case 2:
		code, at := d.code(2, 7), pick(d, cities)
		own = simple[7]
		e = exchange{fmt.Sprintf("In which city was parcel %s seen last? Answer with the city only.", code),
			[]made{{"track_parcel", argsOf(map[string]any{"code": code}), ordered{{"code", code}, {"state", "in transit"}, {"events", []ordered{{{"day", 1}, {"city", pick(d, cities)}}, {{"day", 2}, {"city", pick(d, cities)}}, {{"day", 3}, {"city", at}}}}}}}}
		answer = []string{at}
	case 3:
		sku, city, n := d.code(3, 4), pick(d, cities), d.between(11, 480)
		own = simple[9]
		e = exchange{fmt.Sprintf("How many %s does the %s warehouse have that are not reserved? Answer with the number only.", sku, city),
			[]made{{"query_stock", argsOf(map[string]any{"sku": sku, "warehouse": city}), ordered{{"sku", sku}, {"pieces", n + 10}, {"reserved", 10}, {"free", n}}}}}
		answer = []string{fmt.Sprint(n)}
	default:
		lang, word := pick(d, []string{"German", "Spanish", "Norwegian"}), pick(d, things)
		translated := reversed(word) + pick(d, []string{"o", "en", "ur"})
		own = simple[10]
		e = exchange{fmt.Sprintf("Translate \"%s\" into %s with the tool. Answer with the translation as the tool gives it, in capital letters, and nothing else.", word, lang),
			[]made{{"translate_text", argsOf(map[string]any{"text": word, "language": lang}), ordered{{"translation", translated}}}}}
		answer = []string{strings.ToUpper(translated)}
	}
	q := calling(withOthers(d, 2, own), e.turns())
	q.scorers, q.answer = append(q.scorers, sameText), answer
	if i%5 == 4 { // capital letters are asked for
		q.scorers[len(q.scorers)-1] = scorer("exact", map[string]any{"ignore_punctuation": true})
	}
	return q
}

func argsOf(args map[string]any) string { return string(raw(args)) }

// afterError goes on after a result that is an error: the next call is right.
func afterError(d *draw, i int) question {
	a := simple[[]int{3, 4, 7, 8, 5}[i%5]]
	said, args := a.request(d)
	wrong := map[string]any{}
	for name, value := range args {
		wrong[name] = value
	}
	reason := ""
	switch a.name {
	case "convert_currency":
		wrong["from"], wrong["to"] = "money", "other money"
		reason = "from and to must be ISO codes"
	case "book_table":
		delete(wrong, "people")
		reason = "the argument people is missing"
	case "track_parcel":
		wrong["code"] = strings.ReplaceAll(strings.ToLower(args["code"].(string)), "-", "")
		reason = "unknown code; write it with capital letters and the hyphen"
	case "create_event":
		wrong["start"] = "noon"
		reason = "start must be HH:MM"
	default:
		reason = "timeout after 10 s; the same call may be repeated"
	}
	e := exchange{said, []made{{a.name, argsOf(wrong), ordered{{"error", reason}}}}}
	q := calling(withOthers(d, 2, a), e.turns(), call(a.name, args))
	q.labels = map[string]string{"error": map[bool]string{true: "timeout", false: "argument"}[i%5 == 4]}
	return q
}
