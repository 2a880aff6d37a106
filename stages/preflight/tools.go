package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// cities are asked about in turn, so that an answer that belongs to another
// request does not fit.
var cities = []string{"Oakland", "Lisbon", "Nairobi", "Osaka", "Bergen", "Quito", "Tunis", "Perth", "Riga", "Hanoi"}

func cityAt(i int) string { return cities[i%len(cities)] }

// tools asks for many tool calls at once and wants every one of them right.
func tools(ctx context.Context, s *session) (evidence.Check, error) {
	n := s.parallel()
	answers, err := s.askAll(ctx, n, n, func(i int) question {
		return question{what: fmt.Sprintf("request %d", i+1), request: s.toolRequest(cityAt(i))}
	})
	if err != nil {
		return evidence.Check{}, err
	}
	right, total := 0, float64(n)
	var wrong []string
	for i, a := range answers {
		if why := a.missing(); why != "" {
			return notSupported(why), nil
		}
		if why := s.toolAnswerWrong(a, cityAt(i)); why != "" {
			wrong = append(wrong, fmt.Sprintf("request %d: %s", i+1, why))
			continue
		}
		right++
	}
	c := judged(strings.Join(wrong[:min(len(wrong), 3)], "; "), fmt.Sprintf("%d of %d calls at once were right", right, n))
	if len(wrong) > 0 {
		c.Reason = fmt.Sprintf("%d of %d calls at once were wrong: %s", len(wrong), n, c.Reason)
	}
	c.Measured = []evidence.Measured{measured("right_calls", "requests", float64(right), &total)}
	return c, nil
}

// toolRequest asks for one call.
func (s *session) toolRequest(city string) llm.Request {
	if s.Compat != "" {
		return s.anvilTools()
	}
	r := s.ability(fmt.Sprintf("What is the weather in %s right now? Use the right tool, and no other.", city))
	r.Tools = definitions(offered...)
	return r
}

// toolAnswerWrong says what is wrong with the answer to toolRequest.
func (s *session) toolAnswerWrong(a answer, city string) string {
	if a.wrong != "" {
		return a.wrong
	}
	if s.Compat != "" {
		return anvilCallWrong(a.Response)
	}
	if why := oneCallWrong(a, city); why != "" {
		return why
	}
	return s.finishWrong(a)
}

// oneCallWrong wants exactly one call, of the weather of the city.
func oneCallWrong(a answer, city string) string {
	if why := leak(a.Text); why != "" {
		return why
	}
	if n := len(a.ToolCalls); n != 1 {
		return made(n) + ", want one"
	}
	c := a.ToolCalls[0]
	if why := callWrong(c, offered); why != "" {
		return why
	}
	if c.Name != weatherTool.name {
		return fmt.Sprintf("it calls %s, want %s", c.Name, weatherTool.name)
	}
	if got := cityOf(c); !strings.Contains(strings.ToLower(got), strings.ToLower(city)) {
		return fmt.Sprintf("it asks for %q, want %s", clip(got, 64), city)
	}
	return ""
}

// streamingTools wants a call as a stream that ends as its protocol says.
func streamingTools(ctx context.Context, s *session) (evidence.Check, error) {
	r := s.toolRequest(cityAt(0))
	r.NoStream = false
	a, err := sendStream(ctx, s.ep, question{what: "the stream", request: r})
	if err != nil {
		return evidence.Check{}, err
	}
	if a.refused == nil {
		s.note(a)
	}
	return a.check(func(a answer) string {
		if why := s.toolAnswerWrong(a, cityAt(0)); why != "" {
			return why
		}
		switch {
		case !a.Ended:
			return "the stream closed without its end mark"
		case a.Events < 2 && s.Compat == "":
			return "the answer came as one event"
		}
		return s.finishWrong(a)
	}), nil
}

// sendStream is send for a check of the stream itself: an answer in another form
// is what it is to find.
func sendStream(ctx context.Context, via Asker, q question) (answer, error) {
	p, err := via.Prepare(q.request)
	if err != nil {
		return answer{refused: err}, nil
	}
	r := via.Do(ctx, p)
	if f := r.Failure; f != nil && f.Class == llm.ClassProtocol && ctx.Err() == nil {
		return answer{Response: r, wrong: fmt.Sprintf("%s: %s", f.Class, f.Message), seen: observe(q, p.Digest, r)}, nil
	}
	return concluded(ctx, q, p.Digest, r)
}

// toolResult makes a call, hands its result back and wants it used.
func toolResult(ctx context.Context, s *session) (evidence.Check, error) {
	turns := s.resultTurns()
	first, err := s.ask(ctx, question{what: "turn 1", request: turns.first})
	if err != nil {
		return evidence.Check{}, err
	}
	if first.problem() != "" {
		return first.check(nil), nil
	}
	if why := s.toolAnswerWrong(first, turns.city); why != "" {
		return failed("turn 1: " + why), nil
	}
	second, err := s.ask(ctx, question{what: "turn 2", request: turns.second(first.Response)})
	if err != nil {
		return evidence.Check{}, err
	}
	c := second.check(func(a answer) string {
		if why := leak(a.Text); why != "" && s.Compat == "" {
			return why
		}
		if len(a.ToolCalls) > 0 && s.Compat == "" {
			return "a tool is called again in place of an answer"
		}
		return turns.wrong(a.Text)
	})
	if c.Verdict == evidence.CheckFailed {
		c.Reason = "turn 2: " + c.Reason
	}
	return c, nil
}

// resultTurns are the two turns of the tool-result check.
type resultTurns struct {
	city, result string
	first        llm.Request
	wrong        func(text string) string
}

// station stands in a tool's result and cannot be guessed.
const station = "QV-48271"

func (s *session) resultTurns() resultTurns {
	if s.Compat != "" {
		return s.anvilTurns()
	}
	t := resultTurns{city: cityAt(1), result: `{"city":"Lisbon","temperature_c":17.5,"station":"` + station + `"}`}
	t.first = s.ability("Which weather station reports for Lisbon? Look the weather of Lisbon up with the right tool. " +
		"When you have its result, reply with the code of the station and nothing else.")
	t.first.Tools = definitions(offered...)
	t.wrong = func(text string) string {
		if !strings.Contains(text, station) {
			return fmt.Sprintf("the answer does not hold %s, which the tool returned", station)
		}
		return ""
	}
	return t
}

// second repeats the first turn, the call and its result.
func (t resultTurns) second(r llm.Response) llm.Request {
	next := t.first
	id := or(r.ToolCalls[0].ID, "call_1")
	next.Messages = append(next.Messages[:len(next.Messages):len(next.Messages)],
		llm.Message{Role: "assistant", Content: r.Text, ToolCalls: history(r.ToolCalls)},
		llm.Message{Role: "tool", Content: t.result, ToolCallID: id})
	return next
}

// parallelTools wants several different calls in one answer.
func parallelTools(ctx context.Context, s *session) (evidence.Check, error) {
	r := s.own("What is the weather in Oakland, what is the weather in Lisbon, and what is the local time in Lisbon? " +
		"Call the tools for all three at once, in one answer, before you say anything.")
	r.Tools = definitions(offered...)
	a, err := s.ask(ctx, question{what: "the request", request: r})
	if err != nil {
		return evidence.Check{}, err
	}
	c := a.check(func(a answer) string {
		if why := callsWrong(a); why != "" {
			return why
		}
		return s.finishWrong(a)
	})
	if a.problem() == "" {
		c.Measured = []evidence.Measured{measured("calls", "requests", float64(len(a.ToolCalls)), nil)}
	}
	return c, nil
}

// callsWrong wants two or more calls, each right, no two the same.
func callsWrong(a answer) string {
	if why := leak(a.Text); why != "" {
		return why
	}
	if n := len(a.ToolCalls); n < 2 {
		return made(n) + " in one answer, want two or more"
	}
	seen := map[string]bool{}
	for i, c := range a.ToolCalls {
		if why := callWrong(c, offered); why != "" {
			return fmt.Sprintf("call %d: %s", i+1, why)
		}
		same := c.Name + " " + strings.ToLower(strings.TrimSpace(cityOf(c)))
		if seen[same] {
			return fmt.Sprintf("call %d repeats an earlier one", i+1)
		}
		seen[same] = true
	}
	return ""
}
