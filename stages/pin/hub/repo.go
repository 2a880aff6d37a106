package hub

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

var (
	// ErrUsage marks what the person who asked can put right.
	ErrUsage = errors.New("wrong usage")
	// ErrConflict marks a folder that holds something else than what is asked for.
	ErrConflict = errors.New("conflict")
)

var (
	repoName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?$`)
	commitID   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	anyCase    = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
)

// Hub is one server.
type Hub struct {
	Client   *fetch.Client
	Endpoint string // without a slash at its end
	Token    string // "" = nobody in particular; sent to Endpoint and nowhere else
}

// CheckRepo wants OWNER/REPO, or the single name of an old repository.
func CheckRepo(repo string) error {
	if repoName.MatchString(repo) && !strings.Contains(repo, "..") && !strings.Contains(repo, "--") {
		return nil
	}
	return step.Mark(ErrUsage, step.WithHint(fmt.Errorf("%q is no repository", repo), "write OWNER/REPO, as in the address of the model's page, or the one name of an old repository such as gpt2"))
}

func (h *Hub) checkNames(ctx context.Context, repo, revision string) error {
	if err := CheckRepo(repo); err != nil {
		return err
	}
	return h.CheckRevision(ctx, repo, revision)
}

// CheckRevision wants the 40 digits of a commit: everything else can point to
// other files tomorrow. Where the hub can be asked, the error says which commit
// the name stands for now.
func (h *Hub) CheckRevision(ctx context.Context, repo, revision string) error {
	switch {
	case commitID.MatchString(revision):
		return nil
	case revision == "":
		return step.Mark(ErrUsage, step.WithHint(errors.New("no revision"), "give --revision with the 40 hexadecimal digits of a commit; a branch can move"))
	case anyCase.MatchString(revision):
		return step.Mark(ErrUsage, step.WithHint(fmt.Errorf("revision %s has capital letters", revision), "write "+strings.ToLower(revision)))
	}
	err := fmt.Errorf("revision %q is a branch, a tag or a short hash, which can stand for other files tomorrow", revision)
	todo := "give the 40 hexadecimal digits of a commit"
	if now := h.pointsTo(ctx, repo, revision); now != "" {
		todo = fmt.Sprintf("%s stands for %s now", revision, now)
	}
	return step.Mark(ErrUsage, step.WithHint(err, todo))
}

// pointsTo asks once which commit a name stands for, "" = cannot be said.
func (h *Hub) pointsTo(ctx context.Context, repo, name string) string {
	if !branchName.MatchString(name) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	resp, err := h.Client.Do(ctx, h.request("/api/models/"+repo+"/revision/"+name))
	if err != nil {
		return ""
	}
	b, err := resp.ReadAll(maxPage)
	var m model
	if err != nil || json.Unmarshal(b, &m) != nil || !commitID.MatchString(m.SHA) {
		return ""
	}
	return m.SHA
}

func (h *Hub) request(path string) fetch.Request {
	return h.requestURL(h.Endpoint + path)
}

func (h *Hub) requestURL(address string) fetch.Request {
	r := fetch.Request{URL: address}
	if h.Token != "" {
		r.Authorization = "Bearer " + h.Token
	}
	return r
}

// fileURL is where a file of a commit is.
func (h *Hub) fileURL(repo, revision, path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return h.Endpoint + "/" + repo + "/resolve/" + revision + "/" + strings.Join(parts, "/")
}
