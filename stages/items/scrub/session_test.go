package scrub

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/items"
)

func TestSameValueSamePlaceholder(t *testing.T) {
	n := mustNew(t, Options{}).Session()
	got := n.Text("ada@example.org, Bob@example.org, ADA@Example.org; 4111 1111 1111 1111 = 4111111111111111 = ４１１１１１１１１１１１１１１１; +49 30 901820 = 0049 30 901820 = +49 (0)30 901820")
	want := "<EMAIL_1>, <EMAIL_2>, <EMAIL_1>; <CARD_1> = <CARD_1> = <CARD_1>; <PHONE_1> = <PHONE_1> = <PHONE_1>"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if again := n.Text("bob@example.org"); again != "<EMAIL_2>" {
		t.Errorf("a later text of the item: %s", again)
	}
	if diff := cmp.Diff(map[string]int{"email": 4, "card": 3, "phone": 3}, n.Counts()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONInProse(t *testing.T) {
	got := mustNew(t, Options{}).Session().Text("Use\n```json\n{\"card\": 4111111111111111, \"x\": [1]}\n```\nfor card: 4111111111111111, please.")
	want := "Use\n```json\n{\"card\": \"<CARD_1>\", \"x\": [1]}\n```\nfor card: <CARD_1>, please."
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestJSON(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{`{"to": "ada@example.org", "n": [1, 2.50, true, null]}`, `{"to": "<EMAIL_1>", "n": [1, 2.50, true, null]}`},
		{`{"a":"ada\u0040example.org"}`, `{"a":"<EMAIL_1>"}`},
		{`{"ada@example.org":{"card":4111111111111111}}`, `{"<EMAIL_1>":{"card":"<CARD_1>"}}`},
		{`[{"function":{"name":"mail","arguments":"{\"to\":\"ada@example.org\",\"card\":4111111111111111}"}}]`,
			`[{"function":{"name":"mail","arguments":"{\"to\":\"<EMAIL_1>\",\"card\":\"<CARD_1>\"}"}}]`},
		{`{"arguments":"{\"to\": ada@example.org"}`, `{"arguments":"{\"to\": <EMAIL_1>"}`}, // broken JSON is text
		{`{"phone_number":"5551234567","customerPhone":5551234568,"ids":["5551234567"]}`,
			`{"phone_number":"<PHONE_1>","customerPhone":"<PHONE_2>","ids":["5551234567"]}`},
		{`{"ssn":"219099999","order_number":"212-555-0187","version":"10.20.30.40"}`, `{"ssn":"<US_SSN_1>","order_number":"212-555-0187","version":"10.20.30.40"}`},
		{`{"password":"letmein","passwordHint":"your dog","token":512,"pwd":123456,"apiKey":"abc-defghi","secret":"see below","password_hash":"a1b2c3d4e5"}`,
			`{"password":"<SECRET_1>","passwordHint":"your dog","token":512,"pwd":"<SECRET_2>","apiKey":"<SECRET_3>","secret":"see below","password_hash":"a1b2c3d4e5"}`},
		{`{"password":"string","secret":null,"client_secret":"${SECRET}","db":{"passwd":"Ab3!x"}}`, `{"password":"string","secret":null,"client_secret":"${SECRET}","db":{"passwd":"<SECRET_1>"}}`},
		{`{"private_key":"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"}`, `{"private_key":"<PRIVATE_KEY_1>\n"}`},
		{` "ada@example.org" `, ` "<EMAIL_1>" `},
		{`{"a":1.0e5,"b":"\u00e9"}`, `{"a":1.0e5,"b":"\u00e9"}`},
	} {
		got, err := mustNew(t, Options{}).Session().JSON([]byte(tc.raw))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s\n got %s, %v\nwant %s", tc.raw, got, err, tc.want)
		}
	}
	for _, raw := range []string{``, `{`, `{"a":1,"a":2}`, `1 2`, `{} x`, "\"\xff\"", `{"ada@example.org":1,"ADA@example.org":2}`} {
		if got, err := mustNew(t, Options{}).Session().JSON([]byte(raw)); err == nil {
			t.Errorf("%q became %s without an error", raw, got)
		}
	}
}

func TestItem(t *testing.T) {
	it := items.Item{
		ID: "ada@example.org/1", Cluster: "ada@example.org", System: "You serve ada@example.org. Old: <EMAIL_3>",
		Strata: map[string]string{"tenant": "bob@example.org"},
		Input: items.Input{
			{Role: "user", Content: "mail bob@example.org"},
			{Role: "assistant", ToolCalls: json.RawMessage(`[{"id":"c1","function":{"arguments":"{\"to\":\"bob@example.org\"}"}}]`)},
			{Role: "tool", ToolCallID: "c1", Content: `{"sent":"bob@example.org"}`},
		},
		Tools:  json.RawMessage(`[{"function":{"description":"owner ada@example.org"}}]`),
		Answer: json.RawMessage(`"bob@example.org"`), Facts: []string{"ada@example.org"},
		ExpectTool: items.Calls{{Name: "mail", Arguments: json.RawMessage(`{"to":"bob@example.org"}`)}},
	}
	before, _ := json.Marshal(it)
	clean := it
	counts, err := mustNew(t, Options{}).Item(&clean)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(clean)
	if strings.Contains(string(out), "@") {
		t.Errorf("an address is left: %s", out)
	}
	if clean.System != "You serve <EMAIL_4>. Old: <EMAIL_3>" || clean.Input[0].Content != "mail <EMAIL_5>" || string(clean.Answer) != `"<EMAIL_5>"` {
		t.Errorf("numbers: %s", out)
	}
	if counts["email"] != 11 {
		t.Errorf("counted %v", counts)
	}
	if after, _ := json.Marshal(it); string(after) != string(before) {
		t.Error("the given item was changed")
	}
	bad := items.Item{Tools: json.RawMessage(`{"ada@example.org":1,"ADA@example.org":2}`)}
	if _, err := mustNew(t, Options{}).Item(&bad); err == nil || strings.Contains(err.Error(), "ada") {
		t.Errorf("names that fall together: %v", err)
	}
}

// Generated identifiers with right check digits are found, with a wrong one not.
func TestCheckDigits(t *testing.T) {
	s := mustNew(t, Options{})
	found := func(text string) bool { return len(s.find(text)) == 1 }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 99_999_999).Draw(t, "n")
		body := fmt.Sprintf("41%013d", n)
		right := 0
		for d := range 10 {
			if luhn(fmt.Sprintf("%s%d", body, d)) {
				right++
				if !found(fmt.Sprintf("%s%d", body, d)) {
					t.Errorf("card %s%d", body, d)
				}
			}
		}
		dni := fmt.Sprintf("%08d", n)
		if !found(dni+string(dniLetters[n%23])) || found(dni+string(dniLetters[(n+1)%23])) {
			t.Errorf("DNI %s", dni)
		}
		nir := 1_850_500_000_000 + int64(n%1_000_000)
		if !found(fmt.Sprintf("%d%02d", nir, 97-nir%97)) || found(fmt.Sprintf("%d%02d", nir, (97-nir%97)%97+1)) {
			t.Errorf("NIR %d", nir)
		}
		if right != 1 {
			t.Errorf("%d check digits for %s", right, body)
		}
	})
}

// Whatever the text: valid UTF-8 stays valid, JSON stays JSON, counts agree with
// placeholders, what was found is gone, and a second pass finds nothing.
func FuzzText(f *testing.F) {
	for _, tc := range findings {
		plain, _ := marks(tc.text)
		f.Add(plain)
	}
	for _, text := range harmless {
		f.Add(text)
	}
	f.Add(`{"a":"{\"b\":\"ada@example.org\"}","c":4111111111111111}`)
	f.Add("+49 30 901820+49 30 901821ada@example.org@example.org")
	f.Add("+20000 00000! 01700000000 010 000000 002000 000000 002000 000000 010+2000000000")
	s, err := New(Options{Custom: []Custom{{"X", `K-\d+`}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := s.Session()
		out := n.Text(text)
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Fatalf("%q became %q", text, out)
		}
		if out == text != (len(n.Counts()) == 0) {
			t.Fatalf("%q became %q with counts %v", text, out, n.Counts())
		}
		if looksLikeJSON(text) && jsontext.Value(text).IsValid() && !jsontext.Value(out).IsValid() && !strings.Contains(text, `"`) {
			t.Fatalf("JSON %q became %q", text, out)
		}
		again := s.Session()
		if twice := again.Text(out); twice != out {
			t.Fatalf("%q became %q, then %q by %v", text, out, twice, again.Counts())
		}
		same := s.Session()
		if same.Text(text) != out || !maps.Equal(same.Counts(), n.Counts()) {
			t.Fatalf("%q: two sessions differ", text)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"to": "ada@example.org", "n": [1, 2.50, true, null], "phone": 5551234567}`))
	f.Add([]byte(`[{"function":{"name":"mail","arguments":"{\"to\":\"ada@example.org\",\"card\":4111111111111111}"}}]`))
	f.Add([]byte(` "x" `))
	s, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		valid := jsontext.Value(raw).IsValid()
		out, err := s.Session().JSON(raw)
		if err == nil && !jsontext.Value(out).IsValid() {
			t.Fatalf("%q became %q", raw, out)
		}
		if err == nil && !valid || err != nil && valid && !strings.Contains(err.Error(), "two names") {
			t.Fatalf("%q (valid %v): %v", raw, valid, err)
		}
	})
}

// A hostile text must not take more than linear time: the test would not end.
func TestLinear(t *testing.T) {
	n := mustNew(t, Options{})
	for _, part := range []string{"a@", "a@b.c", "+1 ", "1.", "::", "://", "://a:", "sk-", "eyJ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "<A_", "4111 ", "0", "bearer ", "?token=", "[", "(", "DE89 ", "tel 5", "a@b.cd ", "password:", "password for ", "?token=", "password=a", "=\"", "\u200b", "４", "@例.", "例@", "DE-8-"} {
		n.Session().Text(strings.Repeat(part, 1<<20/len(part)))
	}
}

func BenchmarkText(b *testing.B) {
	s := mustNew(b, Options{})
	for name, text := range map[string]string{
		"clean": strings.Repeat("Please summarise the quarterly report of 2024 and list 3 risks, as discussed in section 4.2. ", 10),
		"hits":  strings.Repeat("Mail ada@example.org or call +49 30 901820 about order 4500012345 from 192.168.10.42. ", 10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Session().Text(text)
			}
		})
	}
}
