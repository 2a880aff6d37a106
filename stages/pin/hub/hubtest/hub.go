// Package hubtest is a hub in the test's own process: it speaks the API of the
// Hugging Face hub as far as package hub uses it, on two servers as the real one
// does (the hub, and a store for large files that it redirects to), and fails in
// the ways that a test asks for.
package hubtest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// File is one file of the repository.
type File struct {
	Path    string
	Content []byte
	LFS     bool
}

// Commit is the one commit that the hub has.
const Commit = "0123456789abcdef0123456789abcdef01234567"

// Repo is the one repository that the hub has.
const Repo = "org/model"

// Token is what a private hub wants.
const Token = "hf_0123456789abcdefTOKEN"

// Hub is a running hub. Its fields may be changed before a request is sent, and
// with Do while some are under way.
type Hub struct {
	URL string // of the hub
	CDN string // of the store of large files

	Files    []File
	PageSize int            // entries on one page of the tree; 0 = all
	Card     string         // JSON of cardData
	Faults   map[string]int // name of a fault -> how many times, -1 = always
	Served   []byte         // instead of a file's content, for the fault other-content

	mu    sync.Mutex
	log   []string // METHOD SERVER PATH [RANGE]
	leaks []string
	hold  map[string]chan struct{}
	held  map[string]chan struct{}
	hub   *httptest.Server
	cdn   *httptest.Server
}

// The faults:
//
//	cut           the connection breaks in the middle of a file
//	cut-whole     the same, and only where no part was asked for
//	cut-small     the same after a few bytes
//	short         the answer ends early and in order
//	other-content other bytes of the same length
//	bad-middle    the first piece has a wrong byte, the rest is right
//	longer        more bytes than listed, without a length
//	endless       bytes without end
//	wrong-length  another Content-Length
//	ignore-range  the whole file although a part was asked for
//	bad-range     a part that was not asked for
//	new-etag      another ETag each time, and If-Range ignored
//	no-etag       no ETag
//	416           no part is satisfiable
//	gzip          compressed although identity was asked for
//	html          a page for browsers instead of JSON
//	html-file     a page for browsers instead of a file
//	loop          redirects to itself
//	to-http       redirects to plain http on another machine
//	commit        another commit in X-Repo-Commit
//	linked-size   another X-Linked-Size
//	moved         the API redirects to another name of the repository
//	old-name      API and files redirect from the one name "model"
//	429, 500, 503 these answers; Retry-After is RetryAfter
//	401, 403      these
//	gated, no-repo, no-revision, no-file   with X-Error-Code
//	no-tree       the tree is not served
//	page-away     the next page is on another server
//	page-loop     the pages go round
//	page-more     there is always one page more, without files
//	other-sha     the description is of another commit
const RetryAfter = "7"

// New starts a hub with these files.
func New(files ...File) *Hub {
	h := &Hub{Files: files, Card: `{"license":"apache-2.0"}`, Faults: map[string]int{}, hold: map[string]chan struct{}{}, held: map[string]chan struct{}{}}
	h.hub = httptest.NewServer(http.HandlerFunc(h.serveHub))
	h.cdn = httptest.NewServer(http.HandlerFunc(h.serveCDN))
	h.URL, h.CDN = h.hub.URL, h.cdn.URL
	return h
}

// Close ends it.
func (h *Hub) Close() {
	h.mu.Lock()
	for name, c := range h.hold {
		close(c)
		delete(h.hold, name)
	}
	h.mu.Unlock()
	h.hub.Close()
	h.cdn.Close()
}

// Do changes the hub while it runs.
func (h *Hub) Do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// Fail asks for a fault, n times; -1 = always.
func (h *Hub) Fail(name string, n int) { h.Do(func() { h.Faults[name] = n }) }

// Hold stops the answer of a file in its middle until Release.
func (h *Hub) Hold(path string) {
	h.Do(func() { h.hold[path], h.held[path] = make(chan struct{}), make(chan struct{}) })
}

// Await returns when the file is in its middle.
func (h *Hub) Await(path string) {
	h.mu.Lock()
	c := h.held[path]
	h.mu.Unlock()
	<-c
}

// Release lets a held file go on.
func (h *Hub) Release(path string) {
	h.Do(func() {
		close(h.hold[path])
		delete(h.hold, path)
	})
}

// Look returns the requests since the last look.
func (h *Hub) Look() (log []string) {
	h.Do(func() { log, h.log = h.log, nil })
	return log
}

// Leaks lists requests that brought a credential where it does not belong.
func (h *Hub) Leaks() (leaks []string) {
	h.Do(func() { leaks = slices.Clone(h.leaks) })
	return leaks
}

// fault reports whether a fault is due, and uses it up.
func (h *Hub) fault(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.Faults[name]
	if n > 0 {
		h.Faults[name]--
	}
	return n != 0
}

func (h *Hub) note(r *http.Request, server string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, strings.TrimSpace(r.Method+" "+server+" "+r.URL.RequestURI()+" "+r.Header.Get("Range")))
}

func (h *Hub) serveHub(w http.ResponseWriter, r *http.Request) {
	h.note(r, "hub")
	if h.refuse(w) {
		return
	}
	path := r.URL.Path
	switch {
	case h.fault("loop"):
		http.Redirect(w, r, r.URL.RequestURI(), http.StatusFound)
	case h.fault("to-http"):
		http.Redirect(w, r, "http://models.example.com"+path, http.StatusFound)
	case strings.HasPrefix(path, "/api/models/model/") && h.fault("old-name"):
		http.Redirect(w, r, strings.Replace(r.URL.RequestURI(), "/model/", "/"+Repo+"/", 1), http.StatusTemporaryRedirect)
	case strings.HasPrefix(path, "/model/") && h.fault("old-name"):
		http.Redirect(w, r, "/org"+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	case strings.HasPrefix(path, "/api/models/"):
		h.api(w, r, strings.TrimPrefix(path, "/api/models/"))
	default:
		h.resolve(w, r)
	}
}

// refuse answers with the error that is due.
func (h *Hub) refuse(w http.ResponseWriter) bool {
	for _, f := range []struct {
		name, code, message string
		status              int
	}{
		{"429", "", "", 429}, {"500", "", "", 500}, {"503", "", "", 503}, {"401", "", "Invalid credentials in Authorization header", 401}, {"403", "", "", 403},
		{"gated", "GatedRepo", "Access to model org/model is restricted.", 403},
		{"no-repo", "RepoNotFound", "Repository not found", 401},
		{"no-revision", "RevisionNotFound", "Invalid rev id", 404},
	} {
		if !h.fault(f.name) {
			continue
		}
		if f.status == 429 || f.status == 503 {
			w.Header().Set("Retry-After", RetryAfter)
		}
		if f.code != "" {
			w.Header().Set("X-Error-Code", f.code)
		}
		if f.message != "" {
			w.Header().Set("X-Error-Message", f.message)
		}
		w.WriteHeader(f.status)
		return true
	}
	return false
}

func (h *Hub) api(w http.ResponseWriter, r *http.Request, rest string) {
	repo := Repo
	if h.fault("moved") {
		http.Redirect(w, r, "/api/models/new/"+strings.TrimPrefix(rest, "org/")+"?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
		return
	}
	if strings.HasPrefix(rest, "new/") {
		repo = "new/model"
	}
	what, ok := strings.CutPrefix(rest, repo+"/")
	kind, rev, _ := strings.Cut(what, "/")
	switch {
	case !ok:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusUnauthorized)
	case rev != Commit && rev != "main":
		w.Header().Set("X-Error-Code", "RevisionNotFound")
		w.WriteHeader(http.StatusNotFound)
	case h.fault("html"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Log in</title>")
	case kind == "revision":
		h.describe(w, r)
	case kind == "tree" && !h.fault("no-tree"):
		h.tree(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (h *Hub) describe(w http.ResponseWriter, r *http.Request) {
	sha := Commit
	if h.fault("other-sha") {
		sha = strings.Repeat("f", 40)
	}
	siblings := []map[string]any{}
	for _, f := range h.Files {
		s := map[string]any{"rfilename": f.Path}
		if r.URL.Query().Get("blobs") == "true" {
			s["size"], s["blobId"] = len(f.Content), f.oid()
			if f.LFS {
				s["lfs"] = map[string]any{"sha256": f.sha256(), "size": len(f.Content), "pointerSize": 130}
			}
		}
		siblings = append(siblings, s)
	}
	writeJSON(w, map[string]any{"id": Repo, "sha": sha, "private": false, "gated": false, "cardData": json.RawMessage(h.Card), "siblings": siblings})
}

func (h *Hub) tree(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	to := len(h.Files)
	past := min(from, to)
	if h.PageSize > 0 {
		to = min(to, from+h.PageSize)
	}
	next := h.URL + r.URL.Path + "?recursive=true&cursor=" + strconv.Itoa(to)
	switch {
	case h.fault("page-away"):
		w.Header().Set("Link", fmt.Sprintf(`<%s/next>; rel="next"`, h.CDN))
	case h.fault("page-loop"):
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, h.URL, r.URL.RequestURI()))
	case h.fault("page-more"):
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, h.URL+r.URL.Path+"?recursive=true&cursor="+strconv.Itoa(from+len(h.Files)+1)))
	case to < len(h.Files):
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next))
	}
	nodes := []map[string]any{{"type": "directory", "path": "sub", "oid": strings.Repeat("d", 40), "size": 0}}
	for _, f := range h.Files[past:to] {
		n := map[string]any{"type": "file", "path": f.Path, "oid": f.oid(), "size": len(f.Content)}
		if f.LFS {
			n["lfs"] = map[string]any{"oid": f.sha256(), "size": len(f.Content), "pointerSize": 130}
		}
		nodes = append(nodes, n)
	}
	writeJSON(w, nodes)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

// resolve serves a small file, or says where a large one is.
func (h *Hub) resolve(w http.ResponseWriter, r *http.Request) {
	f, ok := h.find(strings.TrimPrefix(r.URL.Path, "/"+Repo+"/resolve/"+Commit+"/"))
	if !ok || h.fault("no-file") {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	commit := Commit
	if h.fault("commit") {
		commit = strings.Repeat("e", 40)
	}
	w.Header().Set("X-Repo-Commit", commit)
	if !f.LFS {
		h.content(w, r, f, `"`+f.oid()+`"`)
		return
	}
	size := len(f.Content)
	if h.fault("linked-size") {
		size++
	}
	w.Header().Set("X-Linked-Etag", `"`+f.sha256()+`"`)
	w.Header().Set("X-Linked-Size", strconv.Itoa(size))
	http.Redirect(w, r, h.CDN+"/"+f.Path+"?Signature=secret", http.StatusFound)
}

func (h *Hub) serveCDN(w http.ResponseWriter, r *http.Request) {
	h.note(r, "cdn")
	if r.Header.Get("Authorization") != "" {
		h.Do(func() { h.leaks = append(h.leaks, r.URL.Path) })
	}
	f, ok := h.find(strings.TrimPrefix(r.URL.Path, "/"))
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	h.content(w, r, f, `"cdn-`+f.sha256()[:8]+`"`)
}

func (h *Hub) find(path string) (File, bool) {
	for _, f := range h.Files {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// content serves the bytes, or what a fault makes of them.
func (h *Hub) content(w http.ResponseWriter, r *http.Request, f File, etag string) {
	b := f.Content
	if h.fault("other-content") {
		b = h.Served
	}
	ranged := r.Header.Get("Range") != ""
	if !h.fault("no-etag") {
		w.Header().Set("ETag", etag)
	}
	half := len(b) / 2
	switch {
	case h.fault("cut"), !ranged && h.fault("cut-whole"):
		sendPart(w, b, half)
		return
	case h.fault("cut-small"):
		sendPart(w, b, 10)
		return
	case !ranged && h.fault("bad-middle"):
		bad := bytes.Clone(b)
		bad[0] ^= 1
		sendPart(w, bad, half)
		return
	case h.fault("short"):
		w.(http.Flusher).Flush() // no length
		_, _ = w.Write(b[:half])
		return
	case h.fault("longer"):
		w.(http.Flusher).Flush() // no length
		_, _ = w.Write(append(bytes.Clone(b), "and more"...))
		return
	case h.fault("endless"):
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
		return
	case h.fault("wrong-length"):
		_, _ = w.Write(append(bytes.Clone(b), '!'))
		return
	case h.fault("html-file"):
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "6")
		fmt.Fprint(w, "<html>")
		return
	case h.fault("gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(b)
		_ = z.Close()
		return
	case ranged && h.fault("416"):
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	case ranged && h.fault("bad-range"):
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(b)-1, len(b)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(b)
		return
	case ranged && h.fault("ignore-range"):
		r.Header.Del("Range")
	case h.fault("new-etag"):
		w.Header().Set("ETag", `"`+time.Now().String()+`"`)
		r.Header.Del("If-Range")
	}
	h.wait(w, f.Path, &b, ranged)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

// wait sends half of a held file and waits there.
func (h *Hub) wait(w http.ResponseWriter, path string, b *[]byte, ranged bool) {
	h.mu.Lock()
	release, held := h.hold[path], h.held[path]
	h.mu.Unlock()
	if release == nil || ranged {
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(*b)))
	_, _ = w.Write((*b)[:len(*b)/2])
	w.(http.Flusher).Flush()
	close(held)
	<-release
	panic(http.ErrAbortHandler)
}

// sendPart promises everything and breaks off.
func sendPart(w http.ResponseWriter, b []byte, n int) {
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b[:min(n, len(b))])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func (f File) sha256() string {
	s := sha256.Sum256(f.Content)
	return hex.EncodeToString(s[:])
}

// oid is the git blob id of the content, or of the pointer of a large file.
func (f File) oid() string {
	b := f.Content
	if f.LFS {
		b = fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", f.sha256(), len(f.Content))
	}
	s := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(s[:])
}
