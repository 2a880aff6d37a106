package judge

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Judgement is what a reply came to.
type Judgement struct {
	Value  float64 // in [0,1]: fail and pass are 0 and 1, k of n points (k-1)/(n-1)
	Reason string
}

// Parse reads a judge's reply. It is strict: a verdict that has to be guessed
// at would be ours and not the judge's. The one licence is a code fence around
// the whole reply.
func (f Form) Parse(reply string) (Judgement, error) {
	text := strings.TrimSpace(reply)
	if text == "" {
		return Judgement{}, errors.New("the judge's reply is empty")
	}
	if f.Reply == "word" {
		word := strings.ToLower(strings.TrimSuffix(text, "."))
		v, err := f.value(word)
		return Judgement{v, "judge: " + f.said(word)}, err
	}
	return f.parseObject(unfence(text))
}

type replyObject struct {
	Reason  string         `json:"reason"`
	Verdict jsontext.Value `json:"verdict"`
	Score   jsontext.Value `json:"score"`
}

func (f Form) parseObject(text string) (Judgement, error) {
	var o replyObject
	if err := jsonv2.Unmarshal([]byte(text), &o, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Judgement{}, fmt.Errorf("the judge's reply %q is not the object that was asked for", clip(text))
	}
	said, other := o.Verdict, o.Score
	if f.Points > 0 {
		said, other = other, said
	}
	if said == nil || other != nil {
		return Judgement{}, fmt.Errorf("the judge's reply %q is not the object that was asked for", clip(text))
	}
	word := string(said)
	if f.Points == 0 {
		if err := jsonv2.Unmarshal(said, &word); err != nil {
			return Judgement{}, fmt.Errorf("the judge's verdict %s is neither pass nor fail", clip(string(said)))
		}
	}
	v, err := f.value(word)
	if err != nil {
		return Judgement{}, err
	}
	reason := o.Reason
	if reason == "" {
		reason = "the judge gave no reason"
	}
	return Judgement{v, fmt.Sprintf("judge: %s: %s", f.said(word), clip(reason))}, nil
}

// said is a verdict as a reason names it.
func (f Form) said(word string) string {
	if f.Points == 0 {
		return word
	}
	return fmt.Sprintf("%s of %d", word, f.Points)
}

// value turns pass, fail or a number of points into [0,1].
func (f Form) value(word string) (float64, error) {
	if f.Points == 0 {
		switch word {
		case "pass":
			return 1, nil
		case "fail":
			return 0, nil
		}
		return 0, fmt.Errorf("the judge's verdict %q is neither pass nor fail", clip(word))
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > f.Points || word != strconv.Itoa(n) {
		return 0, fmt.Errorf("the judge's score %q is no whole number from 1 to %d", clip(word), f.Points)
	}
	return float64(n-1) / float64(f.Points-1), nil
}

// unfence takes a code fence off that is around the whole text.
func unfence(text string) string {
	body, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	body, ok = strings.CutSuffix(body, "```")
	if !ok || strings.Contains(body, "```") {
		return text
	}
	if first, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(first, "{}\"") {
		body = rest
	}
	return strings.TrimSpace(body)
}

// clip shortens a text for a reason.
func clip(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}
