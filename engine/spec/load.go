package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// Loaded is a campaign that holds every rule of the schema, with defaults
// filled in and every file hashed.
type Loaded struct {
	Campaign  *Campaign
	Canonical []byte      // RFC 8785 JSON of Campaign: what Digest is the hash of
	Digest    step.Digest // means "this decision"
	Dir       string      // of the campaign file; relative paths start here
	Files     []File      // every file whose content is in the digest, by path
	Warnings  Errors      // to be shown, never a reason to stop
	// Unknown lists, by candidate, the pins that matter for a comparison and
	// are not declared. Candidates that declare everything are left out.
	Unknown map[string][]string

	root *node
}

// Load reads a campaign: a .yaml, .yml, .json or .cue file, or a folder with a
// CUE package. What is wrong with it is returned as Errors, all of it.
func Load(file string) (*Loaded, error) {
	src, err := readCampaign(file)
	if err != nil {
		return nil, err
	}
	if src.root == nil {
		return nil, src.errs.err()
	}
	return assemble(src)
}

// holdsCUE reports whether a folder has a .cue file.
func holdsCUE(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*.cue"))
	return len(found) > 0
}

// source is a campaign file after its syntax was read.
type source struct {
	dir  string
	root *node  // nil: the syntax is too broken to go on
	errs Errors // found so far
}

func readCampaign(file string) (source, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return source{}, Errors{{File: file, Msg: "there is no such file", Hint: "cupel init writes a campaign to begin with"}}
	case err != nil:
		return source{}, Errors{{File: file, Msg: diskfile.Cause(err).Error()}}
	case info.IsDir() && !holdsCUE(file):
		return source{}, Errors{{File: file, Msg: "this is a folder without a CUE package", Hint: "name the campaign file in it"}}
	case info.IsDir():
		root, errs := parseCUEPackage(file)
		return source{file, root, errs}, nil
	}
	src, err := readRegular(file, maxFileBytes)
	if err != nil {
		return source{}, Errors{{File: file, Msg: err.Error(), Hint: "a campaign is a text file of at most 1 MiB"}}
	}
	s := source{dir: filepath.Dir(file)}
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".yaml", ".yml":
		s.root, s.errs = parseYAML(file, src)
	case ".json":
		s.root, s.errs = parseJSON(file, src)
	case ".cue":
		s.root, s.errs = parseCUEFile(file, src)
	default:
		return source{}, Errors{{File: file, Msg: fmt.Sprintf("found the extension %q, allowed .yaml, .yml, .json or .cue", clip(ext))}}
	}
	s.errs = append(s.errs, findSecrets(file, src, s.root)...)
	return s, nil
}

// assemble checks a tree and makes the typed campaign of it.
func assemble(s source) (*Loaded, error) {
	errs := s.errs
	if s.root.kind != cue.StructKind {
		errs.add(s.root.at, nil, "found "+found(s.root)+", allowed a map with apiVersion, campaign, …", "")
		return nil, errs.err()
	}
	sch := compiled()
	root := inherit(s.root, &errs)
	if sch.check(sch.campaign, root, &errs) {
		return nil, errs.err()
	}
	r := &rules{root: root, declared: s.root.get("candidates"), errs: &errs}
	r.check()
	f := &files{dir: s.dir, root: root, errs: &errs}
	f.resolve()
	if len(errs) > 0 {
		return nil, errs.err()
	}
	c, err := sch.typed(root)
	if err != nil {
		return nil, err
	}
	l := &Loaded{Campaign: c, Dir: s.dir, Warnings: r.warnings.tidy(), root: root}
	l.Files = f.attach(c)
	l.Unknown = unknownPins(c)
	return l, l.hash()
}

// typed fills defaults in with CUE and decodes. CUE has the last word: what the
// walk let pass and CUE does not is an error here.
func (s *schema) typed(root *node) (*Campaign, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.resolved.Unify(s.ctx.BuildExpr(root.expr()))
	if err := v.Validate(cue.Concrete(true)); err != nil {
		return nil, s.leftOver(root, err)
	}
	b, err := v.MarshalJSON()
	if err != nil {
		return nil, s.leftOver(root, err)
	}
	c := new(Campaign)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, Errors{{File: root.at.file, Msg: "decoding: " + err.Error()}}
	}
	return c, nil
}

// leftOver reports CUE's own errors at the user's positions.
func (s *schema) leftOver(root *node, err error) error {
	var errs Errors
	for _, e := range cueErrors(err) {
		_, at := root.find(e.path)
		errs.add(at, e.path, e.msg, "")
	}
	return errs.err()
}

// attach puts the resolved files into the campaign and lists them.
func (f *files) attach(c *Campaign) []File {
	byPath := map[string]File{}
	for name, s := range f.suites {
		q := c.Measure[name].Quality
		q.Suite = s
		if q.Split == SplitDevelopment {
			q.Split = "" // the same items, and so the same campaign
		}
		byPath[s.Items.Path] = s.Items
		for _, m := range s.Media {
			byPath[m.Path] = m
		}
		if s.HeldOut != nil {
			byPath[s.HeldOut.Index.Path] = s.HeldOut.Index
		}
	}
	for name, file := range f.traces {
		c.Measure[name].OpenLoop.Arrivals.Trace = &file
		byPath[file.Path] = file
	}
	for name, files := range f.imports {
		c.Measure[name].Imported.Files = files
		for _, list := range files {
			for _, file := range list {
				byPath[file.Path] = file
			}
		}
	}
	for name, file := range f.labels {
		j := c.Judges[name]
		j.Labels = &file
		c.Judges[name] = j
		byPath[file.Path] = file
	}
	f.attachMedia(c, byPath)
	f.attachMetered(c, byPath)
	for i, snap := range f.snaps {
		c.Research.Sources[i].Snapshot = snap
		byPath[snap.Path] = *snap
	}
	out := make([]File, 0, len(byPath))
	for _, p := range slices.Sorted(maps.Keys(byPath)) {
		out = append(out, byPath[p])
	}
	return out
}

func (l *Loaded) hash() error {
	b, err := json.Marshal(l.Campaign)
	if err != nil {
		return err
	}
	if l.Canonical, err = step.Canonical(b); err != nil {
		return err
	}
	l.Digest = step.SpecDigest(l.Canonical)
	return nil
}

// At makes an error that points into the campaign file, for a mistake that
// only a later stage can see. The path is that of the field, outermost first:
// "decide", "guards", "ttft", "rule".
func (l *Loaded) At(fieldPath []string, msg, hint string) *Error {
	var errs Errors
	_, at := l.root.find(fieldPath)
	errs.add(at, fieldPath, msg, hint)
	return errs[0]
}
