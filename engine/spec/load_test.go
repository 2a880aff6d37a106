package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/format"

	"github.com/cupel-dev/cupel/engine/step"
)

const fullDigest = "6b097190af6a79f25eb550d3e91ab36383badd5a5eedf1426f1cc7ce85b792a5"

func mustLoad(t testing.TB, file string) *Loaded {
	t.Helper()
	l, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The digest of the design's own example. It changes only with the meaning of
// the spec: then every stored result is another campaign's.
func TestDigestIsStable(t *testing.T) {
	l := mustLoad(t, "testdata/campaign/full.yaml")
	if got := l.Digest.String(); got != fullDigest {
		t.Errorf("digest %s, was %s; canonical form:\n%s", got, fullDigest, l.Canonical)
	}
	if len(l.Files) != 3 || len(l.Unknown) != 0 || len(l.Warnings) != 0 || l.Dir != filepath.Join("testdata", "campaign") {
		t.Errorf("files %v, unknown %v, warnings %v, dir %s", l.Files, l.Unknown, l.Warnings, l.Dir)
	}
	for _, f := range l.Files {
		b, err := os.ReadFile(f.Path)
		if err != nil || step.Sum(b) != f.Digest || f.Size != int64(len(b)) {
			t.Errorf("%s: digest %s, size %d, %v", f.Name, f.Digest, f.Size, err)
		}
	}
}

// jsonOf prints a tree; order picks the order of the fields.
func jsonOf(n *node, order func(n int) []int) string {
	var parts []string
	switch n.kind {
	case cue.StructKind:
		for _, i := range order(len(n.fields)) {
			name, _ := json.Marshal(n.fields[i].name)
			parts = append(parts, string(name)+": "+jsonOf(n.fields[i].val, order))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case cue.ListKind:
		for _, e := range n.elems {
			parts = append(parts, jsonOf(e, order))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case cue.StringKind:
		b, _ := json.Marshal(n.text)
		return string(b)
	case cue.NullKind:
		return "null"
	}
	return n.text
}

func inOrder(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func fullTree(t testing.TB) *node {
	t.Helper()
	b, err := os.ReadFile("testdata/campaign/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, errs := parseYAML("full.yaml", b)
	if errs != nil {
		t.Fatal(errs)
	}
	return root
}

// campaignDir is a folder with what the full campaign refers to.
func campaignDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/campaign")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// One campaign in five syntaxes, from another folder, has one digest.
func TestSameDigestFromEverySyntax(t *testing.T) {
	dir := campaignDir(t)
	body := jsonOf(fullTree(t), inOrder)
	plain, err := format.Node(fullTree(t).expr())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"c.json":      body,
		"plain.cue":   string(plain),
		"embeds.cue":  "package c\n\nimport \"cupel.dev/schemas@v0\"\n\nschemas.#Campaign\n" + string(plain),
		"unifies.cue": "import s \"cupel.dev/schemas@v0:cupel\"\n\ns.#Campaign & " + body,
		"p/a.cue":     "package p\n\nimport \"cupel.dev/schemas@v0\"\n\nschemas.#Campaign\n",
		"flow.yaml":   body,
	} {
		file := write(t, dir, name, text)
		if name == "p/a.cue" {
			relocated := strings.NewReplacer("suites/support", "../suites/support", "research/model-card.md", "../research/model-card.md")
			write(t, dir, "p/b.cue", "package p\n\n"+relocated.Replace(string(plain)))
			file = filepath.Dir(file)
		}
		l, err := Load(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l.Digest.String() != fullDigest {
			t.Errorf("%s: digest %s\n%s", name, l.Digest, l.Canonical)
		}
	}
}

func TestDigestIgnoresOrder(t *testing.T) {
	dir, root := campaignDir(t), fullTree(t)
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := jsonOf(root, func(n int) []int { return rapid.Permutation(inOrder(n)).Draw(rt, "order") })
		l, err := loadText(filepath.Join(dir, "c.json"), []byte(shuffled))
		if err != nil {
			rt.Fatal(err)
		}
		if l.Digest.String() != fullDigest {
			rt.Fatalf("digest %s from\n%s", l.Digest, shuffled)
		}
	})
}

// The canonical form holds every default; written as a campaign it is the same
// one. It also decodes into the typed campaign that it was made of.
func TestDefaultsWrittenOut(t *testing.T) {
	for file, folder := range map[string]string{"testdata/base.yaml": "campaign/suites/support", "testdata/campaign/full.yaml": "suites/support"} {
		l := mustLoad(t, file)
		text := string(l.Canonical)
		suite, err := json.Marshal(l.Campaign.Measure["support"].Quality.Suite)
		if err == nil {
			suite, err = step.Canonical(suite)
		}
		if err != nil || !strings.Contains(text, string(suite)) {
			t.Fatalf("suite %s is not in %s; %v", suite, text, err)
		}
		text = strings.ReplaceAll(text, string(suite), `"`+folder+`"`)
		for _, f := range l.Files {
			name, _ := json.Marshal(f.Name)
			text = strings.ReplaceAll(text, fmt.Sprintf(`{"sha256":"%s"}`, f.Digest), string(name))
		}
		again, err := loadText(filepath.Join(l.Dir, "c.json"), []byte(text))
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, text)
		}
		if diff := cmp.Diff(string(l.Canonical), string(again.Canonical)); diff != "" {
			t.Errorf("%s:\n%s", file, diff)
		}
		var decoded Campaign
		if err := json.Unmarshal(l.Canonical, &decoded); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(decoded)
		if err != nil {
			t.Fatal(err)
		}
		if b, err = step.Canonical(b); err != nil || !bytes.Equal(b, l.Canonical) {
			t.Errorf("%s: canonical -> typed -> canonical is\n%s\n%v", file, b, err)
		}
	}
}

// What the design promises when nothing is written.
func TestDefaults(t *testing.T) {
	l := mustLoad(t, "testdata/base.yaml")
	c := l.Campaign
	want := Quality{Samples: 1, Repeats: 1, Concurrency: 4, Stratify: "task", Retries: 2, Timeout: "5m"}
	got := *c.Measure["support"].Quality
	if got.Suite.Name != "support" || got.Suite.Count != 1 {
		t.Errorf("suite %+v", got.Suite)
	}
	got.Suite = Suite{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quality (-want +got):\n%s", diff)
	}
	capacity := Capacity{Protocol: "capacity-v3", Concurrency: []int{1, 4}, Requests: 8, Warmup: 1, Trials: 1, Timeout: "5m",
		Prompt: CapacityPrompt{Cache: "unique"}, Output: CapacityOutput{Policy: "observe"}}
	if diff := cmp.Diff(capacity, *c.Measure["load"].Capacity); diff != "" {
		t.Errorf("capacity (-want +got):\n%s", diff)
	}
	statistics := Statistics{Confidence: 0.95, Interval: "auto", Multiplicity: "none", Missing: "undetermined",
		Bootstrap: Bootstrap{Resamples: 10000, Generator: "numpy"}}
	if diff := cmp.Diff(statistics, c.Decide.Statistics); diff != "" {
		t.Errorf("statistics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Preflight{Checks: []string{"health", "identity", "generate"}}, c.Preflight); diff != "" {
		t.Errorf("preflight (-want +got):\n%s", diff)
	}
	if c.Publish.To != "findings" || c.Baseline() != "bf16" {
		t.Errorf("publish %+v, baseline %s", c.Publish, c.Baseline())
	}
	// topP is inherited and not the default; role and serve are not.
	fp8 := c.Candidates["fp8"]
	if diff := cmp.Diff(Sampling{TopP: 0.9, MaxTokens: 1024}, fp8.Sampling); diff != "" || fp8.Role != "candidate" {
		t.Errorf("fp8: role %s, sampling (-want +got):\n%s", fp8.Role, diff)
	}
	if fp8.Cache.Prefix != "on" || fp8.Quantization.Weights != "fp8" || fp8.Parallelism != nil || fp8.Serve != nil {
		t.Errorf("fp8 = %+v", fp8)
	}
	if len(l.Unknown["fp8"]) != 6 || len(l.Unknown["bf16"]) != 7 {
		t.Errorf("unknown %v", l.Unknown)
	}
}

// Every change of a pin, a workload, a rule or a file's content is another
// campaign; a comment is not.
func TestDigestDependsOnEverything(t *testing.T) {
	b, err := os.ReadFile("testdata/campaign/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[step.Digest]string{}
	for _, edit := range [][2]string{
		{"apiVersion", "apiVersion"}, {"half the GPUs", "all GPUs"}, {"0.11.0", "0.11.1"}, {"seed: 0, maxTokens", "seed: 1, maxTokens"},
		{"samples: 1", "samples: 2"}, {"-0.02", "-0.03"}, {"[1, 4, 16, 64]", "[1, 4, 16]"}, {"gpuHour: 2.10", "gpuHour: 2.2"},
		{"reviewFailures: 20", "reviewFailures: 21"}, {"suite: suites/support, split: held-out", "suite: suites/support"}, {"suite: suites/support, split: held-out", "suite: suites/support/items.jsonl"},
		{"tokenizer: {revision: 0123456789abcdef0123456789abcdef01234567}", "tokenizer: {probe: 60}"},
	} {
		l, err := loadText("testdata/campaign/full.yaml", []byte(strings.Replace(string(b), edit[0], edit[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if other, dup := seen[l.Digest]; dup {
			t.Errorf("%q has the digest of %q", edit[1], other)
		}
		seen[l.Digest] = edit[1]
	}
	commented, err := loadText("testdata/campaign/full.yaml", append([]byte("# a comment\n"), b...))
	if err != nil || commented.Digest.String() != fullDigest {
		t.Errorf("with a comment: %v, %v", commented, err)
	}
	manifest, err := os.ReadFile("testdata/campaign/suites/support/suite.json")
	if err != nil {
		t.Fatal(err)
	}
	// The whole version, the held-out text, and the text as it is encrypted.
	cipher := "encrypted again"
	for _, edit := range [][2]string{{"02c7043c", "02c7043d"}, {"39a5bc8c", "39a5bc8d"}, {"cb9cdf8466664b01158b7df6860fcbb835cd351025aedab1e77b0cfa852d1410", step.Sum([]byte(cipher)).String()}} {
		dir := campaignDir(t)
		write(t, dir, "suites/support/suite.json", strings.Replace(string(manifest), edit[0], edit[1], 1))
		if len(edit[0]) > 8 {
			write(t, dir, "suites/support/heldout.age", cipher)
		}
		if l := mustLoad(t, filepath.Join(dir, "full.yaml")); l.Digest.String() == fullDigest {
			t.Errorf("another %s, same digest", edit[0])
		}
	}
}

// split: what a campaign may take of what, without opening anything.
func TestSplit(t *testing.T) {
	b, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole := mustLoad(t, "testdata/base.yaml")
	was := "suite: campaign/suites/support"
	if !strings.Contains(string(b), was) {
		t.Fatalf("testdata/base.yaml does not say %s", was)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "plain/suite.json", `{"name":"plain","items":"items.jsonl"}`)
	write(t, dir, "plain/items.jsonl", `{"id":"a"}`+"\n")
	load := func(to string) (*Loaded, error) {
		return loadText(filepath.Join(dir, "base.yaml"), []byte(strings.Replace(string(b), was, "suite: "+to, 1)))
	}
	l, err := load("campaign/suites/support, split: development")
	if err != nil || l.Digest != whole.Digest {
		t.Errorf("split: development is not what leaving it out means: %v", err)
	}
	l, err = load("campaign/suites/support, split: held-out")
	if err != nil {
		t.Fatal(err)
	}
	s := l.Campaign.Measure["support"].Quality.Suite
	if s.Count != 2 || s.Version != "3" || s.Items.Name != "campaign/suites/support/heldout.age" || s.HeldOut == nil || s.HeldOut.Content.Short() != "39a5bc8cabad" {
		t.Errorf("%+v %+v", s, s.HeldOut)
	}
	for to, want := range map[string]string{
		"campaign/suites/support/items.jsonl, split: held-out":    "measure.support.split: campaign/suites/support/items.jsonl is one file and has no parts",
		"campaign/suites/support/items.jsonl, split: development": "is one file and has no parts: split takes the development part of a frozen suite",
		"plain, split: held-out":                                  "measure.support.split: plain has no parts: nothing of it is held out",
		"plain, split: development":                               "measure.support.split: plain has no parts",
		"nowhere, split: held-out":                                "measure.support.suite: nowhere/suite.json: ",
	} {
		if _, err := load(to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", to, err)
		}
	}
	write(t, dir, "campaign/suites/support/heldout.age", "cut")
	if _, err := load("campaign/suites/support, split: held-out"); err == nil || !strings.Contains(err.Error(), "heldout.age has digest") {
		t.Errorf("a changed file: %v", err)
	}
}

// YAML's merge keys and anchors give what they stand for.
func TestYAMLMerge(t *testing.T) {
	root, errs := parseYAML("m.yaml", []byte("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\nd: *a\n"))
	if errs != nil {
		t.Fatal(errs)
	}
	if got := jsonOf(root.get("c"), inOrder); got != `{"x": 0, "y": 2, "z": 4}` {
		t.Errorf("c = %s", got)
	}
	if got := jsonOf(root.get("d"), inOrder); got != `{"x": 1, "y": 2}` {
		t.Errorf("d = %s", got)
	}
}

func TestYAMLTextsStayTexts(t *testing.T) {
	root, errs := parseYAML("t.yaml", []byte("[on, yes, NO, 2026-11-20, 0.11.0, '010', \"1e400\", 1:30, !!str 7, true, ~, -0.5, 1e3]"))
	if errs != nil {
		t.Fatal(errs)
	}
	want := `["on", "yes", "NO", "2026-11-20", "0.11.0", "010", "1e400", "1:30", "7", true, null, -0.5, 1e3]`
	if got := jsonOf(root, inOrder); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Files made to cost time or memory are refused before they do.
func TestHostile(t *testing.T) {
	var bomb, workloads, merges strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	workloads.WriteString("measure:\n")
	for i := range 60_000 {
		fmt.Fprintf(&workloads, " a%d: {}\n", i)
	}
	merges.WriteString("a:\n")
	for range 100_000 {
		merges.WriteString(" <<: {}\n")
	}
	longText := "a: &a " + strings.Repeat("x", 500_000) + "\nb: [" + strings.Repeat("*a, ", 50_000) + "]\n"
	for want, text := range map[string]string{
		"more than 100000 values": bomb.String(), "60000 entries, allowed 256": workloads.String(),
		"bytes of text": longText, `key "<<" is already on line 2`: merges.String(),
		"unknown field":              strings.ReplaceAll(workloads.String(), "measure:", "x:"),
		"1025 entries, allowed 1024": "measure: {a: {kind: ladder, tokens: [" + strings.Repeat("1, ", 1025) + "]}}",
	} {
		if _, err := loadText("h.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.300v", want, err)
		}
	}
}

func TestFileForms(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for name, c := range map[string]struct{ text, want string }{
		"empty.yaml":     {"", "empty.yaml: is empty"},
		"comment.yaml":   {"# nothing\n", "comment.yaml: is empty"},
		"empty.json":     {" \n", "is empty"},
		"bom.yaml":       {"\xef\xbb\xbfa: 1\n", "bom.yaml:1:1: begins with a byte order mark"},
		"latin1.yaml":    {"a: b\nc: caf\xe9\n", "latin1.yaml:2:7: byte 0xe9 is not UTF-8"},
		"large.yaml":     {strings.Repeat("#", 1<<20+1), "1048577 bytes, allowed 1048576"},
		"deep.yaml":      {deep, "nested deeper than 64 levels"},
		"deep.json":      {deep, "too large to be a campaign"},
		"text.toml":      {"a = 1\n", `found the extension ".toml", allowed .yaml`},
		"list.json":      {"[1]", "list.json:1:1: found a list, allowed a map"},
		"twice.json":     {"{\"a\": 1,\n \"a\": 2}", `twice.json:2:2: key "a" is already on line 1`},
		"trailing.json":  {"{} {}", "trailing.json:1:4: something follows the campaign"},
		"number.json":    {`{"a": 1e400}`, "number.json:1:7: number 1e400 is out of range"},
		"syntax.json":    {"{\"a\":\n tru}", "syntax.json:2:5: JSON: "},
		"surrogate.json": {`{"a": "\ud800"}`, "surrogate.json:1:"},
		"conflict.cue":   {"campaign: \"a\"\ncampaign: \"b\"\n", "conflict.cue:1:11: campaign: conflicting values"},
		"open.cue":       {"campaign: string\n", "open.cue:1:1: campaign: found string, allowed a concrete value"},
		"third.cue":      {"x: 1/3\n", "third.cue:1:1: x: number 0.333"},
		"syntax.cue":     {"a: {\n", "syntax.cue:"},
		"network.cue":    {"import \"example.org/m@v0\"\nx: m.y\n", "cannot find"},
		"hidden.cue":     {"_x: 1\n#Y: string\nz: {a: _x}\n", "hidden.cue:3:1: z: unknown field"},
		"secret.cue":     {"// sk-abcdef0123456789\ncampaign: \"a\"\n", "secret.cue:1:4: an API key in plain text"},
	} {
		if _, err := Load(write(t, dir, name, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v\nwant %s", name, err, c.want)
		}
	}
	if _, err := Load(filepath.Join(dir, "gone.yaml")); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("gone.yaml: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder is a campaign")
	}
	os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o777)
	if _, err := Load(filepath.Join(dir, "folder.yaml")); err == nil {
		t.Error("a folder called .yaml is a campaign")
	}
}

// The schema's own refusals, seen through an import, have the user's positions.
func TestImportedSchemaErrors(t *testing.T) {
	dir := campaignDir(t)
	body := strings.Replace(jsonOf(fullTree(t), inOrder), `"quantisation"`, `"quantization"`, 1)
	file := write(t, dir, "bad.cue", "import \"cupel.dev/schemas@v0\"\n\nschemas.#Campaign & "+body)
	_, err := Load(file)
	if err == nil || !strings.Contains(err.Error(), `bad.cue:3:`) || !strings.Contains(err.Error(), `did you mean "quantisation"?`) {
		t.Errorf("error %v", err)
	}
}

// A campaign inside a CUE module of its own may import that module's packages
// and the schema; the module need not require the schema.
func TestOwnModule(t *testing.T) {
	dir := campaignDir(t)
	write(t, dir, "cue.mod/module.cue", "module: \"example.org/own@v0\"\nlanguage: version: \"v0.15.0\"\n")
	write(t, dir, "rules/rules.cue", "package rules\n\nnoWorse: \"lo > -0.02\"\n")
	body := strings.ReplaceAll(jsonOf(fullTree(t), inOrder), `"lo \u003e -0.02"`, "rules.noWorse")
	file := write(t, dir, "c.cue", "import (\n\t\"cupel.dev/schemas@v0\"\n\t\"example.org/own/rules@v0\"\n)\n\nschemas.#Campaign & "+body)
	if l := mustLoad(t, file); l.Digest.String() != fullDigest {
		t.Errorf("digest %s", l.Digest)
	}
}

func TestLoadConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if l, err := Load("testdata/campaign/full.yaml"); err != nil || l.Digest.String() != fullDigest {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
}

func TestErrorsUnwrap(t *testing.T) {
	_, err := Load("testdata/gone.yaml")
	if e, ok := errors.AsType[*Error](err); !ok || e.File != "testdata/gone.yaml" {
		t.Errorf("%T %v", err, err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(b, "testdata/campaign/full.yaml")
	}
}
