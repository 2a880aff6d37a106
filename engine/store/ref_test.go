package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestRefs(t *testing.T) {
	s := writable(t)
	k, d := putOne(t, s, 1, "x")
	if _, err := s.Ref("a"); !errors.Is(err, ErrMissing) {
		t.Errorf("before: %v", err)
	}
	check(t, s.SetRef("a", Ref{Objects: []step.Digest{d}}))
	check(t, s.SetRef("a", Ref{Keys: []step.Key{k}, Note: "kept", Set: noon}))
	check(t, s.SetRef("a/b.c", Ref{Objects: []step.Digest{d}})) // beside "a", not in its way
	want := Ref{Format: Format, Name: "a", Keys: []step.Key{k}, Note: "kept", Set: noon}
	if diff := cmp.Diff(want, must[Ref](t)(s.Ref("a"))); diff != "" {
		t.Error(diff)
	}
	refs, notes := s.Refs()
	names := make([]string, 0, len(refs))
	for _, r := range refs {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "a/b.c"}) || len(notes) != 0 {
		t.Errorf("refs %v, %v", names, notes)
	}
	check(t, s.RemoveRef("a"))
	if err := s.RemoveRef("a"); !errors.Is(err, ErrMissing) {
		t.Errorf("removed twice: %v", err)
	}
	check(t, os.Rename(s.refPath("a/b.c"), s.refPath("moved")))
	if refs, notes := s.Refs(); len(refs) != 0 || len(notes) != 1 {
		t.Errorf("a moved ref: %v, %v", refs, notes)
	}
}

func TestRefsNameWhatIsThere(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	for _, r := range []Ref{{Keys: []step.Key{k}}, {Objects: []step.Digest{step.Sum(nil)}}} {
		if err := s.SetRef("a", r); !errors.Is(err, ErrMissing) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// What could not be read back is not written.
func TestRefsAreBounded(t *testing.T) {
	s := writable(t)
	if err := s.SetRef("a", Ref{Note: strings.Repeat("x", maxSmall)}); err == nil || !strings.Contains(err.Error(), "more than a reader accepts") {
		t.Errorf("error %v", err)
	}
}

func TestRefNames(t *testing.T) {
	for _, name := range []string{"a", "campaigns/quick-start/v1.2_b", "A/0", strings.Repeat("a", 200)} {
		if err := checkRefName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "a/..", "../a", "/a", "a/", "a//b", ".hidden", "a/.tmp-x", "a b", "a\\b", "a\x00", "ä", "a.json", "a.json/b",
		strings.Repeat("a", 201), strings.Repeat("a/", 300) + "a",
	} {
		if err := checkRefName(name); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

// No name that is accepted leads outside refs/.
func TestRefNamesStayInside(t *testing.T) {
	s := writable(t)
	elem := rapid.SampledFrom([]string{"..", ".", "", "a", "b.c", "~", "a.json", "%2e", "-"})
	rapid.Check(t, func(rt *rapid.T) {
		name := strings.Join(rapid.SliceOf(elem).Draw(rt, "elements"), "/")
		if checkRefName(name) != nil {
			return // refused
		}
		rel, err := filepath.Rel(s.path("refs"), s.refPath(name))
		if err != nil || filepath.ToSlash(rel) != name+refSuffix || !filepath.IsLocal(rel) {
			rt.Fatalf("%q leads to %q, %v", name, rel, err)
		}
	})
}
