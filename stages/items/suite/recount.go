package suite

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Recount compares what suite.json says of a frozen suite with its items: their
// number, their labels, the scorers that they name. Open has compared digests,
// and those of a suite.json that somebody wrote by hand say less.
func (s *Set) Recount() error {
	m := s.Manifest
	if m == nil {
		return fmt.Errorf("%s is not a frozen suite: it has no %s", s.Name, ManifestFile)
	}
	c, err := s.Census()
	if err != nil {
		return err
	}
	strata, named := c.DevelopmentLabels[PrimaryLabel], scorerNames(m.Scorers)
	switch {
	case c.Development != m.Count:
		return otherwise("%d items, %s says %d", c.Development, ManifestFile, m.Count)
	case !maps.Equal(strata, m.Strata):
		return otherwise("the strata %v, %s says %v", strata, ManifestFile, m.Strata)
	case m.Labels != nil && !maps.EqualFunc(c.Labels, m.Labels, maps.Equal[map[string]int, map[string]int]):
		return otherwise("other labels than %s says", ManifestFile)
	case !slices.Equal(c.Scorers, named):
		return otherwise("the scorers %s, %s says %s", strings.Join(c.Scorers, ", "), ManifestFile, strings.Join(named, ", "))
	}
	return nil
}

func otherwise(format string, args ...any) error {
	return fmt.Errorf("the items have "+format+": %w", append(args, ErrTampered)...)
}

var scorerVersion = regexp.MustCompile(`/[0-9]+$`)

// scorerNames cuts the versions off.
func scorerNames(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = scorerVersion.ReplaceAllString(id, "")
	}
	slices.Sort(out)
	return out
}
