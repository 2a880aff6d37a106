package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// complete downloads what is missing and checks the whole. Content that is
// wrong after it was put together from parts may be a mixture, and is got once
// more from its beginning.
func (p *puller) complete(ctx context.Context, t *part, f *inventory.Entry) error {
	for again := false; ; again = true {
		pieces, err := p.download(ctx, t)
		if err != nil {
			return err
		}
		wrong := mismatch(*f, t.h.SHA256(), t.h.GitBlob())
		if wrong == "" {
			f.SHA256 = t.h.SHA256()
			return diskError(diskfile.Cause(t.f.Sync()))
		}
		if err := t.restart(); err != nil {
			return err
		}
		if pieces < 2 || again {
			return wrongContent(f.Path, wrong, again)
		}
		p.event(Event{Path: f.Path, State: "note", Note: "what was put together from parts is wrong (" + wrong + "); from the beginning"})
	}
}

// download asks for the rest of a file until it is there. pieces counts the
// answers that the file is made of, one that an earlier pull left included.
func (p *puller) download(ctx context.Context, t *part) (pieces int, err error) {
	if t.size() > 0 {
		pieces++
	}
	err = p.Client.Retry(ctx, t.want.Path, func() (bool, error) {
		if t.size() == t.want.Size {
			return true, nil
		}
		before := t.size()
		err := p.piece(ctx, t)
		switch {
		case t.size() > before:
			pieces++
		case t.size() < before:
			pieces = 1
		}
		return t.further(), err
	})
	if err != nil && ctx.Err() != nil {
		return pieces, ctx.Err()
	}
	return pieces, t.stuck(err)
}

// piece sends one request for what is missing and writes what comes.
func (p *puller) piece(ctx context.Context, t *part) error {
	r := p.requestURL(p.fileURL(p.o.Repo, p.o.Revision, t.want.Path))
	r.Header = http.Header{}
	if t.size() > 0 {
		r.Header.Set("Range", "bytes="+strconv.FormatInt(t.size(), 10)+"-")
		if t.etag != "" {
			r.Header.Set("If-Range", t.etag)
		}
	}
	resp, err := p.Client.Do(ctx, r)
	if s, ok := errors.AsType[*fetch.Status](err); ok && s.Code == http.StatusRequestedRangeNotSatisfiable {
		return p.again(t, "the server has no such part")
	}
	if err != nil {
		return p.explainFile(err, t.want.Path)
	}
	defer resp.Body.Close()
	if err := p.checkHeaders(resp, t.want); err != nil {
		return err
	}
	if err := p.position(resp, t); err != nil {
		return err
	}
	return p.receive(t, resp)
}

// again starts anew; the error is one that is tried again.
func (p *puller) again(t *part, why string) error {
	if err := t.restart(); err != nil {
		return step.Mark(errDisk, err)
	}
	return &fetch.Broken{Err: fmt.Errorf("%s, and what was there was thrown away", why)}
}

// checkHeaders holds what the hub says of the file against the listing. What it
// does not say is not held against it: the content is checked in any case.
func (p *puller) checkHeaders(resp *fetch.Response, f inventory.Entry) error {
	if err := resp.Plain(); err != nil {
		return err
	}
	if c := resp.Origin.Get("X-Repo-Commit"); c != "" && c != p.o.Revision {
		return step.WithHint(fmt.Errorf("%s: the hub answers from commit %s, asked for %s", f.Path, fetch.Words(c, ""), p.o.Revision), contradicts)
	}
	if s := resp.Origin.Get("X-Linked-Size"); s != "" && s != strconv.FormatInt(f.Size, 10) {
		return step.WithHint(fmt.Errorf("%s: the hub has %s bytes, and lists %d", f.Path, fetch.Words(s, ""), f.Size), contradicts)
	}
	if e := strings.Trim(resp.Origin.Get("X-Linked-Etag"), `"`); f.InLFS() && len(e) == 64 && !strings.EqualFold(e, f.SHA256.String()) {
		return step.WithHint(fmt.Errorf("%s: the hub has content %s, and lists %s", f.Path, fetch.Words(e[:12], ""), f.SHA256.Short()), contradicts)
	}
	return nil
}

// position makes sure that what comes belongs after what is there.
func (p *puller) position(resp *fetch.Response, t *part) error {
	if resp.Code == http.StatusPartialContent && t.size() > 0 {
		return p.partial(resp, t)
	}
	if resp.Code != http.StatusOK {
		return step.WithHint(fmt.Errorf("%s: %s answers %d, where the file was asked for", t.want.Path, resp.Place(), resp.Code), changed)
	}
	if t.size() > 0 {
		p.event(Event{Path: t.want.Path, State: "note", Note: "the server sends the whole file again"})
		if err := t.restart(); err != nil {
			return step.Mark(errDisk, err)
		}
	}
	if n, ok := length(resp); ok && n != t.want.Size {
		return wrongSize(resp, t.want, n)
	}
	t.etag = ""
	_ = p.root.Remove(partName(t.want) + etagSuffix)
	if e := resp.Header.Get("ETag"); strongETag(e) {
		t.etag = e
		_ = p.root.WriteFile(partName(t.want)+etagSuffix, []byte(e), 0o666) // without it the hash alone decides
	}
	return nil
}

// partial reads Content-Range: bytes FIRST-LAST/TOTAL.
func (p *puller) partial(resp *fetch.Response, t *part) error {
	if e := resp.Header.Get("ETag"); t.etag != "" && e != "" && e != t.etag {
		return p.again(t, "the file changed between two parts")
	}
	var first, last int64
	total := ""
	said := resp.Header.Get("Content-Range")
	if n, err := fmt.Sscanf(said, "bytes %d-%d/%s", &first, &last, &total); n != 3 || err != nil || first != t.size() || last < first {
		return p.again(t, fmt.Sprintf("asked for what follows byte %d, got %q", t.size(), fetch.Words(said, "")))
	}
	if n, err := strconv.ParseInt(total, 10, 64); total != "*" && (err != nil || n != t.want.Size) {
		return step.WithHint(fmt.Errorf("%s: the server has %s bytes, the hub lists %d", t.want.Path, fetch.Words(total, ""), t.want.Size), changed)
	}
	return nil
}

func length(resp *fetch.Response) (int64, bool) {
	n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
	return n, err == nil
}

func wrongSize(resp *fetch.Response, f inventory.Entry, n int64) error {
	err := fmt.Errorf("%s: the server sends %d bytes, the hub lists %d", f.Path, n, f.Size)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return step.WithHint(err, "it is a page for browsers: a proxy or a login page may stand before the hub")
	}
	return step.WithHint(err, changed)
}

// receive writes what comes, up to one byte more than belongs there.
func (p *puller) receive(t *part, resp *fetch.Response) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := resp.Body.Read(buf)
		if int64(n) > t.want.Size-t.size() {
			_ = t.restart() // it is thrown away in any case
			return step.WithHint(fmt.Errorf("%s: the server sends more than the %d bytes that the hub lists", t.want.Path, t.want.Size), changed)
		}
		if n > 0 {
			if err := t.write(buf[:n]); err != nil {
				return err
			}
			p.event(Event{Path: t.want.Path, State: "progress", Done: t.size(), Total: t.want.Size})
		}
		switch {
		case err == io.EOF && t.size() == t.want.Size:
			return nil
		case err == io.EOF:
			return &fetch.Broken{Err: fmt.Errorf("it ends after %d of %d bytes", t.size(), t.want.Size)}
		case err != nil:
			return fmt.Errorf("after %d of %d bytes: %w", t.size(), t.want.Size, err)
		}
	}
}

// explainFile says what a refusal of one file means.
func (p *puller) explainFile(err error, path string) error {
	if s, ok := errors.AsType[*fetch.Status](err); ok && s.Code == http.StatusNotFound {
		return fmt.Errorf("%s: the hub lists it and does not have it: %w", path, err)
	}
	return p.explain(err, p.o.Repo)
}

// strongETag reports whether e may stand in If-Range (RFC 9110, 13.1.5).
func strongETag(e string) bool {
	return len(e) >= 2 && len(e) < 1024 && e[0] == '"' && strings.HasSuffix(e, `"`) && !strings.ContainsAny(e, "\r\n")
}
