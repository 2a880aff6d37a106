package llm

import (
	"regexp"
	"strings"
)

// Weights come from a hub or from a folder. A folder says who runs the server,
// and on which disk: only its last part is kept.

var (
	hubName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}$`)
	hubCache = regexp.MustCompile(`(?:^|/)models--([A-Za-z0-9_.-]+?)--([A-Za-z0-9_.-]+)/snapshots/([0-9a-f]{40}|[0-9a-f]{64})(?:/(.+))?$`)
	commit   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	drive    = regexp.MustCompile(`^[A-Za-z]:/`)
)

// folders are first parts of relative paths that no organisation on a hub has.
var folders = map[string]bool{"models": true, "model": true, "weights": true, "checkpoints": true, "data": true, "mnt": true, "home": true, "opt": true, "tmp": true}

// loaded notes what weights were loaded: a repository, a file of its cache, or
// a local path.
func (id *Identity) loaded(from string) {
	repo, revision, file := weightsFrom(from)
	if id.Repo != "" && repo != id.Repo {
		return // told before; what belongs to another repository does not belong to it
	}
	set(&id.Repo, repo)
	set(&id.Revision, revision)
	set(&id.File, file)
}

// weightsFrom takes apart what an engine says it loaded. A hub's cache names
// the repository and its commit; "org/name:Q4_K_M" names a file in a repository.
func weightsFrom(from string) (repo, revision, file string) {
	from = strings.ReplaceAll(strings.TrimSpace(from), `\`, "/")
	if m := hubCache.FindStringSubmatch(from); m != nil {
		return m[1] + "/" + m[2], m[3], lastOf(m[4])
	}
	name, tag, _ := strings.Cut(from, ":")
	if first, _, _ := strings.Cut(name, "/"); hubName.MatchString(name) && !strings.Contains(tag, "/") && !folders[strings.ToLower(first)] {
		return name, "", plain(tag)
	}
	return "", "", lastOf(from)
}

// immutable is a commit, "" for a branch or a tag.
func immutable(revision string) string {
	if commit.MatchString(revision) {
		return revision
	}
	return ""
}

// lastOf is the last part of a path or an address.
func lastOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
	return plain(path[strings.LastIndexByte(path, '/')+1:])
}

// pathless returns the last part of what is a path, and anything else as it is.
func pathless(s string) string {
	at := strings.ReplaceAll(s, `\`, "/")
	for _, begin := range []string{"/", "~", "./", "../"} {
		if len(s) > 1 && strings.HasPrefix(at, begin) {
			return lastOf(at)
		}
	}
	if drive.MatchString(at) || strings.Contains(at, "://") {
		return lastOf(at)
	}
	return s
}

// ShownName is a served name as an identity holds it. llama.cpp serves a model
// under the path of its file, which says whose machine it is.
func ShownName(served string) string {
	if name := pathless(served); name != "" {
		return name
	}
	return served
}
