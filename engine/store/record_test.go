package store

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestRecordRoundTrip(t *testing.T) {
	s := writable(t)
	d := must[step.Digest](t)(s.PutBytes([]byte("x")))
	k, pre := preimage(t, 1)
	want := Record{
		Kind: "score", Name: "score/a", Outcome: Refused, Reason: "no \xff reason",
		Outputs: []Output{{Name: "out", Digest: d, Size: 1, MediaType: "text/plain"}},
		Started: noon.In(time.FixedZone("", 3600)), Finished: noon.Add(time.Nanosecond),
		Host: "h", Version: "v", RunID: "r", Observes: true, Notes: []string{"n"},
	}
	check(t, s.PutRecord(k, pre, want))
	want.Format, want.Key, want.N, want.Reason, want.Started = Format, k, 1, "no \ufffd reason", noon
	got, ok, reason := s.Latest(k)
	if diff := cmp.Diff(want, got); !ok || reason != "" || diff != "" {
		t.Errorf("latest: %v, %q\n%s", ok, reason, diff)
	}
	if b := must[[]byte](t)(s.Preimage(k)); !bytes.Equal(b, pre) {
		t.Errorf("preimage %s", b)
	}
	if o, ok := got.Output("out"); !ok || o.Digest != d {
		t.Errorf("output %+v, %v", o, ok)
	}
	if _, ok := got.Output("other"); ok {
		t.Error("found an output that is not there")
	}
}

// A record is never overwritten, and the newest that is whole counts.
func TestRecordsAreAdded(t *testing.T) {
	s := writable(t)
	k, _ := putOne(t, s, 1, "first")
	first := must[[]byte](t)(os.ReadFile(s.recordDir(k) + "/1.json"))
	_, second := putOne(t, s, 1, "second")
	if b := must[[]byte](t)(os.ReadFile(s.recordDir(k) + "/1.json")); !bytes.Equal(b, first) {
		t.Error("record 1 was changed")
	}
	records, notes := s.Records(k)
	if len(records) != 2 || records[0].N != 1 || records[1].N != 2 || len(notes) != 0 {
		t.Fatalf("records %+v, %v", records, notes)
	}
	check(t, os.Remove(s.objectPath(second)))
	r, ok, reason := s.Latest(k)
	if !ok || r.N != 1 || !strings.HasPrefix(reason, ObjectMissing) {
		t.Errorf("latest: %d, %v, %q", r.N, ok, reason)
	}
}

func TestNumbersAreNotReused(t *testing.T) {
	s := writable(t)
	k, pre := preimage(t, 1)
	check(t, os.MkdirAll(s.recordDir(k), 0o755))
	check(t, os.WriteFile(s.recordDir(k)+"/9.json", []byte("torn"), 0o444))
	check(t, s.PutRecord(k, pre, recordOf("score", noon)))
	if r, ok, _ := s.Latest(k); !ok || r.N != 10 {
		t.Errorf("latest: %d, %v", r.N, ok)
	}
	if _, notes := s.Records(k); len(notes) != 1 {
		t.Errorf("notes %v", notes)
	}
}

func TestConcurrentRecordsOfOneKey(t *testing.T) {
	s := writable(t)
	k, pre := preimage(t, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.PutRecord(k, pre, recordOf("score", noon)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	records, notes := s.Records(k)
	if len(records) != 8 || records[7].N != 8 || len(notes) != 0 {
		t.Errorf("%d records, %v", len(records), notes)
	}
	wantSound(t, s)
}

func TestPutRecordRefuses(t *testing.T) {
	s := writable(t)
	d := must[step.Digest](t)(s.PutBytes([]byte("x")))
	k, pre := preimage(t, 1)
	other, _ := preimage(t, 2)
	out := Output{Name: "out", Digest: d, Size: 1}
	for name, c := range map[string]struct {
		key  step.Key
		pre  []byte
		edit func(*Record)
		want string
	}{
		"another key":    {other, pre, func(*Record) {}, "hashes to"},
		"missing object": {k, pre, func(r *Record) { r.Outputs[0].Digest = step.Sum([]byte("y")) }, "not in the store"},
		"outcome":        {k, pre, func(r *Record) { r.Outcome = "failed" }, "outcome"},
		"name twice":     {k, pre, func(r *Record) { r.Outputs = []Output{out, out} }, "used twice"},
		"no name":        {k, pre, func(r *Record) { r.Outputs[0].Name = "" }, "empty"},
		"no digest":      {k, pre, func(r *Record) { r.Outputs[0].Digest = step.Digest{} }, "no digest"},
	} {
		r := recordOf("score", noon, out)
		c.edit(&r)
		if err := s.PutRecord(c.key, c.pre, r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := must[Stats](t)(s.Stats()); st.Keys+st.Records+st.Leftovers != 0 {
		t.Errorf("something was written: %+v", st)
	}
}

// No change of any bit, and no truncation, of a record is believed.
func TestEveryFlippedBitOfARecord(t *testing.T) {
	s := writable(t)
	k, _ := putOne(t, s, 1, "x")
	path := s.recordDir(k) + "/1.json"
	sound := must[[]byte](t)(os.ReadFile(path))
	wantDamaged := func(what string, i int, b []byte) {
		t.Helper()
		overwrite(t, path, b)
		if _, ok, reason := s.Latest(k); ok || !strings.HasPrefix(reason, RecordDamaged) {
			t.Fatalf("%s %d: %v, %q", what, i, ok, reason)
		}
		if records, notes := s.Records(k); len(records) != 0 || len(notes) != 1 {
			t.Fatalf("%s %d: %v, %v", what, i, records, notes)
		}
	}
	for i := range 8 * len(sound) {
		b := bytes.Clone(sound)
		b[i/8] ^= 1 << (i % 8)
		wantDamaged("bit", i, b)
	}
	for n := range sound {
		wantDamaged("length", n, sound[:n])
	}
	wantDamaged("doubled", 0, append(bytes.Clone(sound), sound...))
}

func TestRecordsThatDoNotBelongHere(t *testing.T) {
	s := writable(t)
	k, _ := putOne(t, s, 1, "x")
	good, _, _ := s.Latest(k)
	for name, edit := range map[string]func(*Record){
		"another number":   func(r *Record) { r.N = 2 },
		"another key":      func(r *Record) { r.Key[0] ^= 1 },
		"a later format":   func(r *Record) { r.Format = 2 },
		"unknown outcome":  func(r *Record) { r.Outcome = "maybe" },
		"an output of 0's": func(r *Record) { r.Outputs[0].Digest = step.Digest{} },
	} {
		r := good
		r.Outputs = slices.Clone(good.Outputs)
		edit(&r)
		overwrite(t, s.recordDir(k)+"/1.json", must[[]byte](t)(seal(r)))
		if _, ok, reason := s.Latest(k); ok || !strings.HasPrefix(reason, RecordDamaged) {
			t.Errorf("%s: %v, %q", name, ok, reason)
		}
	}
}

// Later versions may add members within a format.
func TestUnknownMembersAreIgnored(t *testing.T) {
	s := writable(t)
	k, _ := putOne(t, s, 1, "x")
	path := s.recordDir(k) + "/1.json"
	body := must[[]byte](t)(unseal(must[[]byte](t)(os.ReadFile(path))))
	overwrite(t, path, sealBytes(bytes.Replace(body, []byte(`{"format":1,`), []byte(`{"format":1,"new":[{}],`), 1)))
	if _, ok, reason := s.Latest(k); !ok {
		t.Error(reason)
	}
}

func TestLatestReasons(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	if _, ok, reason := s.Latest(k); ok || reason != NoRecord {
		t.Errorf("%v, %q", ok, reason)
	}
	_, d := putOne(t, s, 1, "x")
	overwrite(t, s.objectPath(d), []byte("garbage")) // existence only: found when it is read
	if _, ok, reason := s.Latest(k); !ok {
		t.Errorf("latest reads objects: %q", reason)
	}
	check(t, os.Remove(s.objectPath(d)))
	if _, ok, reason := s.Latest(k); ok || !strings.HasPrefix(reason, ObjectMissing) || !strings.Contains(reason, d.Short()) {
		t.Errorf("%v, %q", ok, reason)
	}
}

func TestPreimageIsVerifiedAndRepaired(t *testing.T) {
	s := writable(t)
	k, _ := putOne(t, s, 1, "x")
	b := must[[]byte](t)(s.Preimage(k))
	overwrite(t, s.preimagePath(k), append(b, ' '))
	var damaged *Damaged
	if _, err := s.Preimage(k); !errors.As(err, &damaged) {
		t.Errorf("error %v", err)
	}
	putOne(t, s, 1, "x")
	must[[]byte](t)(s.Preimage(k))
	other, _ := preimage(t, 2)
	if _, err := s.Preimage(other); !errors.Is(err, ErrMissing) {
		t.Errorf("error %v", err)
	}
}

// The store hashes bytes; the contract hashes a struct. They agree.
func TestKeyOfIsTheContracts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inputs := map[string]step.Digest{}
		for _, n := range rapid.SliceOf(rapid.String()).Draw(rt, "inputs") {
			inputs[n] = step.Sum([]byte(n))
		}
		p, err := step.NewPreimage(step.Step{
			Kind: rapid.String().Draw(rt, "kind"), Revision: rapid.IntRange(0, 1<<40).Draw(rt, "revision"), Trial: rapid.IntRange(0, 9).Draw(rt, "trial"),
		}, inputs)
		if err != nil {
			rt.Fatal(err)
		}
		canon, err := p.Canonical()
		if err != nil {
			rt.Fatal(err)
		}
		if k, err := p.Key(); err != nil || k != step.KeyOf(canon) {
			rt.Fatalf("%s, %v, want %s", k, err, step.KeyOf(canon))
		}
	})
}

func TestKeysByName(t *testing.T) {
	s := writable(t)
	put := func(i int, name string, finished time.Time) step.Key {
		k, pre := preimage(t, i)
		check(t, s.PutRecord(k, pre, recordOf(name, finished)))
		return k
	}
	a := put(1, "score/a", noon)
	b := put(2, "score/a", noon.Add(time.Hour))
	put(3, "score/b", noon)
	put(4, "score/a", noon.Add(-time.Hour))
	put(4, "renamed", noon.Add(-time.Minute)) // the old name still finds it
	c, _ := preimage(t, 4)
	want := []step.Key{b, a, c}
	if got := must[[]step.Key](t)(s.KeysByName("score/a")); !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	d := put(5, "score/a", noon.Add(2*time.Hour)) // seen without another scan
	if got := must[[]step.Key](t)(s.KeysByName("score/a")); !slices.Equal(got, append([]step.Key{d}, want...)) {
		t.Errorf("keys %v after adding %v", got, d)
	}
	if got := must[[]step.Key](t)(s.KeysByName("absent")); len(got) != 0 {
		t.Errorf("keys %v", got)
	}
}

func TestObservations(t *testing.T) {
	s := writable(t)
	pin, other := step.Sum([]byte("pin")), step.Sum([]byte("other"))
	d := must[step.Digest](t)(s.PutBytes([]byte("x")))
	if _, err := s.Observation(pin); !errors.Is(err, ErrMissing) {
		t.Errorf("before: %v", err)
	}
	out := Output{Name: "observed", Digest: d, Size: 1}
	check(t, s.PutObservation(pin, recordOf("pin/a", noon)))
	check(t, s.PutObservation(pin, recordOf("pin/b", noon, out)))
	if r := must[Record](t)(s.Observation(pin)); r.Name != "pin/b" {
		t.Errorf("observation %+v", r)
	}
	check(t, os.Rename(s.observationPath(pin), s.observationPath(other)))
	var damaged *Damaged
	if _, err := s.Observation(other); !errors.As(err, &damaged) {
		t.Errorf("moved: %v", err)
	}
	check(t, s.PutObservation(pin, recordOf("pin/b", noon, out)))
	check(t, os.Remove(s.objectPath(d)))
	if _, err := s.Observation(pin); !errors.Is(err, ErrMissing) {
		t.Errorf("without its object: %v", err)
	}
	if err := s.PutObservation(pin, recordOf("pin/b", noon, out)); !errors.Is(err, ErrMissing) {
		t.Errorf("put without its object: %v", err)
	}
}
