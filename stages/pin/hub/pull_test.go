package hub_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/hub/hubtest"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// lab is a hub, a client that does not wait, and a folder.
type lab struct {
	*hubtest.Hub
	t       *testing.T
	dir     string
	mu      sync.Mutex
	waits   []time.Duration
	notices []string
	events  []hub.Event
}

// large is bigger than what counts as progress.
var large = bytes.Repeat([]byte("weights of a model\n"), 200_000)

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, dir: filepath.Join(t.TempDir(), "m")}
	l.Hub = hubtest.New(
		hubtest.File{Path: "README.md", Content: []byte("# A model\n")},
		hubtest.File{Path: "config.json", Content: []byte(`{"layers": 2}`)},
		hubtest.File{Path: "empty.txt"},
		hubtest.File{Path: "model.safetensors", Content: large, LFS: true},
		hubtest.File{Path: "sub/with space & ü.json", Content: []byte("{}")},
	)
	t.Cleanup(l.Hub.Close)
	return l
}

func (l *lab) hub() *hub.Hub {
	client := fetch.New(fetch.Options{
		Sleep: func(ctx context.Context, d time.Duration) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.waits = append(l.waits, d)
			return ctx.Err()
		},
		Notice: func(s string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.notices = append(l.notices, s)
		},
	})
	return &hub.Hub{Client: client, Endpoint: l.URL}
}

func (l *lab) options() hub.PullOptions {
	return hub.PullOptions{Repo: hubtest.Repo, Revision: hubtest.Commit, To: l.dir, Jobs: 2, OnEvent: func(ev hub.Event) { l.events = append(l.events, ev) }}
}

func (l *lab) pull() (*inventory.Inventory, error) {
	return l.hub().Pull(context.Background(), l.options())
}

// whole wants every file there and right, and nothing else.
func (l *lab) whole(v *inventory.Inventory, err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
	found, err := inventory.Verify(context.Background(), l.dir, v, func(inventory.Entry) {})
	if err != nil || len(found) > 0 {
		l.t.Fatalf("%v, %v", found, err)
	}
	if b, err := os.ReadFile(filepath.Join(l.dir, "model.safetensors")); err != nil || !bytes.Equal(b, large) {
		l.t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := os.Stat(filepath.Join(l.dir, inventory.PullDir)); !errors.Is(err, os.ErrNotExist) {
		l.t.Errorf("the folder of unfinished files is still there: %v", err)
	}
	saved, err := inventory.Load(l.dir)
	if err != nil || !saved.Equal(v) {
		l.t.Errorf("what was saved is not what was returned: %v", err)
	}
	if leaks := l.Leaks(); len(leaks) > 0 {
		l.t.Errorf("credentials went to the other server: %v", leaks)
	}
}

// named lists the files that have their final names.
func (l *lab) named() []string {
	l.t.Helper()
	paths, err := inventory.Walk(l.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.t.Fatal(err)
	}
	return paths
}

func TestPull(t *testing.T) {
	l := newLab(t)
	h := l.hub()
	h.Token = hubtest.Token
	l.PageSize = 2
	v, err := h.Pull(t.Context(), l.options())
	l.whole(v, err)
	if v.License == nil || *v.License != "apache-2.0" || v.Coverage != inventory.CoverAll || v.Checked != inventory.CheckedHub || len(v.Files) != 5 {
		t.Errorf("%+v", v)
	}
	first := v.Digest

	// Again: everything is read, nothing is sent for.
	l.Look()
	v, err = l.pull()
	l.whole(v, err)
	if log := l.Look(); v.Digest != first || slices.ContainsFunc(log, func(s string) bool { return strings.Contains(s, "/resolve/") }) {
		t.Errorf("%v", log)
	}

	// The same files by the other form of the listing.
	l.Fail("no-tree", -1)
	l.dir = filepath.Join(t.TempDir(), "other")
	v, err = l.pull()
	if l.whole(v, err); v.Digest != first {
		t.Error("another digest of the same files")
	}
}

// TestRecovers lists faults after which the files are right all the same.
func TestRecovers(t *testing.T) {
	for fault, n := range map[string]int{
		"cut": 2, "cut-small": 3, "short": 2, "bad-middle": 1, "429": 2, "500": 3, "503": 4, "moved": 1, "no-etag": -1, "new-etag": -1,
	} {
		t.Run(fault, func(t *testing.T) {
			l := newLab(t)
			l.Fail(fault, n)
			v, err := l.pull()
			l.whole(v, err)
			if n > 1 && len(l.waits) == 0 {
				t.Error("nothing was tried again")
			}
			if (fault == "429" || fault == "503") && l.waits[0] != 7*time.Second {
				t.Errorf("waited %v, the server asked for 7 s", l.waits[0])
			}
			if len(l.waits) != len(l.notices) {
				t.Errorf("%d waits, told of %d", len(l.waits), len(l.notices))
			}
		})
	}
}

// TestResumes cuts a file off and meets servers that cannot go on.
func TestResumes(t *testing.T) {
	for _, fault := range []string{"", "ignore-range", "bad-range", "416", "new-etag"} {
		t.Run("then "+fault, func(t *testing.T) {
			l := newLab(t)
			l.Fail("cut", 1)
			if fault != "" {
				l.Fail(fault, 1)
			}
			o := l.options()
			o.Selection.Include = []string{"*.safetensors"}
			v, err := l.hub().Pull(t.Context(), o)
			l.whole(v, err)
			if v.Coverage != inventory.CoverSome {
				t.Error(v.Coverage)
			}
			ranged := slices.ContainsFunc(l.Look(), func(s string) bool {
				return strings.HasSuffix(s, fmt.Sprintf("bytes=%d-", len(large)/2))
			})
			if !ranged {
				t.Error("no part was asked for")
			}
		})
	}
}

// TestContinues goes on with what an earlier pull left, also when that is
// longer than the file, or damaged.
func TestContinues(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"as it was": func(b []byte) []byte { return b },
		"damaged":   func(b []byte) []byte { b[7] ^= 1; return b },
		"too long":  func([]byte) []byte { return append(bytes.Clone(large), 'x') },
		"all there": func([]byte) []byte { return large },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Hold("model.safetensors")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := l.hub().Pull(ctx, l.options())
				ended <- err
			}()
			l.Await("model.safetensors")
			l.awaitPart()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			l.Release("model.safetensors")
			if slices.Contains(l.named(), "model.safetensors") {
				t.Fatal("an unfinished file has its name")
			}
			part := l.part()
			b, err := os.ReadFile(part)
			if err != nil || len(b) == 0 {
				t.Fatalf("nothing was kept: %v", err)
			}
			if err := os.WriteFile(part, change(b), 0o666); err != nil {
				t.Fatal(err)
			}
			v, err := l.pull()
			l.whole(v, err)
		})
	}
}

// TestEnds meets servers that cut every answer off after much more than counts
// as progress and cannot go on: what is got again is no progress.
func TestEnds(t *testing.T) {
	const stuck = " time(s) and got no further; something cuts it off"
	for name, c := range map[string]struct {
		faults []string
		want   []string
	}{
		"whole again": {[]string{"cut"}, []string{"model.safetensors: given up after 6 tries: ", stuck, "another hub as --endpoint"}},
		"other part":  {[]string{"cut-whole", "bad-range"}, []string{"given up after 6 tries: ", stuck}},
		"no part":     {[]string{"cut-whole", "416"}, []string{"given up after 6 tries: ", stuck}},
		"other etag":  {[]string{"cut-whole", "new-etag"}, []string{"given up after 6 tries: ", stuck}},
		"mixture":     {[]string{"bad-middle"}, []string{"model.safetensors: what was sent is not what the hub lists (SHA-256 ", "), also when it was got once more from its beginning; it was thrown away; run again"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for _, f := range c.faults {
				l.Fail(f, -1)
			}
			o := l.options()
			o.Selection.Include = []string{"*.safetensors"}
			_, err := l.hub().Pull(t.Context(), o)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
			sent := 0
			for _, s := range l.Look() {
				if strings.Contains(s, " cdn ") {
					sent++
				}
			}
			if sent > 15 || len(l.named()) > 0 {
				t.Errorf("asked %d times; %v", sent, l.named())
			}
		})
	}
}

// TestGetsFurther: a server that cannot go on, and cuts off ever later, is one
// that gets there.
func TestGetsFurther(t *testing.T) {
	l := newLab(t)
	l.Fail("cut-whole", 1)
	l.Fail("416", 1)
	l.Fail("cut", 2)
	v, err := l.pull()
	l.whole(v, err)
}

func (l *lab) part() string {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(l.dir, inventory.PullDir, "*-????????????????????????????????????????????????????????????????"))
	if err != nil || len(found) != 1 {
		l.t.Fatalf("unfinished files %v, %v", found, err)
	}
	return found[0]
}

// awaitPart returns when the half that was sent is written.
func (l *lab) awaitPart() {
	for {
		if found, _ := filepath.Glob(filepath.Join(l.dir, inventory.PullDir, "*")); len(found) > 0 {
			for _, f := range found {
				if st, err := os.Stat(f); err == nil && st.Size() >= 1000 {
					return
				}
			}
		}
	}
}

// TestRefuses lists faults after which no wrong file has a name, and what is
// said about them.
func TestRefuses(t *testing.T) {
	for fault, want := range map[string]string{
		"other-content": "what was sent is not what the hub lists (git blob ",
		"longer":        "the server sends more than the 10 bytes that the hub lists; run again, and if",
		"endless":       "the server sends more than the ",
		"wrong-length":  "README.md: the server sends 11 bytes, the hub lists 10; run again, and if it stays so something between you and the hub changes files",
		"page-more":     "the listing has more than 10000 pages; nothing was written; check --endpoint",
		"gzip":          "answers with Content-Encoding gzip, where the file as it is was asked for",
		"html":          "answers with a page for browsers, where JSON was asked for; check the address",
		"html-file":     "it is a page for browsers",
		"loop":          "redirects more than 10 times",
		"to-http":       "redirects: http://models.example.com/",
		"commit":        "the hub answers from commit eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee, asked for " + hubtest.Commit,
		"linked-size":   "model.safetensors: the hub has 3800001 bytes, and lists 3800000; the hub contradicts its own listing: run again later, or give another hub",
		"429":           "given up after 6 tries",
		"500":           "given up after 6 tries: ",
		"401":           "org/model does not exist, or is private: ",
		"403":           "access to org/model is refused",
		"gated":         "org/model is gated: its owner wants terms accepted first",
		"no-repo":       "org/model does not exist, or is private",
		"no-revision":   "org/model has no such commit",
		"no-file":       "the hub lists it and does not have it",
		"page-away":     "the next page of the listing is on another server",
		"page-loop":     "go round in a circle; nothing was written",
		"other-sha":     "asked for commit " + hubtest.Commit,
		"cut-small":     "given up after 6 tries",
	} {
		t.Run(fault, func(t *testing.T) {
			l := newLab(t)
			l.Served = []byte("??????????")
			l.Fail(fault, -1)
			o := l.options()
			o.Jobs = 1
			_, err := l.hub().Pull(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Signature") {
				t.Fatalf("got  %v\nwant %s", err, want)
			}
			if _, err := inventory.Load(l.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is an inventory: %v", err)
			}
			for _, name := range l.named() {
				if !slices.Contains([]string{"README.md", "config.json", "empty.txt", "sub/with space & ü.json"}, name) {
					t.Errorf("%s has its name", name)
				}
			}
		})
	}
}

// TestPatience: a server that asks for too much is not waited for.
func TestPatience(t *testing.T) {
	l := newLab(t)
	l.Fail("429", -1)
	if _, err := l.pull(); err == nil || len(l.waits) != 5 {
		t.Errorf("%v after waits of %v", err, l.waits)
	}
}

func TestBadNames(t *testing.T) {
	for name, want := range map[string]string{
		"../evil":                "leads out of the folder",
		"a/../../evil":           "leads out of the folder",
		"/etc/passwd":            "begins with a slash",
		`a\b`:                    "holds a backslash",
		"a\x00b":                 "holds a control character",
		"a\x1b[31mb":             "holds a control character",
		"a\u0085b":               "holds a control character",
		"a\u202eb":               `file name "a\u202eb" holds a character that changes how it is shown`,
		"a\u2066b":               "holds a character that changes how it is shown",
		"a\u200fb":               "holds a character that changes how it is shown",
		"a\u2028b":               "holds a character that changes how it is shown",
		"a//b":                   "has an empty part",
		"./a":                    "has an empty part",
		"cupel-inventory.json":   "is reserved",
		".cupel-pull/x":          "is reserved",
		"x/.GIT/config":          "lies in a .git folder",
		"":                       "a file without a name",
		strings.Repeat("x", 300): "a part of 300 bytes",
		"readme.md":              `"README.md" and "readme.md" are one file where names ignore case`,
		"config.json":            `"config.json" is listed twice`,
		"config.json/x":          `"config.json" is a file, and "config.json/x" lies in a folder of that name`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Files = append(l.Files, hubtest.File{Path: name, Content: []byte("x")})
			if _, err := l.pull(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			if named := l.named(); len(named) > 0 {
				t.Errorf("%v were written", named)
			}
		})
	}
}

// TestFolder meets what may be in the folder already.
func TestFolder(t *testing.T) {
	put := func(t *testing.T, l *lab, name, content string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(l.dir, name)), 0o777), os.WriteFile(filepath.Join(l.dir, name), []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	for name, c := range map[string]struct {
		make func(*testing.T, *lab)
		want string
	}{
		"other content": {func(t *testing.T, l *lab) { put(t, l, "config.json", `{"layers": 3}`) }, "config.json is there with other content (git blob"},
		"other size":    {func(t *testing.T, l *lab) { put(t, l, "config.json", "mine") }, "config.json is there with 4 bytes, the hub lists 13"},
		"link at name": {func(t *testing.T, l *lab) {
			put(t, l, "x", "")
			must(t, os.Symlink(filepath.Join(outside, "f"), filepath.Join(l.dir, "config.json")))
		}, "config.json is there and is no file"},
		"link to folder": {func(t *testing.T, l *lab) {
			put(t, l, "x", "")
			must(t, os.Symlink(outside, filepath.Join(l.dir, "sub")))
		}, "sub is there and is no folder (a link is not followed)"},
		"link for parts": {func(t *testing.T, l *lab) {
			put(t, l, "x", "")
			must(t, os.Symlink(outside, filepath.Join(l.dir, inventory.PullDir)))
		}, inventory.PullDir},
		"corrupt inventory": {func(t *testing.T, l *lab) { put(t, l, inventory.File, "{") }, "not readable"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.make(t, l)
			if _, err := l.pull(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
				t.Errorf("something was written outside: %v %v", entries, err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSelections: one folder, one selection of one commit.
func TestSelections(t *testing.T) {
	l := newLab(t)
	o := l.options()
	o.Selection = hub.Selection{Include: []string{"*.json", "[R]*"}, Exclude: []string{"sub/*"}}
	v, err := l.hub().Pull(t.Context(), o)
	must(t, err)
	if got := l.named(); !slices.Equal(got, []string{"README.md", "config.json"}) || len(v.Files) != 2 {
		t.Errorf("%v", got)
	}
	v, err = l.pull() // more of the same commit
	l.whole(v, err)
	if _, err = l.hub().Pull(t.Context(), o); !errors.Is(err, hub.ErrConflict) || !strings.Contains(err.Error(), "which this selection leaves out") {
		t.Error(err)
	}
	o.Selection.Include = []string{"*.gguf"}
	if _, err = l.hub().Pull(t.Context(), o); !errors.Is(err, hub.ErrUsage) || !strings.Contains(err.Error(), `--include "*.gguf" matches none of the 5 files`) {
		t.Error(err)
	}
	other := *v
	other.Revision = strings.Repeat("a", 40)
	must(t, other.Save(l.dir))
	if _, err = l.pull(); !errors.Is(err, hub.ErrConflict) || !strings.HasSuffix(err.Error(), " holds org/model at "+other.Revision+", asked for "+hubtest.Commit+"; pull another commit into a folder of its own") {
		t.Error(err)
	}
	other = *v
	other.Repo = "org/fork"
	must(t, other.Save(l.dir))
	if _, err = l.pull(); !errors.Is(err, hub.ErrConflict) || !strings.HasSuffix(err.Error(), " holds org/fork at "+hubtest.Commit+", asked for org/model; pull another repository into a folder of its own, also where its commit is the same") {
		t.Error(err)
	}
}

func TestRevision(t *testing.T) {
	l := newLab(t)
	for revision, want := range map[string]string{
		"main":                          "main stands for " + hubtest.Commit + " now",
		hubtest.Commit[:7]:              "give the 40 hexadecimal digits of a commit",
		"":                              "give --revision",
		"../x":                          "a branch, a tag or a short hash",
		strings.ToUpper(hubtest.Commit): "write " + hubtest.Commit,
	} {
		o := l.options()
		o.Revision = revision
		if _, err := l.hub().Pull(t.Context(), o); !errors.Is(err, hub.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", revision, err, want)
		}
	}
	for _, repo := range []string{"", "a/b/c", "../x", "a b", "https://huggingface.co/a/b", "a--b/c", "a/..b", "a/b\n"} {
		o := l.options()
		o.Repo = repo
		if _, err := l.hub().Pull(t.Context(), o); !errors.Is(err, hub.ErrUsage) {
			t.Errorf("%q: %v", repo, err)
		}
	}
}

// TestOldName: a repository from before repositories had owners.
func TestOldName(t *testing.T) {
	l := newLab(t)
	l.Fail("old-name", -1)
	o := l.options()
	o.Repo = "model"
	v, err := l.hub().Pull(t.Context(), o)
	if l.whole(v, err); v.Repo != "model" {
		t.Error(v.Repo)
	}
}

// TestTwo pulls into one folder at once.
func TestTwo(t *testing.T) {
	l := newLab(t)
	l.Hold("model.safetensors")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := l.hub().Pull(ctx, l.options())
		ended <- err
	}()
	l.Await("model.safetensors")
	if _, err := l.hub().Pull(t.Context(), hub.PullOptions{Repo: hubtest.Repo, Revision: hubtest.Commit, To: l.dir}); err == nil || !strings.Contains(err.Error(), "another process works on ") {
		t.Error(err)
	}
	cancel()
	<-ended
}

func TestHugeListing(t *testing.T) {
	l := newLab(t)
	l.Files = nil
	for i := range inventory.MaxFiles + 1 {
		l.Files = append(l.Files, hubtest.File{Path: fmt.Sprint(i)})
	}
	if _, err := l.pull(); err == nil || !strings.Contains(err.Error(), "lists more than 100000 files") {
		t.Error(err)
	}
}

// TestTake lists a folder that was filled otherwise.
func TestTake(t *testing.T) {
	l := newLab(t)
	want, err := l.pull()
	l.whole(want, err)
	must(t, os.Remove(filepath.Join(l.dir, inventory.File)))
	must(t, os.MkdirAll(filepath.Join(l.dir, ".cache", "huggingface"), 0o777))
	must(t, os.WriteFile(filepath.Join(l.dir, ".cache", "huggingface", "x.metadata"), nil, 0o666))
	look := func(string) {}
	v, found, err := l.hub().Take(t.Context(), l.dir, hubtest.Repo, hubtest.Commit, look)
	if err != nil || len(found) > 0 || !v.Equal(want) {
		t.Fatalf("%+v, %v, %v", v, found, err)
	}
	v, err = hub.TakeUnchecked(t.Context(), l.dir, hubtest.Repo, hubtest.Commit, look)
	if err != nil || v.Digest != want.Digest || v.Checked != inventory.Unverified {
		t.Fatalf("%+v, %v", v, err)
	}
	must(t, os.WriteFile(filepath.Join(l.dir, "config.json"), []byte(`{"layers": 9}`), 0o666))
	must(t, os.WriteFile(filepath.Join(l.dir, "notes.txt"), nil, 0o666))
	v, found, err = l.hub().Take(t.Context(), l.dir, hubtest.Repo, hubtest.Commit, look)
	if err != nil || v != nil || len(found) != 2 || found[0].What != "changed" || found[1].What != "extra" {
		t.Fatalf("%+v, %v, %v", v, found, err)
	}
}
