package inventory

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

func sample(t testing.TB) *Inventory {
	t.Helper()
	v := &Inventory{
		Repo: "org/model", Revision: strings.Repeat("0a", 20), Checked: CheckedHub, Coverage: CoverAll, LicenseReason: "the model card names none",
		Files: []Entry{
			{Path: "model.safetensors", Size: 3, SHA256: step.Sum([]byte("abc")), GitBlob: strings.Repeat("1b", 20), Storage: LFS},
			{Path: "config.json", Size: 2, SHA256: step.Sum([]byte("{}")), GitBlob: "9e26dfeeb6e641a33dae4961196235bdb965b21b", Storage: Git},
		},
	}
	if err := v.Seal(); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDigest holds the digest against what a shell computes from the same
// definition:
//
//	printf '%s' '{"files":[{"path":"config.json",…},…],"schema":"cupel/files/v1"}' | sha256sum
func TestDigest(t *testing.T) {
	text := `{"files":[` +
		`{"path":"config.json","sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},` +
		`{"path":"model.safetensors","sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":3}` +
		`],"schema":"cupel/files/v1"}`
	v := sample(t)
	if v.Digest != step.Sum([]byte(text)) {
		t.Errorf("digest %s, want that of %s", v.Digest, text)
	}
	w := sample(t)
	w.Repo, w.Revision, w.Checked, w.Files[0].GitBlob, w.Files[0].Storage = "other/name", strings.Repeat("f", 40), Unverified, "", ""
	if err := w.Seal(); err != nil || w.Digest != v.Digest {
		t.Error("where the files came from is part of their digest")
	}
	w.Files[0].Path = "other.json"
	if err := w.Seal(); err != nil || w.Digest == v.Digest {
		t.Error("a name is no part of the digest")
	}
}

// TestHasher: the git ids are those of `git hash-object`.
func TestHasher(t *testing.T) {
	for content, want := range map[string]string{
		"":        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
		"{}":      "9e26dfeeb6e641a33dae4961196235bdb965b21b",
		"hello\n": "ce013625030ba8dba906f756967f9e9ca394464a",
	} {
		h := NewHasher(int64(len(content)))
		if err := h.Copy(t.Context(), strings.NewReader(content)); err != nil || h.GitBlob() != want || h.SHA256() != step.Sum([]byte(content)) {
			t.Errorf("%q: %s, %v", content, h.GitBlob(), err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	v, dir := sample(t), t.TempDir()
	if err := v.Save(dir); err != nil {
		t.Fatal(err)
	}
	w, err := Load(dir)
	if err != nil || !w.Equal(v) {
		t.Fatalf("%+v, %v", w, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestCorrupt changes the text of an inventory in one place.
func TestCorrupt(t *testing.T) {
	whole, err := sample(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new_, want string }{
		"schema":   {"cupel/inventory/v1", "cupel/inventory/v2", "this version reads"},
		"revision": {strings.Repeat("0a", 20), "main", "no commit"},
		"checked":  {`"hub"`, `"by me"`, "checked"},
		"coverage": {`"all"`, `"most"`, "coverage"},
		"path":     {"config.json", "../config.json", "leads out"},
		"order":    {"config.json", "zonfig.json", "not in order"},
		"size":     {`"size": 2`, `"size": 4`, "it says 5 bytes"},
		"content":  {"44136fa3", "54136fa3", "it says digest"},
		"bytes":    {`"bytes": 5`, `"bytes": 6`, "it says 6 bytes"},
		"negative": {`"size": 2`, `"size": -2`, "a size of -2"},
		"unknown":  {`"checked"`, `"mtime": 7, "checked"`, "unknown"},
		"twice":    {`"checked"`, `"repo": "x", "checked"`, "duplicate"},
		"hash":     {"44136fa3", "44136FA3", "lower-case"},
		"end":      {"}\n", "", "not readable"},
		"more":     {"}\n", "}{}", "not readable"},
	} {
		b := bytes.Replace(whole, []byte(c.old), []byte(c.new_), 1)
		if strings.HasPrefix(c.old, "}") {
			b = append(bytes.Clone(bytes.TrimSuffix(whole, []byte(c.old))), c.new_...)
		}
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...string) {
		t.Helper()
		found, err := Verify(t.Context(), dir, sample(t), func(Entry) {})
		if err != nil || len(found) != len(want) {
			t.Fatalf("%v, %v; want %v", found, err, want)
		}
		for i, f := range found {
			if got := f.What + " " + f.Path; got != want[i] {
				t.Errorf("got %s (%s), want %s", got, f.Why, want[i])
			}
		}
	}
	write("config.json", "{}")
	write("model.safetensors", "abc")
	write(PullDir+"/part", "x")
	write(".cache/huggingface/x", "x")
	check()
	write("sub/extra.bin", "x")
	write("config.json", "[]")
	check("changed config.json", "extra sub/extra.bin")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "config.json")); err != nil {
		t.Fatal(err)
	}
	write("model.safetensors", "abcd")
	check("missing config.json", "changed model.safetensors")
	if err := os.Mkdir(filepath.Join(dir, "config.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	blobs := t.TempDir() // as a cache of the hub's own client keeps them
	if err := errors.Join(os.Remove(filepath.Join(dir, "model.safetensors")), os.WriteFile(filepath.Join(blobs, "b"), []byte("abc"), 0o666), os.Symlink(filepath.Join(blobs, "b"), filepath.Join(dir, "model.safetensors"))); err != nil {
		t.Fatal(err)
	}
	check("unreadable config.json")
}

// TestCheckFinished: what a pull leaves behind, at each of its stages.
func TestCheckFinished(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"no pull":                {[]string{"config.json"}, ""},
		"between two files":      {[]string{"config.json", PullDir + "/"}, "unfinished files: 0"},
		"in a file":              {[]string{"config.json", PullDir + "/1-2", PullDir + "/1-2.etag", PullDir + "/lock"}, "unfinished files: 1"},
		"ended":                  {[]string{"config.json", File}, ""},
		"ended, with a lock":     {[]string{"config.json", File, PullDir + "/lock"}, ""},
		"another selection's":    {[]string{"config.json", File, PullDir + "/1-2"}, "finish it with the same `cupel models pull` again, or remove "},
		"something of that name": {[]string{"config.json", PullDir}, PullDir + ": "},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			at := filepath.Join(dir, f)
			err := os.MkdirAll(filepath.Dir(at), 0o777)
			if strings.HasSuffix(f, "/") {
				err = errors.Join(err, os.Mkdir(at, 0o777))
			} else {
				err = errors.Join(err, os.WriteFile(at, nil, 0o666))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := CheckFinished(dir)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, err := sample(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b)
		if err != nil {
			return
		}
		again, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		w, err := Decode(again)
		if err != nil || !w.Equal(v) {
			t.Fatalf("%v: %s", err, again)
		}
	})
}

// FuzzCheckPath: a name that is allowed stays below its folder.
func FuzzCheckPath(f *testing.F) {
	for _, s := range []string{"a/b", "../a", "/a", "a/..", "a//b", ".", "ü", "a\\b", ".git/config"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckPath(s) == nil && (!filepath.IsLocal(s) || filepath.Clean(s) != s) {
			t.Errorf("%q was allowed", s)
		}
	})
}
