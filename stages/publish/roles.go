package publish

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// fileSet is the artifact set of a finding: which of its files plays which part.
const fileSet = "artifact-set.json"

// ArtifactSetSchema names the format of artifact-set.json.
const ArtifactSetSchema = "cupel/artifact-set/v1"

// artifactSet has ten roles, each exactly once, so that a reader who looks for
// one finds it or reads why it is not there.
type artifactSet struct {
	Schema string         `json:"schema"`
	Roles  []artifactRole `json:"roles"`
}

type artifactRole struct {
	Role   string         `json:"role"`
	Status string         `json:"status"` // retained | not-applicable
	Why    string         `json:"why,omitempty"`
	Files  []artifactFile `json:"files,omitempty"`
}

type artifactFile struct {
	Path   string      `json:"path"`
	SHA256 step.Digest `json:"sha256"`
	Bytes  int         `json:"bytes"`
}

// setOf assigns the files of a finding to the ten roles.
func setOf(rec *evidence.Record, files map[string]artifactFile) ([]byte, error) {
	role := func(name string, paths ...string) artifactRole {
		r := artifactRole{Role: name, Status: "retained"}
		for _, p := range paths {
			r.Files = append(r.Files, files[p])
		}
		return r
	}
	absent := func(name, why string) artifactRole {
		return artifactRole{Role: name, Status: "not-applicable", Why: why}
	}
	sources := absent("source-registry", "the campaign lists no research")
	if rec.Research != nil {
		sources = role("source-registry", fileRecord)
	}
	restored := absent("restoration", "cupel started and stopped nothing")
	for _, c := range rec.Candidates {
		if c.Start != nil {
			restored = role("restoration", fileRecord)
		}
	}
	var raw []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, dirEvidence+"/") {
			raw = append(raw, path)
		}
	}
	b, err := json.MarshalIndent(artifactSet{Schema: ArtifactSetSchema, Roles: []artifactRole{
		role("evidence-index", dirEvidence+"/index.json", fileRecord),
		sources,
		role("workload-manifest", fileSpec),
		role("run-plan", fileSpec),
		role("configuration-and-identity", fileRecord, fileSpec),
		role("raw-run-evidence", raw...),
		role("failures-and-friction", fileRecord, fileReport),
		restored,
		role("decision-summary", fileDecision),
		role("publication-summary", fileReadme, fileReport),
	}}, "", "  ")
	return append(b, '\n'), err
}
