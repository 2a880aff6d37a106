package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

const (
	maxPage  = 64 << 20 // bytes of one answer of the API
	maxPages = 10_000   // of one listing: also pages without files come to an end
)

// Listing is what the hub says about a commit. The SHA256 of a file that is not
// stored by LFS is zero: for those the hub knows the git blob id only.
type Listing struct {
	Repo, Revision string
	License        *string
	LicenseReason  string
	Files          []inventory.Entry
}

// model is the part of a model's description that is read.
type model struct {
	SHA      string         `json:"sha"`
	Card     jsontext.Value `json:"cardData"`
	Siblings []sibling      `json:"siblings"`
}

type sibling struct {
	Name   string `json:"rfilename"`
	Size   *int64 `json:"size"`
	BlobID string `json:"blobId"`
	LFS    *struct {
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	} `json:"lfs"`
}

type node struct {
	Type string `json:"type"` // file | directory
	Path string `json:"path"`
	OID  string `json:"oid"`
	Size int64  `json:"size"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// List asks which files a commit has.
func (h *Hub) List(ctx context.Context, repo, revision string) (*Listing, error) {
	var m model
	if err := h.ask(ctx, repo, "/api/models/"+repo+"/revision/"+revision, &m); err != nil {
		return nil, err
	}
	if m.SHA != revision {
		return nil, step.WithHint(fmt.Errorf("%s: asked for commit %s of %s, the hub answers with %q", h.Endpoint, revision, repo, fetch.Words(m.SHA, "")), "check --endpoint: a mirror may have another commit only")
	}
	l := &Listing{Repo: repo, Revision: revision}
	l.License, l.LicenseReason = license(m.Card)
	err := h.tree(ctx, l)
	if s, ok := errors.AsType[*fetch.Status](err); ok && (s.Code == http.StatusNotFound || s.Code == http.StatusMethodNotAllowed || s.Code == http.StatusNotImplemented) {
		l.Files = nil
		err = h.siblings(ctx, l) // a mirror without trees
	}
	if err != nil {
		return nil, err
	}
	return l, l.check()
}

// ask reads one document of the API.
func (h *Hub) ask(ctx context.Context, repo, path string, into any) error {
	b, resp, err := h.Client.JSON(ctx, h.request(path), maxPage)
	if err != nil {
		return h.explain(err, repo)
	}
	return decode(b, resp, into)
}

func decode(b []byte, resp *fetch.Response, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		return step.WithHint(fmt.Errorf("%s: the answer is not what this API answers: %w", resp.Place(), err), "check --endpoint")
	}
	return nil
}

// badListing is what can be done about a listing that cannot be right.
const badListing = "nothing was written; check --endpoint: the public hub lists every file with its size and hash"

// tree reads the pages of the commit's tree.
func (h *Hub) tree(ctx context.Context, l *Listing) error {
	seen := map[string]bool{}
	for at := h.Endpoint + "/api/models/" + l.Repo + "/tree/" + l.Revision + "?recursive=true"; at != ""; {
		if seen[at] {
			return step.WithHint(fmt.Errorf("%s: the pages of the listing go round in a circle", h.Endpoint), badListing)
		}
		if len(seen) == maxPages {
			return step.WithHint(fmt.Errorf("%s: the listing has more than %d pages", h.Endpoint, maxPages), badListing)
		}
		seen[at] = true
		b, resp, err := h.Client.JSON(ctx, h.requestURL(at), maxPage)
		if err != nil {
			return h.explain(err, l.Repo)
		}
		var page []node
		if err := decode(b, resp, &page); err != nil {
			return err
		}
		for _, n := range page {
			if err := l.addNode(n); err != nil {
				return err
			}
		}
		if at, err = h.next(resp); err != nil {
			return err
		}
	}
	return nil
}

func (l *Listing) addNode(n node) error {
	switch n.Type {
	case "directory":
		return nil
	case "file":
	default:
		return step.WithHint(fmt.Errorf("%s lists %q of kind %q, and only files and directories are known", l.Repo, n.Path, fetch.Words(n.Type, "")), badListing)
	}
	e := inventory.Entry{Path: n.Path, Size: n.Size, GitBlob: n.OID, Storage: inventory.Git}
	if n.LFS != nil {
		return l.addLFS(e, n.LFS.OID, n.LFS.Size)
	}
	return l.add(e)
}

// siblings reads the listing in the other form, on one page.
func (h *Hub) siblings(ctx context.Context, l *Listing) error {
	var m model
	if err := h.ask(ctx, l.Repo, "/api/models/"+l.Repo+"/revision/"+l.Revision+"?blobs=true", &m); err != nil {
		return err
	}
	for _, s := range m.Siblings {
		e := inventory.Entry{Path: s.Name, GitBlob: s.BlobID, Storage: inventory.Git}
		if s.Size != nil {
			e.Size = *s.Size
		} else if s.LFS == nil {
			return step.WithHint(fmt.Errorf("%s lists %q without its size, so that it cannot be checked", l.Repo, s.Name), badListing)
		}
		err := error(nil)
		if s.LFS != nil {
			err = l.addLFS(e, s.LFS.SHA256, s.LFS.Size)
		} else {
			err = l.add(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Listing) addLFS(e inventory.Entry, sha256 string, size int64) (err error) {
	e.Storage, e.Size = inventory.LFS, size
	if e.SHA256, err = step.ParseDigest(strings.TrimPrefix(sha256, "sha256:")); err != nil {
		return step.WithHint(fmt.Errorf("%s lists %q: %w", l.Repo, e.Path, err), badListing)
	}
	return l.add(e)
}

func (l *Listing) add(e inventory.Entry) error {
	if len(l.Files) == inventory.MaxFiles {
		return fmt.Errorf("%s lists more than %d files", l.Repo, inventory.MaxFiles)
	}
	switch {
	case e.Size < 0 || e.Size > 1<<50:
		return step.WithHint(fmt.Errorf("%s lists %q with a size of %d bytes, which no file has", l.Repo, e.Path, e.Size), badListing)
	case !commitID.MatchString(e.GitBlob) && (!e.InLFS() || e.GitBlob != ""):
		return step.WithHint(fmt.Errorf("%s lists %q with %q where the id of a git blob belongs, so that it cannot be checked", l.Repo, e.Path, fetch.Words(e.GitBlob, "")), badListing)
	}
	l.Files = append(l.Files, e)
	return nil
}

// check refuses names that must not be written. Which two of them are one file
// is asked of a selection.
func (l *Listing) check() error {
	if len(l.Files) == 0 {
		return fmt.Errorf("%s has no files at commit %s", l.Repo, l.Revision)
	}
	for _, f := range l.Files {
		if err := inventory.CheckPath(f.Path); err != nil {
			return step.WithHint(fmt.Errorf("%s at %s: %w", l.Repo, l.Revision[:12], err), "nothing was written; tell the owner of the repository")
		}
	}
	return nil
}

var nextLink = regexp.MustCompile(`<([^<>]*)>\s*;[^,<]*\brel="?next"?`)

// next finds the next page. The token goes with it, so it must be on the same
// server.
func (h *Hub) next(resp *fetch.Response) (string, error) {
	for _, line := range resp.Header.Values("Link") {
		m := nextLink.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := resp.URL.Parse(m[1])
		base, errBase := url.Parse(h.Endpoint)
		if err != nil || errBase != nil || at.Scheme != base.Scheme || !strings.EqualFold(at.Host, base.Host) {
			return "", step.WithHint(fmt.Errorf("%s: the next page of the listing is on another server", h.Endpoint), "give that server as --endpoint if you trust it")
		}
		return at.String(), nil
	}
	return "", nil
}

// license reads the card's license: one name, or several.
func license(card jsontext.Value) (*string, string) {
	var c struct {
		License jsontext.Value `json:"license"`
		Name    jsontext.Value `json:"license_name"`
	}
	if len(card) == 0 || json.Unmarshal(card, &c) != nil {
		return nil, "the repository has no card that can be read"
	}
	name := text(c.License)
	if other := text(c.Name); name == "other" && other != "" {
		name = other // the card's own name for what is on no list
	}
	if name == "" {
		return nil, "the model card names none"
	}
	return &name, ""
}

// text reads a text or a list of texts.
func text(v jsontext.Value) string {
	var one string
	if json.Unmarshal(v, &one) == nil {
		return fetch.Words(one, "")
	}
	var many []string
	if json.Unmarshal(v, &many) == nil {
		return fetch.Words(strings.Join(many, ", "), "")
	}
	return ""
}
