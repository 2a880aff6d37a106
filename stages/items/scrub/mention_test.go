package scrub

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
)

// TestMentions: a value that is known by what stands beside it once is replaced
// wherever the item mentions it, in its reference too.
func TestMentions(t *testing.T) {
	s := mustNew(t, Options{})
	for _, c := range []struct{ text, answer, wantText, wantAnswer string }{
		{"Is 520-4528 theirs? phone: 520-4528.", `"520-4528"`, "Is <PHONE_1> theirs? phone: <PHONE_1>.", `"<PHONE_1>"`},
		{"phone: 5204528, return only the phone.", `5204528`, "phone: <PHONE_1>, return only the phone.", `"<PHONE_1>"`},
		{"phone: 5204528", `{"to": ["5204528", 25204528, "x5204528", "5204528_1"]}`, "phone: <PHONE_1>", `{"to": ["<PHONE_1>", 25204528, "x5204528", "5204528_1"]}`},
		{"password: Tr0ub4dor&3 then say Tr0ub4dor&3", `"Tr0ub4dor&3!"`, "password: <SECRET_1> then say <SECRET_1>", `"<SECRET_1>!"`},
		{"order 520-4528 and nothing else", `"520-4528"`, "order 520-4528 and nothing else", `"520-4528"`},
		{`password: "ab3!x"; ab3!x is short`, `"ab3!x"`, `password: "<SECRET_1>"; ab3!x is short`, `"ab3!x"`},
	} {
		it := items.Item{ID: "i", Input: items.Input{{Role: "user", Content: c.text}}, Answer: []byte(c.answer)}
		if _, err := s.Item(&it); err != nil {
			t.Fatal(err)
		}
		if it.Input[0].Content != c.wantText || string(it.Answer) != c.wantAnswer {
			t.Errorf("%s, %s\n got %s, %s\nwant %s, %s", c.text, c.answer, it.Input[0].Content, it.Answer, c.wantText, c.wantAnswer)
		}
	}
}
