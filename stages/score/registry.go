package score

import "slices"

// Scorers is the table of all scorers; documentation is printed from it.
var Scorers = []Scorer{
	exact,
	numeric,
	choice,
	regex,
	contains,
	containsAll,
	containsAny,
	requiredFacts,
	jsonSchema,
	jsonEqual,
	toolCall,
	similarity,
	code,
	execScorer,
	judgeScorer,
	compatJSONSchema,
	compatNumeric,
	compatRequiredFacts,
}

var byName = func() map[string]Scorer {
	m := make(map[string]Scorer, len(Scorers))
	for _, s := range Scorers {
		m[s.Name] = s
	}
	return m
}()

// Lookup returns the scorer of that name.
func Lookup(name string) (Scorer, bool) {
	s, ok := byName[name]
	return s, ok
}

// Names lists the scorers, sorted.
func Names() []string {
	names := make([]string, len(Scorers))
	for i, s := range Scorers {
		names[i] = s.Name
	}
	slices.Sort(names)
	return names
}
