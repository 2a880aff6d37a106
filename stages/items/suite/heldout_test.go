package suite

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// forged rewrites files of a frozen suite together with every digest that stands
// for them, as somebody may who wants to be believed.
func forged(t *testing.T, d tmp, dir string, edit func(m *Manifest, write func(name, text string) step.Digest)) {
	t.Helper()
	m := *d.open(dir).Manifest
	sp := *m.Split
	m.Split = &sp
	edit(&m, func(name, text string) step.Digest {
		d.write(dir+"/"+name, text)
		return step.Sum([]byte(text))
	})
	var err error
	if m.Digest, err = m.contentDigest(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d.write(dir+"/"+ManifestFile, string(b))
}

// An index whose digests are right and that says something else of the items is
// found when they are read, and nothing of them is quoted.
func TestIndexDisagrees(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(40))
	d.split("items.jsonl", "parts", id, nil)
	for name, edit := range map[string]func(lines []string) []string{
		"an item is missing":  func(l []string) []string { return l[1:] },
		"the last is missing": func(l []string) []string { return l[:len(l)-1] },
		"one too many":        func(l []string) []string { return append(l, `{"id":"new"}`+"\n") },
		"another label":       func(l []string) []string { l[2] = strings.Replace(l[2], `"task":"`, `"task":"x`, 1); return l },
		"another order":       func(l []string) []string { l[0], l[1] = l[1], l[0]; return l },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(d.path("v1")); err != nil {
				t.Fatal(err)
			}
			d.mustFreeze("parts", "v1", options)
			forged(t, d, "v1", func(m *Manifest, write func(string, string) step.Digest) {
				lines := strings.SplitAfter(strings.TrimSuffix(d.read("v1/"+IndexFile), "\n"), "\n")
				lines[len(lines)-1] += "\n"
				m.Split.HeldOut.IndexSum = write(IndexFile, strings.Join(edit(lines), ""))
			})
			err := d.open("v1").HeldOut(key(id), 1, func(items.Item) error { return nil })
			if !errors.Is(err, ErrTampered) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
}

// A cut or changed cipher text whose digest was written anew fails while it is
// read, as does one that decrypts to what is no item; no text is quoted.
func TestBrokenCipherText(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(40))
	d.split("items.jsonl", "parts", id, nil)
	d.mustFreeze("parts", "v1", options)
	whole := d.read("v1/" + SealedFile)
	var plain strings.Builder
	w, err := seal(&plain, []string{id.Recipient().String()})
	if err == nil {
		_, err = w.Write([]byte(`{"id":"a","input":"secret"` + "\n"))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cut in the text":   whole[:len(whole)-10],
		"cut in the header": whole[:50],
		"empty":             "",
		"a byte":            whole[:len(whole)-5] + string(whole[len(whole)-5]^1) + whole[len(whole)-4:],
		"not an item":       plain.String(),
	} {
		forged(t, d, "v1", func(m *Manifest, write func(string, string) step.Digest) {
			m.Split.HeldOut.Encrypted = write(SealedFile, text)
		})
		read := 0
		err := d.open("v1").HeldOut(key(id), 1, func(items.Item) error { read++; return nil })
		if err == nil || strings.Contains(err.Error(), "secret") || read == 40 {
			t.Errorf("%s: %v, %d read", name, err, read)
		}
	}
}

// What is taken from the log or changed in it is noticed: in the middle by the
// log itself, at its end by who kept a mark.
func TestAccessLogChain(t *testing.T) {
	dir := t.TempDir()
	set := &Set{dir: dir}
	name := dir + "/" + AccessFile
	read := func() Log {
		t.Helper()
		log, err := set.AccessLog()
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	// A log of an earlier version has no chain; it begins with the next line.
	old := `{"time":"t","as":"a","command":"c","items":1}` + "\n"
	if err := os.WriteFile(name, []byte(old+old), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := appendAccess(dir, Access{Time: "t", Command: "c", Items: i}); err != nil {
			t.Fatal(err)
		}
	}
	log := read()
	mark := log.Mark()
	if d := log.Doubts(mark); len(d) != 0 || mark.Lines != 6 || len(log.Openings) != 6 {
		t.Fatalf("%v %+v", d, mark)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
	for what, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"one removed":   {[]string{lines[0], lines[1], lines[2], lines[4], lines[5]}, "line 4 does not follow"},
		"one changed":   {[]string{lines[0], lines[1], lines[2], strings.Replace(lines[3], "1", "7", 1), lines[4], lines[5]}, "line 5 does not follow"},
		"one put in":    {[]string{lines[0], lines[1], lines[2], old, lines[3], lines[4], lines[5]}, "line 4 does not follow"},
		"the last one":  {lines[:5], "held 6 opening(s) when they were last counted here, and holds 5"},
		"all":           {nil, "and holds 0"},
		"begun anew":    {[]string{lines[0], old, old, old, old, old}, "line 6 is not the one"},
		"a broken line": {append(append([]string{}, lines...), "{\n"), "1 line(s) cannot be read"},
	} {
		if err := os.WriteFile(name, []byte(strings.Join(tt.lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		log := read()
		if got := strings.Join(log.Doubts(mark), "; "); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// A log of any bytes is read line by line, and fits its own mark.
func FuzzAccessLog(f *testing.F) {
	f.Add([]byte(`{"time":"t","as":"a","command":"c","items":1}` + "\n" + `{"time":"t","as":"a","command":"c","why":"w","items":1,"prev":"` + strings.Repeat("0", 64) + `"}`))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		log := parseLog(b)
		mark := log.Mark()
		if len(log.Openings)+log.Unreadable != mark.Lines || len(log.Broken) > mark.Lines {
			t.Fatalf("%d openings and %d others of %d lines", len(log.Openings), log.Unreadable, mark.Lines)
		}
		if len(log.Doubts(mark)) != len(log.Doubts(Mark{})) {
			t.Fatal("the log doubts its own mark")
		}
	})
}

func TestLastLine(t *testing.T) {
	name := t.TempDir() + "/log"
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "bc", strings.Repeat("x", 4095), strings.Repeat("y", 4096), strings.Repeat("z", 9000)}), 0, 4).Draw(t, "lines")
		torn := rapid.Bool().Draw(t, "torn")
		text := strings.Join(lines, "\n")
		if !torn && len(lines) > 0 {
			text += "\n"
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, isTorn, err := lastLine(f)
		if err != nil {
			t.Fatal(err)
		}
		want, wantTorn := []byte(nil), false
		if text != "" {
			wantTorn = !strings.HasSuffix(text, "\n")
			whole := strings.TrimSuffix(text, "\n")
			want = []byte(whole[strings.LastIndex(whole, "\n")+1:])
		}
		if string(got) != string(want) || isTorn != wantTorn || (got == nil) != (want == nil) {
			t.Fatalf("%d bytes: %q, torn %v; want %q, %v", len(text), got, isTorn, want, wantTorn)
		}
	})
}

// A version whose content and digests were all written anew is found by its
// refresh, and by its parent.
func TestChain(t *testing.T) {
	d, id := newTmp(t), identity(t)
	d.write("items.jsonl", numbered(40))
	d.split("items.jsonl", "parts", id, nil)
	d.mustFreeze("parts", "v1", options)
	d.write("more.jsonl", numbered(41))
	d.split("more.jsonl", "parts2", id, d.open("v1"))
	next := options
	next.Version, next.Parent = "2", d.open("v1")
	d.mustFreeze("parts2", "v2", next)
	for _, v := range []string{"v1", "v2"} {
		if err := d.open(v).Chain(); err != nil {
			t.Error(v, err)
		}
	}
	forged(t, d, "v1", func(m *Manifest, write func(string, string) step.Digest) {
		m.SHA256 = write(ItemsFile, strings.Replace(d.read("v1/"+ItemsFile), "secret", "SECRET", 1))
		m.Split.Development.SHA256 = m.SHA256
	})
	for _, v := range []string{"v1", "v2"} {
		if err := d.open(v).Chain(); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "version 2 records of its parent, version 1") {
			t.Error(v, err)
		}
	}
	if err := d.open("items.jsonl").Chain(); err != nil {
		t.Error(err)
	}
}

// A campaign's prompts are texts; of its other strings only long ones are.
func TestAddCampaign(t *testing.T) {
	l := NewLeaks()
	for id, text := range map[string]string{"short": "Hello there", "long": "which of the two bridges carries the tram", "few": "Two and two?"} {
		l.Add(&items.Item{ID: id, Input: items.Input{{Role: "user", Content: text}}})
	}
	for doc, want := range map[string]string{
		`{"owner":"hello there"}`:                                               "",
		`{"q8":{"systemPrompt":"Be brief.\nHello there!"}}`:                     "short",
		`{"question":"Which of the two bridges carries the tram, and when?"}`:   "long",
		`{"load":{"prompt":{"template":"two and two"}}}`:                        "few",
		`{"bench":{"prompts":["x","TWO AND TWO"]}}`:                             "few",
		`{"load":{"kind":"two and two","title":"two", "messages":["none"]}}`:    "",
		`{"q8":{"examples":[{"role":"user","content":"say it: hello there"}]}}`: "",
	} {
		texts := NewTexts()
		if err := texts.AddCampaign([]byte(doc), "measure"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, leak := range l.In(texts) {
			got = append(got, leak.ID)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %v, want %q", doc, got, want)
		}
	}
	if NewTexts().AddCampaign([]byte("{"), "x") == nil {
		t.Error("what is not JSON has no texts")
	}
}
