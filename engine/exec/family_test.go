package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// grower makes one line for each name of its params, and takes over those that
// an earlier result has.
type grower struct {
	made  []string
	saw   []step.Earlier
	fails error
}

func (g *grower) split(job step.Known) (kept, made []string, notes []string) {
	var p struct {
		Names []string `json:"names"`
		How   string   `json:"how,omitempty"`
	}
	if err := job.Params(&p); err != nil {
		panic(err)
	}
	there := map[string]bool{}
	for _, e := range job.Earlier() {
		rc, err := e.Open("out")
		if err != nil {
			notes = append(notes, err.Error())
			continue
		}
		b, err := io.ReadAll(rc)
		rc.Close()
		if err != nil {
			notes = append(notes, err.Error())
			continue
		}
		for line := range strings.Lines(string(b)) {
			there[strings.TrimSpace(line)] = true
		}
	}
	for _, n := range p.Names {
		if there[n] {
			kept = append(kept, n)
		} else {
			made = append(made, n)
		}
	}
	return kept, made, notes
}

func (g *grower) Run(_ context.Context, job step.Job) error {
	g.saw = job.Earlier()
	kept, made, notes := g.split(job)
	g.made = made
	if g.fails != nil {
		return g.fails
	}
	for _, n := range notes {
		job.Note("%s", n)
	}
	job.Note("%d kept", len(kept))
	return step.Write(job, "out", "text/plain", []byte(strings.Join(slices.Concat(kept, made), "\n")+"\n"))
}

func (g *grower) Forecast(job step.Known) (step.Cost, string, error) {
	if g.fails != nil {
		return step.Cost{}, "", g.fails
	}
	kept, made, _ := g.split(job)
	return step.Cost{Requests: len(made), Exact: true}, fmt.Sprintf("%d kept", len(kept)), nil
}

// growing is a step of that kind.
func growing(names ...string) step.Step {
	p, _ := json.Marshal(map[string]any{"names": names})
	return step.Step{Name: "measure/a", Kind: "grows", Revision: 1, Trial: 1, Params: p, Cost: step.Cost{Requests: len(names)},
		Grows: &step.Growth{Params: []string{"names"}, Inputs: []string{"list"}}}
}

func growers(t *testing.T) (*fixture, *grower) {
	f, g := setup(t), &grower{}
	f.e.Runners["grows"] = g
	var ticks atomic.Int64 // asked for by the owner and by workers
	f.e.Now = func() time.Time {
		return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(ticks.Add(1)) * time.Second)
	}
	return f, g
}

func (g *grower) want(t *testing.T, made ...string) {
	t.Helper()
	if !slices.Equal(g.made, made) {
		t.Errorf("made %v, want %v", g.made, made)
	}
}

func TestGrow(t *testing.T) {
	f, g := growers(t)
	f.run(growing("a", "b"))
	g.want(t, "a", "b")
	out := f.run(growing("a", "b", "c"))
	g.want(t, "c")
	first, _ := f.e.Store.KeysByName("measure/a")
	if len(g.saw) != 1 || g.saw[0].Key != first[1] || g.saw[0].Record != 1 {
		t.Errorf("saw %+v of %v", g.saw, first)
	}
	if _, err := g.saw[0].Open("other"); !errors.Is(err, step.ErrNoInput) {
		t.Errorf("an output that is not there: %v", err)
	}
	if rec, _, _ := f.e.Store.Latest(out.Results[0].Key); !slices.Equal(rec.Notes, []string{"2 kept"}) {
		t.Errorf("notes %v", rec.Notes)
	}
	f.run(growing("c", "x"))
	g.want(t, "x")
	if len(g.saw) != 2 || g.saw[0].Key != out.Results[0].Key {
		t.Errorf("the newest is not first: %+v", g.saw)
	}
	f.run(growing("b"))
	g.want(t)
	if found := f.problems(); found != nil {
		t.Errorf("%v", found)
	}
}

// problems is what a check of the store finds.
func (f *fixture) problems() (found []string) {
	f.t.Helper()
	if _, err := f.e.Store.Check(true, func(p store.Problem) { found = append(found, p.Kind+" "+p.Path+": "+p.Why) }); err != nil {
		f.t.Fatal(err)
	}
	return found
}

// Steps that differ in anything else are no family.
func TestOtherFamilies(t *testing.T) {
	f, g := growers(t)
	f.run(growing("a"))
	for name, edit := range map[string]func(*step.Step){
		"trial":    func(s *step.Step) { s.Trial = 2 },
		"revision": func(s *step.Step) { s.Revision = 2 },
		"param":    func(s *step.Step) { s.Params = json.RawMessage(`{"names":["a","b"],"how":"x"}`) },
		"no growth": func(s *step.Step) {
			s.Params, s.Grows = json.RawMessage(`{"names":["a","b","c"]}`), nil
		},
	} {
		s := growing("a", "b")
		edit(&s)
		f.run(s)
		if len(g.saw) != 0 {
			t.Errorf("%s: saw %v", name, g.saw)
		}
	}
	list := growing("a", "b")
	for _, text := range []string{"one", "two"} {
		path := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		list.Inputs = map[string]step.Input{"list": {Blob: step.Sum([]byte(text)), Path: path}}
		f.run(list)
		if len(g.saw) == 0 {
			t.Errorf("list %s: another list is another family", text)
		}
	}
}

// A refresh is shown nothing, nor is anybody shown what it replaced.
func TestGrowRefreshed(t *testing.T) {
	f, g := growers(t)
	f.run(growing("a"))
	f.e.Refresh = []string{"measure/*"}
	f.run(growing("a", "b"))
	g.want(t, "a", "b")
	f.run(growing("a"))
	g.want(t, "a")
	f.e.Refresh = nil
	f.run(growing("a", "c"))
	g.want(t, "c")
	if len(g.saw) != 2 || g.saw[0].Record != 2 {
		t.Errorf("saw %+v, want the refreshed record of the first key before the second", g.saw)
	}
}

// The plan says what the run sends, writes nothing, and keeps to its bound when
// the runner cannot tell.
func TestGrowForecast(t *testing.T) {
	f, g := growers(t)
	f.run(growing("a", "b"))
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, []byte("l"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := growing("a", "b", "c")
	p, err := plan.New([]step.Step{s})
	if err != nil {
		t.Fatal(err)
	}
	preview := func() Preview {
		t.Helper()
		before, _ := f.e.Store.Stats()
		rows, err := f.e.Preview(p)
		if after, _ := f.e.Store.Stats(); err != nil || before != after {
			t.Fatalf("%v, %+v became %+v", err, before, after)
		}
		return rows[0]
	}
	if row := preview(); row.Cost != (step.Cost{Requests: 1, Exact: true}) || row.Reason != "not run before with these inputs; 2 kept" {
		t.Errorf("%+v", row)
	}
	f.e.Refresh = []string{"measure/a"}
	if row := preview(); row.Cost.Requests != 3 {
		t.Errorf("refreshed: %+v", row)
	}
	f.e.Refresh = nil
	g.fails = errors.New("cannot tell")
	if row := preview(); row.Cost != (step.Cost{Requests: 3}) || row.Reason != "not run before with these inputs" {
		t.Errorf("%+v", row)
	}
	g.fails = nil
	out := f.run(s)
	g.want(t, "c")
	ex, err := f.e.Explain(p, "measure/a")
	if err != nil || len(ex) != 1 || ex[0].Forecast != WillHit || !slices.Equal(ex[0].Notes, []string{"2 kept"}) || ex[0].Key != out.Results[0].Key.String() {
		t.Errorf("%+v, %v", ex, err)
	}
}

// The runner of a forecast reads the campaign's files where they are.
func TestPeekOpensFiles(t *testing.T) {
	f, _ := growers(t)
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		blob step.Digest
		want string
	}{"same": {step.Sum([]byte("text")), ""}, "changed": {step.Sum([]byte("before")), "changed while"}} {
		s := growing("a")
		s.Inputs = map[string]step.Input{"list": {Blob: c.blob, Path: path}}
		pre, err := step.NewPreimage(s, map[string]step.Digest{"list": c.blob})
		if err != nil {
			t.Fatal(err)
		}
		k := peek{f.e, work{s: s, pre: pre}}
		rc, err := k.Open("list")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		rc.Close()
		if string(b) != "text" || c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if _, err := k.Open("other"); !errors.Is(err, step.ErrNoInput) {
			t.Error(err)
		}
	}
}

// The index says where to look and no more: without it a step of the same name
// is found, and a key that does not belong is not believed.
func TestIndexOfFamilies(t *testing.T) {
	f, g := growers(t)
	out := f.run(growing("a"), mk("measure/x", false))
	dir := filepath.Join(f.e.Store.Dir(), "families")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("families %v, %v", entries, err)
	}
	of, err := step.ParseDigest(entries[0].Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.e.Store.AddToFamily(of, out.Results[1].Key); err != nil {
		t.Fatal(err)
	}
	f.run(growing("a", "b"))
	if g.want(t, "b"); len(g.saw) != 1 {
		t.Errorf("saw %v", g.saw)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	f.run(growing("a", "b", "c"))
	if g.want(t, "c"); len(g.saw) != 2 {
		t.Errorf("saw %v", g.saw)
	}
}

// What is damaged costs work and is no error; an older record of the key is not
// what counts.
func TestGrowPastDamage(t *testing.T) {
	f, g := growers(t)
	f.run(growing("a"))
	f.e.Refresh = []string{"measure/a"}
	g.made = nil
	out := f.run(growing("a", "b"))
	f.e.Refresh = nil
	f.flip(out, "measure/a")
	grown := f.run(growing("a", "b", "c"))
	f.states(grown, Done)
	g.want(t, "b", "c")
	if rec, _, _ := f.e.Store.Latest(grown.Results[0].Key); len(rec.Notes) != 2 || !strings.Contains(rec.Notes[0], "damaged") {
		t.Errorf("notes %v", rec.Notes)
	}
	d := grown.Results[0].Outputs[0].Digest.String()
	if err := os.Remove(filepath.Join(f.e.Store.Dir(), "objects", d[:2], d)); err != nil {
		t.Fatal(err)
	}
	grown = f.run(growing("a", "b", "c", "d"))
	f.states(grown, Done)
	g.want(t, "b", "c", "d")
	if rec, _, _ := f.e.Store.Latest(grown.Results[0].Key); len(rec.Notes) != 3 || !strings.Contains(strings.Join(rec.Notes, " "), store.ObjectMissing) {
		t.Errorf("notes %v", rec.Notes)
	}
}

func TestEarlierIsBounded(t *testing.T) {
	f, g := growers(t)
	var names []string
	for i := range mostEarlier + 3 {
		names = append(names, fmt.Sprint(i))
		f.run(growing(names...))
	}
	g.want(t, names[len(names)-1])
	if len(g.saw) != mostEarlier {
		t.Errorf("%d earlier results", len(g.saw))
	}
}
