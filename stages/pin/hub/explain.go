package hub

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
)

// explain says what a refusal means and what can be done about it. The hub
// answers 401 also for a repository that does not exist, so as not to tell
// which private ones do.
func (h *Hub) explain(err error, repo string) error {
	var b *fetch.Broken
	var s *fetch.Status
	switch {
	case errors.As(err, &b):
		return step.WithHint(err, "check the connection; HTTPS_PROXY and --endpoint say how the hub is reached")
	case !errors.As(err, &s):
		return err
	}
	return h.explainStatus(err, s, repo)
}

func (h *Hub) explainStatus(err error, s *fetch.Status, repo string) error {
	page := h.Endpoint + "/" + repo
	switch code := s.Origin.Get("X-Error-Code"); {
	case code == "GatedRepo":
		return step.WithHint(fmt.Errorf("%s is gated: its owner wants terms accepted first: %w", repo, err), "accept them on "+page+" and "+h.tokenHint())
	case code == "RepoNotFound", s.Code == http.StatusUnauthorized && code == "":
		return step.WithHint(fmt.Errorf("%s does not exist, or is private: %w", repo, err), "check the name; for a private one "+h.tokenHint())
	case code == "RevisionNotFound":
		return step.WithHint(fmt.Errorf("%s has no such commit: %w", repo, err), "copy the 40 digits from "+page+"/commits/main")
	case s.Code == http.StatusForbidden:
		return step.WithHint(fmt.Errorf("access to %s is refused: %w", repo, err), h.tokenHint())
	case s.Code == http.StatusNotFound:
		return step.WithHint(fmt.Errorf("%s is not there: %w", repo, err), "check the name and the commit on "+page)
	}
	return err
}

// What can be done where sizes and contents do not fit.
const (
	contradicts = "the hub contradicts its own listing: run again later, or give another hub as --endpoint"
	changed     = "run again, and if it stays so something between you and the hub changes files: use another network, or another hub as --endpoint"
)

// wrongContent is content that does not have the hash that the hub lists; again
// says that it was got from its beginning a second time.
func wrongContent(path, wrong string, again bool) error {
	err := fmt.Errorf("%s: what was sent is not what the hub lists (%s)", path, wrong)
	if again {
		err = fmt.Errorf("%w, also when it was got once more from its beginning", err)
	}
	return step.WithHint(err, "it was thrown away; "+changed)
}

func (h *Hub) tokenHint() string {
	if h.Token == "" {
		return "give --token-env with the name of an environment variable that holds a token"
	}
	return "use a token whose account may read it"
}
