package arrival

import (
	cmp2 "cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const azureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n"

func TestReadTrace(t *testing.T) {
	azure := []TraceRow{{Prompt: 374, Output: 44}, {At: 3219500, Prompt: 396, Output: 0}, {At: 59*time.Second + 3219600, Prompt: 1, Output: 2}}
	mooncake := []TraceRow{{Prompt: 6755, Output: 500, Prefix: "0 1 2"}, {Prompt: 10, Output: 1}, {At: 3052500 * time.Microsecond, Prompt: 7, Output: 8, Prefix: "0"}}
	for _, c := range []struct {
		name, text string
		want       []TraceRow
	}{
		{"azure 2023", azureHeader + "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:46.6838095,396,0\n2023-11-16 18:16:45.6838096,1,2\n", azure},
		{"azure 2024", azureHeader + "2024-05-10 00:00:00.009930+00:00,374,44\n2024-05-10 00:00:00.0131495+00:00,396,0\n2024-05-10 02:00:59.0131496+02:00,1,2", azure},
		{"ISO, CRLF, BOM, quotes, blank lines, other columns, other order",
			"\ufeffGeneratedTokens,x,TIMESTAMP,ContextTokens\r\n\r\n44,,\"2023-11-16T18:15:46.68059Z\",374\r\n0,a,2023-11-16T18:15:46.6838095Z,396\r\n\r\n2,\"b\",2023-11-16T18:16:45.6838096Z, 1 \r\n\r\n", azure},
		{"across midnight and a leap day", azureHeader + "2024-02-28 23:59:59,1,1\n2024-02-29 00:00:00,1,1\n2024-03-01 00:00:00,1,1\n",
			[]TraceRow{{Prompt: 1, Output: 1}, {At: time.Second, Prompt: 1, Output: 1}, {At: 24*time.Hour + time.Second, Prompt: 1, Output: 1}}},
		{"mooncake", `{"timestamp": 0, "input_length": 6755, "output_length": 500, "hash_ids": [0, 1, 2]}
{"timestamp":0,"input_length":10,"output_length":1}
{"timestamp":3052.5,"input_length":7,"output_length":8,"hash_ids":[0],"type":"text"}`, mooncake},
		{"mooncake since 1970", "\n" + `{"timestamp":1700000000000,"input_length":6755,"output_length":500,"hash_ids":[0,1,2]}
{"timestamp":1700000000000,"input_length":10,"output_length":1,"hash_ids":[]}
{"timestamp":1700000003052.5,"input_length":7,"output_length":8,"hash_ids":[0]}
`, mooncake},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := ReadTrace(r)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, d)
			}
		}
	}
}

func TestReadTraceRefuses(t *testing.T) {
	csv := func(rows string) string { return azureHeader + rows }
	const ok = "2023-11-16 18:15:46.6805900,374,44\n"
	const moon = `{"timestamp":5,"input_length":1,"output_length":1}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "has no rows"},
		{"header only", azureHeader, "has no rows"},
		{"no header", ok, `line 1: the header "2023-11-16 18:15:46.6805900,374,44" has no column TIMESTAMP`},
		{"column twice", "TIMESTAMP,ContextTokens,GeneratedTokens,TIMESTAMP\n", "line 1: the header has two columns TIMESTAMP"},
		{"few fields", csv(ok + "2023-11-16 18:15:47,1\n"), "line 3: has 2 fields, the header 3"},
		{"no time", csv("yesterday,1,1\n"), `line 2: TIMESTAMP "yesterday"`},
		{"year", csv("0001-01-01 00:00:00,1,1\n"), "the year is not from 1970"},
		{"zone comes and goes", csv(ok + "2023-11-16 18:15:47Z,1,1\n"), "line 3: TIMESTAMP"},
		{"February 30", csv("2023-02-30 00:00:00,1,1\n"), "line 2: TIMESTAMP"},
		{"negative", csv(ok + "2023-11-16 18:15:47,-1,1\n"), "line 3: ContextTokens -1"},
		{"absurd", csv("2023-11-16 18:15:47,1,16777217\n"), "GeneratedTokens 16777217: want"},
		{"fraction", csv("2023-11-16 18:15:47,1.5,1\n"), `ContextTokens "1.5"`},
		{"beyond int64", csv("2023-11-16 18:15:47,99999999999999999999,1\n"), "ContextTokens"},
		{"not sorted", csv(ok + ok + "2023-11-16 18:15:45.6805900,1,1\n"), "line 4: is 1s earlier than the row before it: sort"},
		{"years apart", csv(ok + "2025-11-16 18:15:46,1,1\n"), "line 3: is 17543h59m59.31941s after the first row"},
		{"long line", csv(strings.Repeat("x", 2<<20)), "line 2: longer than 1048576 bytes"},
		{"JSON in CSV", csv(moon), "line 2: TIMESTAMP"},
		{"CSV in JSON", moon + ok, "line 2:"},
		{"no JSON", moon + "{", "line 2:"},
		{"two values", strings.TrimSpace(moon) + " {}\n", "line 1:"},
		{"duplicate member", `{"timestamp":5,"timestamp":6,"input_length":1,"output_length":1}`, "line 1:"},
		{"missing member", `{"timestamp":5,"input_length":1}`, "output_length are needed"},
		{"null", `{"timestamp":null,"input_length":1,"output_length":1}`, "are needed"},
		{"time as text", `{"timestamp":"5","input_length":1,"output_length":1}`, "timestamp \"5\": want milliseconds"},
		{"time below 0", `{"timestamp":-0.5,"input_length":1,"output_length":1}`, "timestamp -0.5: want milliseconds"},
		{"time beyond reason", `{"timestamp":1e300,"input_length":1,"output_length":1}`, "timestamp 1e300: want milliseconds"},
		{"negative length", `{"timestamp":5,"input_length":-1,"output_length":1}`, "input_length -1: want"},
		{"absurd length", `{"timestamp":5,"input_length":1,"output_length":99999999999}`, "output_length 99999999999: want"},
		{"block", `{"timestamp":5,"input_length":1,"output_length":1,"hash_ids":[1,-2]}`, "hash_ids holds -2"},
		{"not sorted, JSON", moon + `{"timestamp":4.5,"input_length":1,"output_length":1}`, "line 2: is 500µs earlier"},
	} {
		if rows, err := ReadTrace(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d rows, error %v, want one with %q", c.name, len(rows), err, c.want)
		}
	}
}

func TestReadTraceKeepsTheReadersError(t *testing.T) {
	broken := errors.New("disk gone")
	r := io.MultiReader(strings.NewReader(azureHeader+"2023-11-16 18:15:46,1,1\n"), iotest.ErrReader(broken))
	if _, err := ReadTrace(r); !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v, want %v at line 3", err, broken)
	}
}

// repeated yields a text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	return n, nil
}

func TestReadTraceIsBounded(t *testing.T) {
	rows := io.MultiReader(strings.NewReader(azureHeader), &repeated{text: "2023-11-16 18:15:46,1,1\n"})
	if _, err := ReadTrace(rows); err == nil || !strings.Contains(err.Error(), "line 1000002: more than 1000000 rows") {
		t.Errorf("endless rows: %v", err)
	}
	wide := &repeated{text: fmt.Sprintf("{%s}\n", strings.Repeat(" ", 1<<20-3))}
	if _, err := ReadTrace(wide); err == nil {
		t.Error("endless lines without members are read")
	}
	if _, err := ReadTrace(&repeated{text: strings.Repeat(" ", 1<<19) + "\n"}); err == nil || !strings.Contains(err.Error(), "larger than 256 MiB") {
		t.Errorf("endless blanks: %v", err)
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(azureHeader + "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:46.6838095,396,0\n"))
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-10 00:00:00.009930+00:00,374,44\r\n"))
	f.Add([]byte(`{"timestamp":0,"input_length":6755,"output_length":500,"hash_ids":[0,1]}` + "\n" + `{"timestamp":1.5,"input_length":1,"output_length":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := ReadTrace(strings.NewReader(string(text)))
		if err != nil {
			if rows != nil || !strings.HasPrefix(err.Error(), "trace") || len(err.Error()) > 1000 {
				t.Fatalf("%d rows with error %v", len(rows), err)
			}
			return
		}
		byTime := func(a, b TraceRow) int { return cmp2.Compare(a.At, b.At) }
		if len(rows) == 0 || rows[0].At != 0 || !slices.IsSortedFunc(rows, byTime) {
			t.Fatalf("rows %v are not in order from 0", rows)
		}
		for _, r := range rows {
			if r.At > MaxSpan || r.Prompt < 0 || r.Prompt > MaxTokens || r.Output < 0 || r.Output > MaxTokens {
				t.Fatalf("row %+v is out of bounds", r)
			}
		}
	})
}
