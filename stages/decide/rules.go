package decide

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cupel-dev/cupel/engine/guard"
	"github.com/cupel-dev/cupel/engine/spec"
)

var (
	qualityEnv  = sync.OnceValues(func() (*guard.Env, error) { return guard.New(Quality{}) })
	capacityEnv = sync.OnceValues(func() (*guard.Env, error) { return guard.New(Capacity{}) })
	energyEnv   = sync.OnceValues(func() (*guard.Env, error) { return guard.New(Energy{}) })
)

// envFor returns the environment for guards on a kind of workload, in which the
// metrics of priors can be named. Its error is a sentence for the author of the
// campaign.
func envFor(kind string, priors []string) (*guard.Env, error) {
	switch {
	case kind == "quality" && len(priors) == 0:
		return qualityEnv()
	case kind == "quality":
		return guard.New(Quality{}, priorNames(priors)...)
	case kind == energyKind && len(priors) == 0:
		return energyEnv()
	case kind == energyKind:
		return guard.New(Energy{}, priorNames(priors)...)
	case serving(kind) && len(priors) == 0:
		return capacityEnv()
	case serving(kind):
		return guard.New(Capacity{}, priorNames(priors)...)
	case kind == "noise-floor":
		return nil, fmt.Errorf("a noise floor has no guards of its own; put the guard on the quality workload that it repeats and name noise.lo, noise.hi or noise.excess")
	}
	return nil, fmt.Errorf("guards on workloads of kind %s do not exist; there are guards on quality workloads and on all that measure serving", kind)
}

const energyKind = "energy"

// serving reports whether a kind of workload yields cells.
func serving(kind string) bool { return spec.Workload{Kind: kind}.Serving() }

// Variables lists what a rule may name on a workload of that kind; nil for
// kinds without guards.
func Variables(kind string) []guard.Variable {
	env, err := envFor(kind, nil)
	if err != nil {
		return nil
	}
	return env.Variables()
}

// rule is a compiled guard rule and what it rests on.
type rule struct {
	*guard.Program
}

// names reports whether the rule names a path in the group, or the path
// itself.
func (r rule) names(group string) bool {
	for _, p := range r.Paths() {
		if p == group || strings.HasPrefix(p, group+".") {
			return true
		}
	}
	return false
}

// compares reports whether the rule rests on the comparison, and not only on
// counts of one side's own answers.
func (r rule) compares() bool {
	for _, p := range r.measuredPaths() {
		side, rest, _ := strings.Cut(p, ".")
		if side == "cost" {
			continue
		}
		if side != "candidate" && side != "baseline" || !own[rest] {
			return true
		}
	}
	return false
}
