package store

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

const plenty = 1 << 30

// keyed is a key of kind, with inputs.
func keyed(t testing.TB, kind string, inputs map[string]step.Digest) (step.Key, []byte) {
	t.Helper()
	p := must[step.Preimage](t)(step.NewPreimage(step.Step{Name: kind, Kind: kind, Revision: 1}, inputs))
	return must[step.Key](t)(p.Key()), must[[]byte](t)(p.Canonical())
}

// decided fills a store with a chain: an endpoint that was looked at three times,
// the measurement that rests on the second look, and a decision.
func decided(t testing.TB, s *Store) Ref {
	t.Helper()
	items := must[step.Digest](t)(s.PutBytes([]byte("items")))
	pin, pinPre := keyed(t, "pin", nil)
	var saw []step.Digest
	for i := range 3 {
		d := must[step.Digest](t)(s.PutBytes(fmt.Appendf(nil, "version %d", i)))
		saw = append(saw, d)
		check(t, s.PutRecord(pin, pinPre, done("pin/a", d, noon.Add(time.Duration(i)*time.Minute))))
	}
	ask, askPre := keyed(t, "generate", map[string]step.Digest{"pin": saw[1], "items": items, "sealed": step.Sum([]byte("secret"))})
	rows := must[step.Digest](t)(s.PutBytes([]byte("rows")))
	check(t, s.PutRecord(ask, askPre, done("measure/a", rows, noon)))
	verdict := must[step.Digest](t)(s.PutBytes([]byte("pass")))
	check(t, s.SetRef("campaigns/x", Ref{Keys: []step.Key{pin, ask}, Objects: []step.Digest{verdict}, Note: "x", Set: noon}))
	return must[Ref](t)(s.Ref("campaigns/x"))
}

func done(name string, out step.Digest, at time.Time) Record {
	return Record{Kind: "k", Name: name, Outcome: Done, Outputs: []Output{{Name: "out", Digest: out}}, Started: at, Finished: at}
}

func exported(t testing.TB, s *Store, sel Selection) ([]byte, Contents) {
	t.Helper()
	var b bytes.Buffer
	c, err := s.Export(&b, sel)
	check(t, err)
	return b.Bytes(), c
}

func TestBundle(t *testing.T) {
	from, to := writable(t), writable(t)
	want := decided(t, from)
	b, c := exported(t, from, Selection{Refs: []string{"campaigns/x"}})
	if again, _ := exported(t, from, Selection{Refs: []string{"campaigns/x"}}); !bytes.Equal(b, again) {
		t.Error("the same selection made another bundle")
	}
	if len(c.Keys) != 2 || len(c.Objects) != 4 || len(c.Left) != 1 {
		t.Errorf("%+v", c)
	}
	for range 2 { // importing twice changes nothing
		in, err := to.Import(bytes.NewReader(b), plenty)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, in.Contents); d != "" || len(in.Kept) != 0 {
			t.Error(d, in.Kept)
		}
	}
	got := must[Ref](t)(to.Ref("campaigns/x"))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	records, _ := to.Records(want.Keys[0])
	if len(records) != 1 || string(must[[]byte](t)(to.Read(records[0].Outputs[0].Digest))) != "version 1" {
		t.Errorf("the look that the measurement rests on did not come along: %+v", records)
	}
}

// What this store measured stays what its steps are served from.
func TestImportKeepsOurs(t *testing.T) {
	from, to := writable(t), writable(t)
	ref := decided(t, from)
	b, _ := exported(t, from, Selection{Refs: []string{"campaigns/x"}})
	ask := ref.Keys[1]
	ours := must[step.Digest](t)(to.PutBytes([]byte("our rows")))
	check(t, to.PutRecord(ask, must[[]byte](t)(from.Preimage(ask)), done("measure/a", ours, noon)))
	verdict := must[step.Digest](t)(to.PutBytes([]byte("fail")))
	check(t, to.SetRef("campaigns/x", Ref{Objects: []step.Digest{verdict}, Set: noon.Add(time.Hour)}))
	in, err := to.Import(bytes.NewReader(b), plenty)
	if err != nil || !cmp.Equal(in.Kept, []string{"campaigns/x"}) {
		t.Fatal(in, err)
	}
	latest, ok, why := to.Latest(ask)
	if !ok || latest.Outputs[0].Digest != ours {
		t.Errorf("%+v %s", latest, why)
	}
	if records, _ := to.Records(ask); len(records) != 3 {
		t.Errorf("%d records, want ours, theirs, ours", len(records))
	}
	if r := must[Ref](t)(to.Ref("campaigns/x")); r.Objects[0] != verdict {
		t.Error("an older decision replaced a newer one")
	}
}

func TestExportRefusesDamage(t *testing.T) {
	for name, spoil := range map[string]func(*Store, Ref){
		"a missing object": func(s *Store, r Ref) { os.Remove(s.objectPath(r.Objects[0])) },
		"a changed object": func(s *Store, r Ref) { flip(t, s.objectPath(r.Objects[0])) },
		"a missing record": func(s *Store, r Ref) { os.RemoveAll(s.recordDir(r.Keys[1])) },
		"a lost preimage":  func(s *Store, r Ref) { os.Remove(s.preimagePath(r.Keys[1])) },
		"a changed ref":    func(s *Store, r Ref) { flip(t, s.refPath(r.Name)) },
		"no such ref":      func(s *Store, r Ref) { os.Remove(s.refPath(r.Name)) },
		"an emptied object": func(s *Store, r Ref) {
			os.Chmod(s.objectPath(r.Objects[0]), 0o644)
			os.Truncate(s.objectPath(r.Objects[0]), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := writable(t)
			spoil(s, decided(t, s))
			if _, err := s.Export(io.Discard, Selection{Refs: []string{"campaigns/x"}}); err == nil {
				t.Error("no error")
			} else {
				t.Log(err)
			}
		})
	}
}

func flip(t testing.TB, path string) {
	t.Helper()
	b := must[[]byte](t)(os.ReadFile(path))
	b[len(b)/2] ^= 1
	check(t, os.Chmod(path, 0o644))
	check(t, os.WriteFile(path, b, 0o644))
}

// file of a bundle that a test changes.
type member struct {
	h tar.Header
	b []byte
}

func unpack(t testing.TB, b []byte) (out []member) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(b))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		check(t, err)
		out = append(out, member{*h, must[[]byte](t)(io.ReadAll(r))})
	}
}

func pack(t testing.TB, files []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		f.h.Size = int64(len(f.b))
		if f.h.Typeflag != tar.TypeReg {
			f.h.Size = 0
		}
		check(t, w.WriteHeader(&f.h))
		if f.h.Size > 0 {
			must[int](t)(w.Write(f.b))
		}
	}
	check(t, w.Close())
	return b.Bytes()
}

func at(files []member, prefix string) *member {
	for i := range files {
		if strings.HasPrefix(files[i].h.Name, prefix) {
			return &files[i]
		}
	}
	return nil
}

func TestImportRefuses(t *testing.T) {
	from := writable(t)
	decided(t, from)
	whole, _ := exported(t, from, Selection{Refs: []string{"campaigns/x"}})
	reseal := func(m *member, change func(map[string]any)) {
		var v map[string]any
		body := must[[]byte](t)(unseal(m.b))
		check(t, json.Unmarshal(body, &v))
		change(v)
		m.b = must[[]byte](t)(seal(v))
	}
	for name, change := range map[string]func([]member) []member{
		"another content":  func(f []member) []member { at(f, "objects/").b = frameOf(t, "other"); return f },
		"no frame":         func(f []member) []member { at(f, "objects/").b = []byte("plain"); return f },
		"a longer content": func(f []member) []member { at(f, "objects/").b = frameOf(t, strings.Repeat("x", 1<<20)); return f },
		"a path out":       func(f []member) []member { at(f, "objects/").h.Name = "../../etc/passwd"; return f },
		"an absolute path": func(f []member) []member { at(f, "refs/").h.Name = "/tmp/x.json"; return f },
		"a link": func(f []member) []member {
			m := at(f, "objects/")
			m.h.Typeflag, m.h.Linkname = tar.TypeSymlink, "/etc/passwd"
			return f
		},
		"a changed preimage": func(f []member) []member { m := at(f, "keys/"); m.b = append(m.b, ' '); return f },
		"a record of another": func(f []member) []member {
			reseal(at(f, "steps/"), func(v map[string]any) { v["key"] = strings.Repeat("0", 64) })
			return f
		},
		"a torn record": func(f []member) []member { m := at(f, "steps/"); m.b = m.b[:len(m.b)/2]; return f },
		"a ref elsewhere": func(f []member) []member {
			reseal(at(f, "refs/"), func(v map[string]any) { v["name"] = "campaigns/y" })
			return f
		},
		"a ref to nothing": func(f []member) []member {
			reseal(at(f, "refs/"), func(v map[string]any) { v["objects"] = []string{strings.Repeat("a", 64)} })
			return f
		},
		"another format": func(f []member) []member { reseal(&f[0], func(v map[string]any) { v["format"] = 2 }); return f },
		"a ref name with dots": func(f []member) []member {
			reseal(&f[0], func(v map[string]any) { v["refs"] = []string{"../x"} })
			return f
		},
		"keys twice": func(f []member) []member {
			reseal(&f[0], func(v map[string]any) { k := v["keys"].([]any); v["keys"] = append(k, k[1]) })
			return f
		},
		"sizes below zero": func(f []member) []member {
			reseal(&f[0], func(v map[string]any) { v["objects"].([]any)[0].(map[string]any)["size"] = -1 })
			return f
		},
		"larger than allowed": func(f []member) []member {
			reseal(&f[0], func(v map[string]any) { v["objects"].([]any)[0].(map[string]any)["size"] = 1 << 40 })
			return f
		},
		"contents not first": func(f []member) []member { f[0], f[1] = f[1], f[0]; return f },
		"without its end":    func(f []member) []member { return f[:len(f)-1] },
		"goes on": func(f []member) []member {
			return append(f, member{tar.Header{Typeflag: tar.TypeReg, Name: "more", Mode: 0o644}, []byte("x")})
		},
		"nothing":           func([]member) []member { return nil },
		"a directory in it": func(f []member) []member { m := at(f, "steps/"); m.h.Typeflag = tar.TypeDir; return f },
		"an output not in it": func(f []member) []member {
			reseal(at(f, "steps/"), func(v map[string]any) { v["outputs"].([]any)[0].(map[string]any)["digest"] = strings.Repeat("b", 64) })
			return f
		},
		"not JSON at the front": func(f []member) []member { f[0].b = []byte("{}"); return f },
	} {
		t.Run(name, func(t *testing.T) {
			to := writable(t)
			_, err := to.Import(bytes.NewReader(pack(t, change(unpack(t, whole)))), plenty)
			if err == nil {
				t.Fatal("it was imported")
			}
			t.Log(err)
			if _, err := to.Ref("campaigns/x"); !errors.Is(err, ErrMissing) {
				t.Error("a ref came along all the same")
			}
			if _, err := to.Check(true, func(p Problem) { t.Errorf("left behind: %+v", p) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func frameOf(t testing.TB, content string) []byte {
	t.Helper()
	s := writable(t)
	d := must[step.Digest](t)(s.PutBytes([]byte(content)))
	return must[[]byte](t)(os.ReadFile(s.objectPath(d)))
}

// Cut anywhere, a bundle is an error and leaves a sound store.
func TestImportCut(t *testing.T) {
	from := writable(t)
	decided(t, from)
	whole, _ := exported(t, from, Selection{Refs: []string{"campaigns/x"}})
	end := bytes.LastIndexFunc(whole, func(r rune) bool { return r != 0 })
	for n := 0; n < end; n += 511 {
		to := writable(t)
		if _, err := to.Import(bytes.NewReader(whole[:n]), plenty); err == nil {
			t.Errorf("%d of %d bytes were taken for a bundle", n, len(whole))
		}
		if _, err := to.Check(true, func(p Problem) { t.Errorf("%d bytes left behind %+v", n, p) }); err != nil {
			t.Error(err)
		}
	}
}

func FuzzImport(f *testing.F) {
	from := writable(f)
	decided(f, from)
	whole, _ := exported(f, from, Selection{Refs: []string{"campaigns/x"}})
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(pack(f, unpack(f, whole)[:1]))
	to := open(f, newDir(f), Options{Mode: ReadWrite, Hooks: Hooks{Sync: func(*os.File) error { return nil }}})
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := to.Import(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		for _, o := range in.Objects {
			check(t, to.Verify(o.Digest))
		}
		for _, k := range in.Keys {
			if _, ok, why := to.Latest(k); !ok {
				t.Error(why)
			}
		}
	})
}

// A measurement that was made again has some outputs in common with the first;
// the record that counts is the one of which most are used.
func TestBundleTakesTheRecordThatIsUsed(t *testing.T) {
	s := writable(t)
	put := func(text string) step.Digest { return must[step.Digest](t)(s.PutBytes([]byte(text))) }
	answers, first, second := put("answers"), put("timings 1"), put("timings 2")
	ask, askPre := keyed(t, "generate", nil)
	for i, timings := range []step.Digest{first, second} {
		r := done("measure/a", answers, noon.Add(time.Duration(i)*time.Minute))
		r.Outputs = append(r.Outputs, Output{Name: "timings", Digest: timings})
		check(t, s.PutRecord(ask, askPre, r))
	}
	record, recordPre := keyed(t, "record", map[string]step.Digest{"answers": answers, "timings": first})
	check(t, s.PutRecord(record, recordPre, done("publish/record", put("record"), noon)))
	for name, sel := range map[string]Selection{
		"with what rests on it": {Keys: []step.Key{ask, record}},
		"without":               {Keys: []step.Key{ask}, Beside: []step.Key{record}},
	} {
		b, _ := exported(t, s, sel)
		to := writable(t)
		if _, err := to.Import(bytes.NewReader(b), plenty); err != nil {
			t.Fatal(name, err)
		}
		r, _, _ := to.Latest(ask)
		if o, _ := r.Output("timings"); o.Digest != first {
			t.Errorf("%s: the other measurement was taken", name)
		}
	}
	together := must[map[step.Key]Record](t)(s.Together([]step.Key{ask, record}))
	if o, _ := together[ask].Output("timings"); o.Digest != first {
		t.Error("the other measurement is taken for the one that is used")
	}
}

func TestImportRefusesTheFuture(t *testing.T) {
	from := writable(t)
	ref := decided(t, from)
	check(t, from.SetRef("campaigns/x", Ref{Keys: ref.Keys, Objects: ref.Objects, Set: noon.Add(time.Hour)}))
	b, _ := exported(t, from, Selection{Refs: []string{"campaigns/x"}})
	if _, err := writable(t).Import(bytes.NewReader(b), plenty); err == nil || !strings.Contains(err.Error(), "has not come yet") {
		t.Error(err)
	}
}
