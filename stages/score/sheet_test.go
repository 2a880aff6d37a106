package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// sheetOf scores responses with a sheet, by two markers in turn.
func sheetOf(t *testing.T, o SheetOptions, itemLines, responses string) *Sheet {
	t.Helper()
	s, err := NewSheet(o)
	if err == nil {
		err = items.Read(strings.NewReader(itemLines), s.AddItem)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	marks := []func(*evidence.ResponseRow) Score{s.Marker(t.Context()), s.Marker(t.Context())}
	n := 0
	err = items.ReadRows("r", strings.NewReader(responses), func(row evidence.ResponseRow) error {
		n++
		_, err := s.Add(&row, marks[n%2](&row))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A sheet gives what the score step gives, byte for byte.
func TestSheetEqualsStep(t *testing.T) {
	responses := response("a", 0, `"text":"so 3"`) + response("a", 1, `"text":"4","finish":"length"`) +
		response("b", 0, `"text":"yes","usage":{"output_tokens":2}`) + response("b", 1, `"text":"","failure":{"class":"timeout","message":"m"}`) +
		response("c", 0, `"text":"x"`) + response("c", 1, `"text":"x"`)
	job, err := runJob(t, `{"stratify":"task","answers":2,"scorers":{"numeric":{"tol":0.5}}}`, fourItems, responses)
	if err != nil {
		t.Fatal(err)
	}
	s := sheetOf(t, SheetOptions{Stratify: "task", Scorers: map[string]map[string]any{"numeric": {"tol": 0.5}}}, fourItems, responses)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	if err := s.Rows(func(r evidence.ScoreRow) error { return enc.Encode(r) }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(job.outputs[evidence.OutScores].String(), got.String()); d != "" {
		t.Errorf("rows (-step +sheet):\n%s", d)
	}
	var want, sum evidence.ScoreSummary
	if err := json.Unmarshal(job.outputs[evidence.OutSummary].Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(s.Summary())
	if err := json.Unmarshal(b, &sum); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, sum); d != "" {
		t.Errorf("summary (-step +sheet):\n%s", d)
	}
}

func TestSheetRefuses(t *testing.T) {
	one := `{"id":"a","input":"q","scorer":"exact","answer":"x"}` + "\n"
	for want, o := range map[string]SheetOptions{
		`unknown scorer "nothing"`:      {Replace: items.Scorers{{Name: "nothing"}}},
		`unknown parameter "x"`:         {Scorers: map[string]map[string]any{"exact": {"x": 1}}},
		`unknown parameter "y"`:         {Replace: items.Scorers{{Name: "exact", Params: map[string]json.RawMessage{"y": []byte("1")}}}},
		`parameter trim: "no" is not a`: {Scorers: map[string]map[string]any{"exact": {"trim": "no"}}},
	} {
		if _, err := NewSheet(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	s := sheetOf(t, SheetOptions{}, one, response("a", 0, `"text":"x"`)+response("b", 0, `"text":"x"`))
	if s.Unknown != 1 || s.UnknownIDs[0] != "b" {
		t.Errorf("unknown: %d %v", s.Unknown, s.UnknownIDs)
	}
	row := evidence.ResponseRow{ID: "a"}
	if _, err := s.Add(&row, Score{}); err == nil || !strings.Contains(err.Error(), "two answers") {
		t.Errorf("a second answer: error %v", err)
	}
	row = evidence.ResponseRow{ID: "a", Repeat: -1}
	if known, err := s.Add(&row, Score{Value: 1, Scored: true}); err != nil || !known || row.Repeat != 1 {
		t.Errorf("an answer without a number: repeat %d, error %v", row.Repeat, err)
	}
	if s.Answers() != 2 || s.SomeID() != "a" || s.Items() != 1 {
		t.Errorf("%d answers, id %s, %d items", s.Answers(), s.SomeID(), s.Items())
	}
	if err := s.AddItem(items.Item{ID: "a"}); err == nil {
		t.Error("an item was added twice")
	}
}

// Equal scorers and schemas are kept once, and those with parameters apart.
func TestSheetShares(t *testing.T) {
	var lines strings.Builder
	for i := range 4 {
		fmt.Fprintf(&lines, `{"id":"%d","input":"q","scorer":["exact",{"name":"json_schema"}],"answer":"1","schema":{"const":1}}`+"\n", i)
	}
	lines.WriteString(`{"id":"p","input":"q","scorer":["exact",{"name":"json_schema","params":{"extract":true}}],"answer":"1","schema":{"const":1}}` + "\n")
	s := sheetOf(t, SheetOptions{}, lines.String(), response("0", 0, `"text":"1"`)+response("p", 0, "\"text\":\"```\\n1\\n```\""))
	if a, b := s.book.tallies["0"].item, s.book.tallies["3"].item; &a.Schema[0] != &b.Schema[0] || &a.Scorer[0] != &b.Scorer[0] {
		t.Error("equal schemas or scorers are kept twice")
	}
	if s.book.tallies["p"].item.Scorer[1].Params == nil {
		t.Error("the parameters of p are lost")
	}
}
