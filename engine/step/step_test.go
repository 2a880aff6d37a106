package step

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParseDigest(t *testing.T) {
	d := Sum([]byte("abc"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2
	if d.String() != want {
		t.Fatalf("sum of abc is %s", d)
	}
	got, err := ParseDigest(want)
	if err != nil || got != d {
		t.Fatalf("%s, %v", got, err)
	}
	for _, bad := range []string{"", want[:63], want + "0", strings.ToUpper(want), "g" + want[1:], strings.Repeat("é", 32)} {
		if _, err := ParseDigest(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[1.0,1e2,-0.0]}`: `{"a":[1,100,0],"b":1}`,
		`{"é":"\u00e9","A":null}`:    `{"A":null,"é":"é"}`,
		`9007199254740991`:           `9007199254740991`,
		`0.1`:                        `0.1`,
		`1e300`:                      `1e+300`,
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for in, why := range map[string]string{
		`9007199254740993`:                 "not exact",
		`9007199254740992`:                 "beyond 2^53-1",
		`1e20`:                             "beyond 2^53-1",
		`0.1000000000000000055`:            "not exact",
		`[1e400]`:                          "out of range",
		`{"a":1,"a":1}`:                    "duplicate",
		"\"\xff\"":                         "UTF-8",
		`{"a":`:                            "",
		`1 2`:                              "",
		``:                                 "",
		`{"x":{"y":12345678901234567890}}`: "/x/y",
	} {
		if got, err := Canonical([]byte(in)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %s, %v; want an error with %q", in, got, err, why)
		}
	}
}

// The key of a fixed step never changes within a format: a change here strands
// every store. The value was computed with Python's hashlib.
func TestKeyIsStable(t *testing.T) {
	s := Step{Name: "score/x", Kind: "score", Revision: 2, Params: json.RawMessage(`{"tol": 0.5}`)}
	p, err := NewPreimage(s, map[string]Digest{"items": Sum([]byte("abc"))})
	if err != nil {
		t.Fatal(err)
	}
	canon, err := p.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	const pre = `{"inputs":{"items":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},"kind":"score","params":{"tol":0.5},"revision":2,"trial":0}`
	if string(canon) != pre {
		t.Fatalf("preimage %s", canon)
	}
	key, err := p.Key()
	if err != nil || key.String() != "5156b057daf10fc2557b42bb5050ef264c80952f5957feb5ca1cfbdd97749872" {
		t.Errorf("key %s, %v", key, err)
	}
}

// Everything that may change an output changes the key; where and how a step
// runs does not.
func TestWhatIsInTheKey(t *testing.T) {
	base := Step{Name: "measure/a", Kind: "generate", Revision: 1, Params: json.RawMessage(`{}`)}
	in := map[string]Digest{"pin": Sum([]byte("p"))}
	key := func(s Step, in map[string]Digest) Key {
		p, err := NewPreimage(s, in)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := key(base, in)
	same := base
	same.Name, same.Where, same.Resources, same.After, same.Observes, same.Pure, same.Cost, same.Hints = "measure/b", "b", []string{"r"}, []string{"x"}, true, true, Cost{1, 1, true, true}, json.RawMessage(`{"retries":3}`)
	same.Grows = &Growth{Inputs: []string{"pin"}}
	same.Session = "b"
	if key(same, in) != want {
		t.Error("name, place or schedule is in the key")
	}
	for name, edit := range map[string]func(*Step){
		"kind":     func(s *Step) { s.Kind = "cell" },
		"revision": func(s *Step) { s.Revision++ },
		"trial":    func(s *Step) { s.Trial++ },
		"params":   func(s *Step) { s.Params = json.RawMessage(`{"a":null}`) },
	} {
		s := base
		edit(&s)
		if key(s, in) == want {
			t.Errorf("%s is not in the key", name)
		}
	}
	for name, in := range map[string]map[string]Digest{
		"absent": {}, "other name": {"Pin": in["pin"]}, "other content": {"pin": Sum(nil)}, "more": {"pin": in["pin"], "x": Sum(nil)},
	} {
		if key(base, in) == want {
			t.Errorf("inputs %s: same key", name)
		}
	}
}

// A family depends on all that a key does, but for what is named as growing.
// The value was computed with Python's hashlib.
func TestFamily(t *testing.T) {
	grows := Growth{Params: []string{"limit", "samples"}, Inputs: []string{"items"}}
	base := Step{Name: "measure/a", Kind: "generate", Revision: 2, Trial: 1, Params: json.RawMessage(`{"concurrency":2,"samples":1}`)}
	in := func(pin, items string) map[string]Digest {
		return map[string]Digest{"pin": Sum([]byte(pin)), "items": Sum([]byte(items))}
	}
	family := func(s Step, in map[string]Digest) Digest {
		t.Helper()
		p, err := NewPreimage(s, in)
		if err != nil {
			t.Fatal(err)
		}
		was, _ := p.Key()
		f, err := p.Family(grows)
		if err != nil {
			t.Fatal(err)
		}
		if now, _ := p.Key(); now != was {
			t.Error("asking for the family changed the preimage")
		}
		return f
	}
	want := family(base, in("abc", "one"))
	if got := want.String(); got != "09efe4bdea32df2da6a9984cad99207eadbf96400487b95376b3d163f8dad0b5" {
		t.Errorf("family %s", got)
	}
	for name, same := range map[string]func(*Step) map[string]Digest{
		"items": func(*Step) map[string]Digest { return in("abc", "two") },
		"samples": func(s *Step) map[string]Digest {
			s.Params = json.RawMessage(`{"samples":3,"concurrency":2}`)
			return in("abc", "one")
		},
		"limit": func(s *Step) map[string]Digest {
			s.Params = json.RawMessage(`{"limit":1,"concurrency":2}`)
			return in("abc", "one")
		},
		"no items": func(*Step) map[string]Digest { return map[string]Digest{"pin": Sum([]byte("abc"))} },
		"name":     func(s *Step) map[string]Digest { s.Name, s.Where = "measure/b", "b"; return in("abc", "one") },
	} {
		s := base
		if of := same(&s); family(s, of) != want {
			t.Errorf("%s makes another family", name)
		}
	}
	for name, other := range map[string]func(*Step) map[string]Digest{
		"kind":     func(s *Step) map[string]Digest { s.Kind = "cell"; return in("abc", "one") },
		"revision": func(s *Step) map[string]Digest { s.Revision++; return in("abc", "one") },
		"trial":    func(s *Step) map[string]Digest { s.Trial++; return in("abc", "one") },
		"pin":      func(*Step) map[string]Digest { return in("abcd", "one") },
		"param": func(s *Step) map[string]Digest {
			s.Params = json.RawMessage(`{"concurrency":3}`)
			return in("abc", "one")
		},
		"new": func(s *Step) map[string]Digest {
			s.Params = json.RawMessage(`{"concurrency":2,"x":0}`)
			return in("abc", "one")
		},
		"below": func(s *Step) map[string]Digest {
			s.Params = json.RawMessage(`{"concurrency":2,"x":{"limit":1}}`)
			return in("abc", "one")
		},
	} {
		s := base
		if of := other(&s); family(s, of) == want {
			t.Errorf("%s does not make another family", name)
		}
	}
	if _, err := (Preimage{Params: json.RawMessage(`[]`)}).Family(grows); err == nil {
		t.Error("params that are no object have a family")
	}
}

func TestErrors(t *testing.T) {
	if WithHint(nil, "x") != nil {
		t.Error("a hint made an error of nil")
	}
	d := &Drift{Before: "a", After: "b"}
	if !errors.Is(WithHint(d, "look"), ErrOutside) || errors.Is(d, ErrUnreachable) {
		t.Error("a drift is an outside failure, and nothing else")
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1,2.5e-3],"a":"x"}`))
	f.Add([]byte(`1e0020`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Canonical(b)
		if err != nil {
			return
		}
		again, err := Canonical(c)
		if err != nil || string(again) != string(c) {
			t.Fatalf("%q -> %q -> %q, %v", b, c, again, err)
		}
	})
}
