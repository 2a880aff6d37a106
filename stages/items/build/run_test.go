package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/stages/items"
)

func source(name, text string) Source {
	return Source{name, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// built runs a build and returns the items as lines.
func built(t testing.TB, o Options) (string, Report) {
	t.Helper()
	out, r, err := try(o)
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

func try(o Options) (string, Report, error) {
	var out []byte
	r, err := Run(context.Background(), o, func(it items.Item) error {
		var err error
		out, err = appendItem(out, &it)
		out = append(out, '\n')
		return err
	})
	return string(out), r, err
}

func TestRun(t *testing.T) {
	poem := "please write me a long poem about the sea and the sky in the manner of an old sailor from the north"
	logs := strings.Join([]string{
		`{"id":"a","input":"Mail ada@example.org about order 4711","ts":"2024-03-04T10:00:00Z","kind":"mail"}`,
		`{"id":"b","input":"mail  BOB@example.org about ORDER 1234","ts":"2024-03-05T10:00:00Z","kind":"mail"}`, // the same after scrubbing
		``,
		`not json`,
		`{"id":"c","input":"` + poem + `","ts":"2024-03-12T10:00:00Z"}`,
		`{"id":"c","input":"` + poem + `!","ts":"2024-03-12T11:00:00Z"}`,                              // near
		`{"id":"d","system":"Answer in French.","input":"` + poem + `!","ts":"2024-03-12T11:00:00Z"}`, // another context
		`{"id":"a","input":"What is the capital of France?","ts":"2024-03-20T10:00:00Z"}`,             // an id that is taken
		`{"input":"Translate: good morning","kind":"translate"}`,
		`{"id":"eve@example.org","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`,
		`{"id":"eve@example.org","input":"Who is Eve?"}`,
	}, "\n")
	expert := `{"id":"x1","input":"what is the capital of france?","scorer":"exact","answer":"Paris"}
{"id":"x2","input":"What is the capital of France?","scorer":"exact","answer":"Paris, write to ada@example.org"}
`
	o := Options{Logs: []Source{source("log.jsonl", logs)}, Expert: []Source{source("own.jsonl", expert)}, MaxBroken: 0.2,
		Map: FieldMap{Labels: map[string]string{"task": "kind"}},
		Label: func(it *items.Item) (map[string]string, error) {
			return map[string]string{"length": map[bool]string{true: "long", false: "short"}[len(it.Input[0].Content) > 60]}, nil
		}}
	out, r := built(t, o)
	var ids []string
	for line := range strings.Lines(out) {
		it, err := decodeItem([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		readable(t, it)
		ids = append(ids, it.ID)
	}
	if len(ids) != 7 || strings.Join(ids[:5], " ") != "x1 x2 a c d" || !strings.HasPrefix(ids[5], "log-") || !strings.HasPrefix(ids[6], "log-") {
		t.Errorf("ids: %q", ids)
	}
	if strings.Contains(strings.SplitN(out, "\n", 3)[2], "@") {
		t.Errorf("an address is left:\n%s", out)
	}
	at := func(s string) *time.Time { t, _ := time.Parse(time.DateOnly, s); return &t }
	want := Report{Lines: 10, Blank: 1, Read: 8, Skipped: 2, Broken: 1, Unsupported: 1,
		Reasons: map[string]int{string(notJSON): 1, string(notText): 1},
		Skips:   []Skip{{"log.jsonl", 4, string(notJSON)}, {"log.jsonl", 10, string(notText)}},
		Sampled: 8, Windows: []Window{{nil, 2, 2}, {at("2024-03-04"), 2, 2}, {at("2024-03-11"), 3, 3}, {at("2024-03-18"), 1, 1}},
		Scrubbed: map[string]int{"email": 3}, ScrubbedItems: 3, ExpertMatches: map[string]int{"email": 1},
		ExactDuplicates: 2, NearDuplicates: 1, ExpertAlike: 1, ClusterCount: 2, Clusters: [][]string{{"x1", "x2"}, {"c", "c"}},
		Expert: 2, Items: 7, WithoutReference: 5,
		ByStratum: map[string]int{"task=mail": 1, "task=translate": 1, "length=long": 2, "length=short": 5}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if b, _ := json.Marshal(r); strings.Contains(string(b), "@") {
		t.Errorf("the report shows a value: %s", b)
	}
}

func TestTakenIDs(t *testing.T) {
	logs := `{"id":"a","input":"one thing entirely"}
{"id":"a","input":"quite another matter"}
{"id":"x","input":"something for the expert"}
{"input":"nameless"}
`
	out, r := built(t, Options{Logs: []Source{source("l", logs)}, Expert: []Source{source("e", `{"id":"x","input":"2+2","scorer":"exact","answer":4}`)}})
	if r.Renamed != 2 || r.Items != 5 || strings.Count(out, `"id":"a"`) != 1 || strings.Count(out, `"id":"a~`) != 1 || strings.Count(out, `"id":"x~`) != 1 {
		t.Errorf("%d renamed:\n%s", r.Renamed, out)
	}
	// An id from the content does not depend on what else is in the logs.
	alone, _ := built(t, Options{Logs: []Source{source("l", `{"input":"nameless","extra":1}`)}})
	if !strings.HasSuffix(out, alone) {
		t.Errorf("ids of the same content differ:\n%s%s", alone, out)
	}
}

func TestDigits(t *testing.T) {
	logs := "{\"input\":\"2+2?\"}\n{\"input\":\"3+3?\"}\n"
	if _, r := built(t, Options{Logs: []Source{source("l", logs)}}); r.Items != 1 || r.ExactDuplicates != 1 {
		t.Errorf("folded: %+v", r)
	}
	if _, r := built(t, Options{Logs: []Source{source("l", logs)}, KeepDigits: true}); r.Items != 2 {
		t.Errorf("kept: %+v", r)
	}
	near := `{"input":"a text of some length for the comparison"}` + "\n" + `{"input":"a text of some length for the comparison."}` + "\n"
	if _, r := built(t, Options{Logs: []Source{source("l", near)}, Near: -1}); r.Items != 2 {
		t.Errorf("near-duplicates off: %+v", r)
	}
	if _, r := built(t, Options{Logs: []Source{source("l", near)}}); r.Items != 1 {
		t.Errorf("near-duplicates on: %+v", r)
	}
}

func TestRunErrors(t *testing.T) {
	good := `{"input":"hi"}` + "\n"
	long := `{"input":"` + strings.Repeat("x", 100) + `"}` + "\n"
	disk := errors.New("disk")
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"nothing":       {Options{}, "neither logs nor expert items"},
		"broken share":  {Options{Logs: []Source{source("l.jsonl", good+"x\n"+good)}}, "l.jsonl:2"},
		"broken hint":   {Options{Logs: []Source{source("l.jsonl", "x\n{}\n")}}, "2 of 2 lines are broken, 100.0 % (allowed: 5 %): not valid JSON (1), there is no input where it is looked for (1); first l.jsonl:1; say where"},
		"no request":    {Options{Logs: []Source{source("l.jsonl", "\n")}}, "none of 0 lines is a request"},
		"long line":     {Options{Logs: []Source{source("l.jsonl", good+long+good)}, MaxLine: 64}, "longer than a line may be (1); first l.jsonl:2"},
		"bad threshold": {Options{Logs: []Source{source("l", good)}, Near: 0.3}, "the threshold 0.3 is not from 0.5 to 1"},
		"bad sample":    {Options{Logs: []Source{source("l", good)}, Sample: Sampling{N: -1}}, "-1 lines cannot be drawn"},
		"bad window":    {Options{Logs: []Source{source("l", good)}, Sample: Sampling{Window: 5}}, "shorter than a second"},
		"bad share":     {Options{Logs: []Source{source("l", good)}, MaxBroken: 2}, "a share of broken lines of 2"},
		"memory":        {Options{Logs: []Source{source("l", good)}, Memory: 1 << 20}, "sample fewer lines or allow more memory"},
		"expert line":   {Options{Expert: []Source{source("e.jsonl", "{}\n")}}, "e.jsonl:1: the item has no id"},
		"expert ids":    {Options{Expert: []Source{source("e", `{"id":"x","input":"a","scorer":"exact","answer":1}`), source("f", `{"id":"x","input":"b","scorer":"exact","answer":1}`)}}, `two expert files have an item "x"`},
		"reader": {Options{Logs: []Source{{"l", func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(good), iotest.ErrReader(disk))), nil
		}}}}, "l: line 2: disk"},
		"open":            {Options{Logs: []Source{{"l", func() (io.ReadCloser, error) { return nil, disk }}}}, "l: disk"},
		"temporary files": {Options{Logs: []Source{source("l", good)}, TempDir: "does/not/exist"}, "temporary file: "},
		"label":           {Options{Logs: []Source{source("l", good)}, Label: func(*items.Item) (map[string]string, error) { return map[string]string{"a": ""}, nil }}, `label "a" has the value ""`},
		"label error":     {Options{Logs: []Source{source("l", good)}, Label: func(*items.Item) (map[string]string, error) { return nil, disk }}, "disk"},
		"rule":            {Options{Logs: []Source{source("l", good)}, Scrub: offRule("x")}, `there is no rule "x"`},
	} {
		_, _, err := try(tc.o)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	stop := errors.New("stop")
	if _, err := Run(context.Background(), Options{Logs: []Source{source("l", good)}}, func(items.Item) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the caller's error: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Options{Logs: []Source{source("l", good)}}, func(items.Item) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
}

// A line that cannot be scrubbed as JSON is dropped and counted, never let through.
func TestUnclean(t *testing.T) {
	out, r := built(t, Options{Logs: []Source{source("l", `{"input":"hi","tools":[{"ada@example.org":1,"ADA@example.org":2}]}`+"\n"+`{"input":"ho"}`)}})
	if r.Unclean != 1 || r.Items != 1 || r.Sampled != 2 || strings.Contains(out, "@") {
		t.Errorf("%s%+v", out, r)
	}
}

// Items of one user stay one cluster when the user's name is an address.
func TestClusterPseudonyms(t *testing.T) {
	var text strings.Builder
	for i := range 30 * 6 {
		fmt.Fprintf(&text, `{"input":"Question %d","user":"user%d@example.org"}`+"\n", i, i%30)
	}
	text.WriteString(`{"input":"Nobody's","user":"team-7"}` + "\n" + `{"input":"Alone"}` + "\n")
	o := Options{Logs: []Source{source("l", text.String())}, Map: FieldMap{Cluster: "user"}, Near: -1, KeepDigits: true}
	out, r := built(t, o)
	sizes := map[string]int{}
	for line := range strings.Lines(out) {
		it, err := decodeItem([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		sizes[it.Cluster]++
	}
	want := map[string]int{"team-7": 1, "": 1}
	for i := range 30 {
		sum := sha256.Sum256(fmt.Appendf(nil, "user%d@example.org", i))
		want[fmt.Sprintf("u-%x", sum[:8])] = 6
	}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	if strings.Contains(out, "@") {
		t.Errorf("an address is left:\n%s", out)
	}
	if r.Scrubbed["email"] != 180 || r.ScrubbedItems != 180 {
		t.Errorf("%v scrubbed in %d items", r.Scrubbed, r.ScrubbedItems)
	}
	if again, _ := built(t, o); again != out {
		t.Error("another build gives other items")
	}
}

// Strata whose names are addresses stay as many as they were, whether the label
// comes from the log, a rule or a label file.
func TestLabelPseudonyms(t *testing.T) {
	var text strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, `{"input":"Question %d","tenant":"team%d@example.org","kind":"k%d"}`+"\n", i, i%2, i%3)
	}
	o := Options{Logs: []Source{source("l", text.String())}, Near: -1, KeepDigits: true,
		Map: FieldMap{Labels: map[string]string{"tenant": "tenant", "kind": "kind"}},
		Label: func(it *items.Item) (map[string]string, error) {
			return map[string]string{"owner": "team1@example.org", "size": "short"}, nil
		}}
	out, r := built(t, o)
	name := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return fmt.Sprintf("u-%x", sum[:8])
	}
	want := map[string]int{"tenant=" + name("team0@example.org"): 3, "tenant=" + name("team1@example.org"): 3,
		"owner=" + name("team1@example.org"): 6, "kind=k0": 2, "kind=k1": 2, "kind=k2": 2, "size=short": 6}
	if diff := cmp.Diff(want, r.ByStratum); diff != "" {
		t.Errorf("strata (-want +got):\n%s", diff)
	}
	if strings.Contains(out, "@") || strings.Contains(out, "<EMAIL") {
		t.Errorf("an address or its placeholder is a stratum:\n%s", out)
	}
	if r.Scrubbed["email"] != 12 {
		t.Errorf("scrubbed %v", r.Scrubbed)
	}
	o.Map.Labels = map[string]string{"ada@example.org": "kind"}
	if _, err := Run(t.Context(), o, func(items.Item) error { return nil }); err == nil || !strings.Contains(err.Error(), `label "ada@example.org" is personal data`) {
		t.Errorf("a label's name: %v", err)
	}
}

// The same bytes and options give the same bytes, whatever the reads, the files
// the logs are cut into and the number of processors; nothing is left behind.
func TestSameBytes(t *testing.T) {
	text := string(mustRead(t, newLogs(4000)))
	dir := t.TempDir()
	o := Options{Logs: []Source{source("l", text)}, Sample: Sampling{N: 1500, Seed: 7}, TempDir: dir, KeepDigits: true}
	want, report := built(t, o)
	if report.Sampled != 1500 || report.Items < 1000 {
		t.Fatalf("%+v", report)
	}
	check := func(name string, o Options) {
		t.Helper()
		got, r := built(t, o)
		if got != want {
			t.Errorf("%s: other items", name)
		}
		if diff := cmp.Diff(report, r); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
	split := o
	split.Logs = []Source{source("l", text[:half]), source("l", text[half:])}
	check("two files", split)
	slow := o
	slow.Logs = []Source{{"l", func() (io.ReadCloser, error) { return io.NopCloser(iotest.HalfReader(strings.NewReader(text))), nil }}}
	check("half reads", slow)
	old := runtime.GOMAXPROCS(1)
	check("one processor", o)
	runtime.GOMAXPROCS(old)
	o.Sample.Seed = 8
	if other, _ := built(t, o); other == want {
		t.Error("another seed draws the same lines")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Every window gets its share to less than one line, and all together N.
func TestAllocate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := map[int64]int{}
		var order []int64
		total := 0
		for w := range rapid.IntRange(1, 20).Draw(t, "windows") {
			counts[int64(w)] = rapid.IntRange(1, 1000).Draw(t, "lines")
			order = append(order, int64(w))
			total += counts[int64(w)]
		}
		n := rapid.IntRange(1, total).Draw(t, "n")
		sum := 0
		for w, q := range allocate(order, counts, total, n) {
			share := float64(n) * float64(counts[w]) / float64(total)
			if float64(q) <= share-1 || float64(q) >= share+1 || q > counts[w] {
				t.Errorf("window of %d of %d lines got %d of %d", counts[w], total, q, n)
			}
			sum += q
		}
		if sum != n {
			t.Errorf("%d drawn, want %d", sum, n)
		}
	})
}

// Every line of a window is drawn equally often over seeds.
func TestSampleIsFair(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `{"id":"%d","input":"text %c of its own","ts":"2024-03-%02dT00:00:00Z"}`+"\n", i, 'a'+i, 4+7*(i/15))
	}
	times := map[string]int{}
	const seeds = 400
	for seed := range seeds {
		o := Options{Logs: []Source{source("l", text.String())}, Sample: Sampling{N: 8, Seed: uint64(seed)}, Near: -1}
		if _, err := Run(context.Background(), o, func(it items.Item) error { times[it.ID]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 { // expected 160 of 400, sd 9.8
		if n := times[fmt.Sprint(i)]; n < 110 || n > 210 {
			t.Errorf("line %d was drawn %d times of %d", i, n, seeds)
		}
	}
}
