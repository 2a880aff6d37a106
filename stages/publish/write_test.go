package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// findingOf is the fixture as it comes out of a run; edit changes the record
// before the decision is bound to it.
func findingOf(t testing.TB, edit func(*evidence.Record)) Finding {
	t.Helper()
	rec, _ := fixture(t)
	if edit != nil {
		edit(rec)
	}
	dec := decisionOf(t, rec)
	readme, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	blobs := map[step.Digest][]byte{}
	for _, name := range []string{"awq", "fp8", "int4"} {
		for _, out := range []string{evidence.OutResponses, evidence.OutTimings} {
			rows := rowsOf(name, out)
			blobs[step.Sum(rows)] = rows
		}
	}
	return Finding{Record: encode(t, rec), Decision: encode(t, dec), Readme: readme, Report: report, Spec: canonicalSpec, Open: opener(blobs)}
}

func opener(blobs map[step.Digest][]byte) func(step.Digest) (io.ReadCloser, error) {
	return func(d step.Digest) (io.ReadCloser, error) {
		b, ok := blobs[d]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
}

func write(t *testing.T, root string, f Finding) string {
	t.Helper()
	dir, err := Write(root, f)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree lists the files under root with their content.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readIndex(t *testing.T, root string) findingsIndex {
	t.Helper()
	var idx findingsIndex
	if !readDocument(filepath.Join(root, "index.json"), &idx) {
		t.Fatal("index.json cannot be read")
	}
	return idx
}

func dirsOf(idx findingsIndex) []string {
	var out []string
	for _, e := range idx.Findings {
		out = append(out, e.Dir)
	}
	return out
}

// verifySums recomputes every line of SHA256SUMS and that no file is left out.
func verifySums(t *testing.T, dir string) {
	t.Helper()
	files := tree(t, dir)
	lines := strings.Split(strings.TrimSuffix(files[fileSums], "\n"), "\n")
	if !slices.IsSortedFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) }) {
		t.Error("SHA256SUMS is not sorted")
	}
	for _, line := range lines {
		sum, name, ok := strings.Cut(line, "  ")
		content, there := files[name]
		if !ok || !there || sum != fmt.Sprintf("%x", sha256.Sum256([]byte(content))) {
			t.Errorf("SHA256SUMS: %q", line)
		}
		delete(files, name)
	}
	delete(files, fileSums)
	if len(files) > 0 {
		t.Errorf("SHA256SUMS lacks %d files", len(files))
	}
}

func TestWrite(t *testing.T) {
	root, f := filepath.Join(t.TempDir(), "new", "findings"), findingOf(t, nil)
	dir := write(t, root, f)
	if want := filepath.Join(root, "2026-11-28-support-fp8"); dir != want {
		t.Fatalf("%s, want %s", dir, want)
	}
	verifySums(t, dir)
	files := tree(t, dir)
	for name, want := range map[string][]byte{fileRecord: f.Record, fileDecision: f.Decision, fileReadme: f.Readme, fileReport: f.Report, fileSpec: f.Spec} {
		if files[name] != string(want) {
			t.Errorf("%s differs", name)
		}
	}
	name := "evidence/measure-fp8-support-generate.responses.jsonl.zst"
	d, _ := zstd.NewReader(strings.NewReader(files[name]))
	defer d.Close()
	if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, rowsOf("fp8", evidence.OutResponses)) {
		t.Errorf("%s: %v, %d bytes", name, err, len(got))
	}
	idx := readIndex(t, root)
	want := indexEntry{Dir: "2026-11-28-support-fp8", Date: "2026-11-28", Campaign: "support-fp8", SpecHash: specHash,
		Evidence: step.Sum(f.Record), Verdict: evidence.Fail,
		Candidates: map[string]string{"awq": "no-promotion", "fp8": "challenger", "int4": "rejected", "nvfp4": "rejected"}}
	if diff := cmp.Diff(want, idx.Findings[0], cmp.AllowUnexported(indexEntry{})); diff != "" || idx.Schema != FindingsSchema {
		t.Error(diff)
	}
}

func TestWriteAgainChangesNothing(t *testing.T) {
	root, f := t.TempDir(), findingOf(t, nil)
	dir := write(t, root, f)
	before := tree(t, root)
	f.Readme = []byte("another rendering of the same record")
	if again := write(t, root, f); again != dir {
		t.Errorf("%s, want %s", again, dir)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestSuffix(t *testing.T) {
	root := t.TempDir()
	version := func(owner string) Finding { return findingOf(t, func(r *evidence.Record) { r.Owner = owner }) }
	for i, owner := range []string{"a", "b", "c", "b"} {
		want := []string{"2026-11-28-support-fp8", "2026-11-28-support-fp8-2", "2026-11-28-support-fp8-3", "2026-11-28-support-fp8-2"}[i]
		if got := filepath.Base(write(t, root, version(owner))); got != want {
			t.Errorf("owner %s: %s, want %s", owner, got, want)
		}
	}
	older := findingOf(t, func(r *evidence.Record) { r.Date = "2026-10-01" })
	undated := findingOf(t, func(r *evidence.Record) { r.Date = "" })
	write(t, root, undated)
	write(t, root, older)
	want := []string{"2026-11-28-support-fp8-3", "2026-11-28-support-fp8-2", "2026-11-28-support-fp8", "2026-10-01-support-fp8", "undated-support-fp8"}
	if diff := cmp.Diff(want, dirsOf(readIndex(t, root))); diff != "" {
		t.Error(diff)
	}
	page := tree(t, root)["README.md"]
	if strings.Count(page, "\n| ") != 1+len(want) || !strings.Contains(page, "| undated | [undated-support-fp8](undated-support-fp8/README.md) |") {
		t.Error(page)
	}
}

func TestIndexIsMadeFromTheFolders(t *testing.T) {
	root := t.TempDir()
	own := "# Our findings\n\nRead them.\n"
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	first := write(t, root, findingOf(t, func(r *evidence.Record) { r.Date = "2026-01-02" }))
	if err := os.MkdirAll(filepath.Join(root, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.json", "README.md"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(own), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	second := write(t, root, findingOf(t, nil))
	if got := dirsOf(readIndex(t, root)); !slices.Equal(got, []string{filepath.Base(second)}) {
		t.Errorf("%v", got)
	}
	page := tree(t, root)["README.md"]
	if !strings.HasPrefix(page, own) || strings.Count(page, indexBegin) != 1 || strings.Contains(page, filepath.Base(first)) {
		t.Error(page)
	}
	write(t, root, findingOf(t, func(r *evidence.Record) { r.Owner = "b" }))
	if page := tree(t, root)["README.md"]; !strings.HasPrefix(page, own) || strings.Count(page, indexBegin) != 1 {
		t.Error(page)
	}
}

func TestRefusedFindings(t *testing.T) {
	good := findingOf(t, nil)
	for name, tt := range map[string]struct {
		edit func(*Finding)
		want string
	}{
		"no record":    {func(f *Finding) { f.Record = nil }, "record.json"},
		"other record": {func(f *Finding) { f.Record = append(slices.Clone(f.Record), ' ') }, "rests on evidence"},
		"other spec":   {func(f *Finding) { f.Spec = []byte("{}") }, "not of one campaign"},
		"raw rows damaged": {func(f *Finding) {
			f.Open = func(step.Digest) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }
		}, "does not have the digest"},
		"raw rows missing": {func(f *Finding) { f.Open = opener(nil) }, "responses.jsonl of measure/awq"},
		"path":             {func(f *Finding) { *f = findingOf(t, func(r *evidence.Record) { r.Campaign = "../x" }) }, "cannot be part of a folder's name"},
		"date":             {func(f *Finding) { *f = findingOf(t, func(r *evidence.Record) { r.Date = "../../x" }) }, "want YYYY-MM-DD"},
		"schema":           {func(f *Finding) { *f = findingOf(t, func(r *evidence.Record) { r.Schema = "v9" }) }, "schema"},
	} {
		root, f := t.TempDir(), good
		tt.edit(&f)
		_, err := Write(root, f)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left := tree(t, root); len(left) > 0 {
			t.Errorf("%s: %d files stay behind", name, len(left))
		}
	}
}

func TestRootThatCannotBeMade(t *testing.T) {
	blocker := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocker, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(blocker, "findings")
	_, err := Write(root, findingOf(t, nil))
	if err == nil || !strings.Contains(err.Error(), root) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestLargeRowsAreLeftOut(t *testing.T) {
	f := findingOf(t, nil)
	large := step.Sum(rowsOf("fp8", evidence.OutTimings))
	open := f.Open
	f.Open = func(d step.Digest) (io.ReadCloser, error) {
		if d == large {
			return io.NopCloser(io.LimitReader(zeros{}, maxRows+1)), nil
		}
		return open(d)
	}
	dir := write(t, t.TempDir(), f)
	verifySums(t, dir)
	var entries []rowsEntry
	if !readDocument(filepath.Join(dir, "evidence", "index.json"), &entries) || len(entries) != 6 {
		t.Fatalf("%d entries", len(entries))
	}
	for _, e := range entries {
		_, err := os.Stat(filepath.Join(dir, "evidence", e.File))
		if left := e.Digest == large; left != (e.LeftOut == "larger than 64 MiB") || left != (e.File == "") || err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Step names whose slashes become dashes may meet.
func TestRowsNamesDoNotMeet(t *testing.T) {
	a, b := []byte("a\n"), []byte("b\n")
	f := findingOf(t, func(r *evidence.Record) {
		r.Evidence = []evidence.EvidenceFile{
			{Step: "measure/x-y/z/generate", Output: evidence.OutResponses, Digest: step.Sum(a)},
			{Step: "measure/x/y-z/generate", Output: evidence.OutResponses, Digest: step.Sum(b)},
			{Step: "measure/x/y/z-generate", Output: evidence.OutResponses, Digest: step.Sum(a)},
		}
	})
	f.Open = opener(map[step.Digest][]byte{step.Sum(a): a, step.Sum(b): b})
	dir := write(t, t.TempDir(), f)
	verifySums(t, dir)
	var entries []rowsEntry
	readDocument(filepath.Join(dir, "evidence", "index.json"), &entries)
	if entries[0].File == entries[1].File || entries[0].File != entries[2].File {
		t.Errorf("%+v", entries)
	}
}

// fullDisk fails the n-th file or everything after a number of bytes.
type fullDisk struct {
	files, bytes int
	atClose      bool
}

type limitedFile struct {
	file
	disk *fullDisk
}

func (d *fullDisk) create(path string) (file, error) {
	if d.files--; d.files == 0 && !d.atClose {
		return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ENOSPC}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // as createFile, without waiting for the disk
	return limitedFile{f, d}, err
}

func (f limitedFile) Write(p []byte) (int, error) {
	if f.disk.bytes -= len(p); f.disk.bytes < 0 {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return f.file.Write(p)
}

func (f limitedFile) Close() error {
	err := f.file.Close()
	if f.disk.atClose && f.disk.files == 0 {
		return &os.PathError{Op: "sync", Path: "x", Err: syscall.EIO}
	}
	return err
}

// Whatever fails, there is no folder and nothing else; with room again the
// same Write succeeds.
func TestFullDisk(t *testing.T) {
	f, root := findingOf(t, nil), t.TempDir()
	const files = 13 // 5 documents, 6 raw outputs, their index, the checksums
	var disks []*fullDisk
	for n := 1; n <= files; n++ {
		disks = append(disks, &fullDisk{files: n, bytes: 1 << 30}, &fullDisk{files: n, bytes: 1 << 30, atClose: true})
	}
	for _, b := range []int{0, 100, len(f.Record), len(f.Record) + len(f.Report)} {
		disks = append(disks, &fullDisk{bytes: b})
	}
	for i, d := range disks {
		w := writer{root: root, create: d.create, at: func(string) {}}
		_, err := w.write(f)
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
			t.Errorf("disk %d: %v", i, err)
		}
		if err != nil && (strings.Contains(err.Error(), tempPrefix) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("disk %d: %q", i, err)
		}
		if entries, _ := os.ReadDir(root); len(entries) > 0 {
			t.Fatalf("disk %d: %v stays behind", i, entries)
		}
	}
	verifySums(t, write(t, root, f))
}

// A disk that is full for the index alone leaves a finding that the next Write
// lists.
func TestIndexIsMended(t *testing.T) {
	f, root := findingOf(t, nil), t.TempDir()
	w := writer{root: root, create: (&fullDisk{files: 15, bytes: 1 << 30}).create, at: func(string) {}}
	dir, err := w.write(f)
	if !errors.Is(err, syscall.ENOSPC) || dir == "" {
		t.Fatalf("%s, %v", dir, err)
	}
	verifySums(t, dir)
	if again := write(t, root, f); again != dir || !slices.Equal(dirsOf(readIndex(t, root)), []string{filepath.Base(dir)}) {
		t.Errorf("%s, want %s", again, dir)
	}
}

const crashAt = "CUPEL_TEST_CRASH_AT"

// TestCrashes kills a process at each point of a Write. What is visible then
// is complete, and the next Write leaves the same files as one without crash.
func TestCrashes(t *testing.T) {
	if point := os.Getenv(crashAt); point != "" {
		w := writer{root: os.Getenv(crashAt + "_ROOT"), create: createFile, at: func(p string) {
			if p == point {
				os.Exit(77)
			}
		}}
		_, err := w.write(findingOf(t, nil))
		t.Fatalf("it was not killed: %v", err)
	}
	f, clean := findingOf(t, nil), t.TempDir()
	write(t, clean, f)
	for _, point := range []string{"filled", "placed", "new index.json", "new README.md"} {
		root := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashes$")
		cmd.Env = append(os.Environ(), crashAt+"="+point, crashAt+"_ROOT="+root)
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 77 {
			t.Fatalf("%s: %v: %s", point, err, out)
		}
		entries, _ := os.ReadDir(root)
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				verifySums(t, filepath.Join(root, e.Name()))
			}
		}
		write(t, root, f)
		if diff := cmp.Diff(tree(t, clean), tree(t, root)); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
}

func TestWritersAtOnce(t *testing.T) {
	root := t.TempDir()
	const writers = 6
	var findings []Finding
	for i := range writers { // three different findings, each twice
		findings = append(findings, findingOf(t, func(r *evidence.Record) { r.Owner = fmt.Sprint(i / 2) }))
	}
	dirs, errs := make([]string, writers), make([]error, writers)
	var wg sync.WaitGroup
	for i, f := range findings {
		wg.Go(func() { dirs[i], errs[i] = Write(root, f) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < writers; i += 2 {
		if dirs[i] != dirs[i+1] {
			t.Errorf("one finding in two folders: %s, %s", dirs[i], dirs[i+1])
		}
		verifySums(t, dirs[i])
	}
	slices.Sort(dirs)
	if n := len(slices.Compact(dirs)); n != 3 || len(readIndex(t, root).Findings) != 3 {
		t.Errorf("%d folders, %d in the index, want 3", n, len(readIndex(t, root).Findings))
	}
}

// Where folders cannot be locked, a name that is taken between the look and
// the rename is not taken over.
func TestRenameNeverReplaces(t *testing.T) {
	f, root := findingOf(t, nil), t.TempDir()
	taken := filepath.Join(root, "2026-11-28-support-fp8")
	w := writer{root: root, create: createFile, at: func(p string) {
		if p == "filled" {
			if err := errors.Join(os.Mkdir(taken, 0o755), os.WriteFile(filepath.Join(taken, "x"), []byte("x"), 0o644)); err != nil {
				t.Error(err)
			}
		}
	}}
	dir, err := w.write(f)
	if err != nil || dir != taken+"-2" {
		t.Errorf("%s, %v", dir, err)
	}
	if got := tree(t, taken); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestCredentials(t *testing.T) {
	value := strings.Repeat("a1B2", 8)
	for name, text := range map[string]string{
		"key": "use sk-" + value, "escaped": `{"text":"it is\nsk-` + value + `"}`, "bearer": "Authorization: Bearer " + value,
		"aws": "AKIA" + "ABCDEFGHIJKLMNOP", "pem": "-----BEGIN " + "RSA PRIVATE KEY-----", "url": "https://me:" + value + "@127.0.0.1/v1",
		"hub": "hf_" + value,
	} {
		if credentialIn([]byte(text)) == "" {
			t.Errorf("%s: %q passes", name, text)
		}
		fields := []string{"record.json"}
		if name == "key" {
			fields = append(fields, "README.md", "spec.json")
		}
		for _, field := range fields {
			f := findingOf(t, func(r *evidence.Record) {
				if field == "record.json" {
					r.Owner = text
				}
			})
			if field == "README.md" {
				f.Readme = []byte(text)
			}
			if field == "spec.json" {
				f.Spec = []byte(text)
				f = rebound(t, f)
			}
			root := t.TempDir()
			_, err := Write(root, f)
			if err == nil || !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), value) {
				t.Errorf("%s in %s: %v", name, field, err)
			}
			if left := tree(t, root); len(left) > 0 {
				t.Errorf("%s in %s: files stay behind", name, field)
			}
		}
	}
	for _, text := range []string{
		"risk-assessment-2026 and task-12345678", "bearer certificates", "docker://engine@sha256:" + strings.Repeat("ab", 32),
		"mail someone@example.org", "https://127.0.0.1/a@b", "sk-learn", string(findingOf(t, nil).Report),
	} {
		if what := credentialIn([]byte(text)); what != "" {
			t.Errorf("%.60q is taken for %s", text, what)
		}
	}
}

// rebound makes record and decision agree with a changed spec.
func rebound(t *testing.T, f Finding) Finding {
	t.Helper()
	g := findingOf(t, func(r *evidence.Record) { r.SpecHash = step.SpecDigest(f.Spec) })
	g.Spec = f.Spec
	return g
}

// Answers to held-out items are named and not published, and the finding says so.
func TestHeldOutAnswersStay(t *testing.T) {
	c := campaign()
	c.Measure["support"].Quality.Split = "held-out"
	marked := 0
	for _, s := range sources(c) {
		if s.HeldOut != strings.HasSuffix(s.Output, evidence.OutResponses) {
			t.Errorf("%+v", s)
		}
		if s.HeldOut {
			marked++
		}
	}
	if marked != 4 { // three candidates, one of them twice
		t.Errorf("%d marked", marked)
	}
	f := findingOf(t, func(r *evidence.Record) {
		for i, e := range r.Evidence {
			r.Evidence[i].HeldOut = e.Output == evidence.OutResponses
		}
	})
	dir := write(t, t.TempDir(), f)
	var entries []rowsEntry
	if !readDocument(filepath.Join(dir, "evidence", "index.json"), &entries) {
		t.Fatal("no index")
	}
	left := 0
	for _, e := range entries {
		if e.LeftOut == leftOutHeldOut && e.File == "" {
			left++
		} else if e.Output == evidence.OutResponses {
			t.Errorf("%+v", e)
		}
	}
	for name := range tree(t, filepath.Join(dir, "evidence")) {
		if strings.Contains(name, "responses") {
			t.Errorf("%s was published", name)
		}
	}
	var rec evidence.Record
	var dec evidence.Decision
	if json.Unmarshal(f.Record, &rec) != nil || json.Unmarshal(f.Decision, &dec) != nil || left == 0 {
		t.Fatalf("%d left out", left)
	}
	readme, report, err := render(&rec, &dec)
	if err != nil || !bytes.Contains(readme, []byte("its items are held out")) || !bytes.Contains(report, []byte("its items are held out")) {
		t.Errorf("%v\n%s", err, readme)
	}
}

// A model may write what looks like a credential: its rows stay in the store.
func TestCredentialInRowsIsLeftOut(t *testing.T) {
	rows := []byte(`{"id":"a","text":"try postgres://user:hunter2@127.0.0.1/db"}` + "\n")
	f := findingOf(t, func(r *evidence.Record) {
		r.Evidence = []evidence.EvidenceFile{{Step: "measure/fp8/support/generate", Output: evidence.OutResponses, Digest: step.Sum(rows)}}
	})
	f.Open = opener(map[step.Digest][]byte{step.Sum(rows): rows})
	dir := write(t, t.TempDir(), f)
	var entries []rowsEntry
	b, _ := os.ReadFile(filepath.Join(dir, "evidence", "index.json"))
	if err := json.Unmarshal(b, &entries); err != nil || len(entries) != 1 || entries[0].LeftOut != "holds a URL with credentials" || entries[0].File != "" {
		t.Errorf("%s, %v", b, err)
	}
	if got := tree(t, filepath.Join(dir, "evidence")); len(got) != 1 {
		t.Errorf("%d files", len(got))
	}
}

// Each of the ten roles is there once, with files that are what it says or the
// reason why there are none.
func TestArtifactSet(t *testing.T) {
	dir := write(t, t.TempDir(), findingOf(t, nil))
	b, err := os.ReadFile(filepath.Join(dir, fileSet))
	if err != nil {
		t.Fatal(err)
	}
	var set artifactSet
	if err := json.Unmarshal(b, &set); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, r := range set.Roles {
		roles = append(roles, r.Role)
		if (r.Status == "retained") != (len(r.Files) > 0) || (r.Why == "") != (r.Status == "retained") {
			t.Errorf("%+v", r)
		}
		for _, f := range r.Files {
			content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
			if err != nil || step.Sum(content) != f.SHA256 || len(content) != f.Bytes {
				t.Errorf("%s: %s: %v", r.Role, f.Path, err)
			}
		}
	}
	want := []string{"evidence-index", "source-registry", "workload-manifest", "run-plan", "configuration-and-identity", "raw-run-evidence", "failures-and-friction", "restoration", "decision-summary", "publication-summary"}
	if !slices.Equal(roles, want) {
		t.Errorf("%v", roles)
	}
}
