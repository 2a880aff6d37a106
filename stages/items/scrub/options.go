package scrub

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Options say what is looked for. The zero value runs every rule for every
// country.
type Options struct {
	Off       []string // names of rules that do not run, see Rules
	Countries []string // national ids of these countries, such as "de"; nil = all, "none" = none
	Custom    []Custom // found before all rules
}

// Custom is a pattern of the user. What it matches becomes <NAME_1>; if the
// pattern has a group, only what the first group matches.
type Custom struct {
	Name    string // capital letters, digits and _, such as CUSTOMER
	Pattern string // Go regular expression
}

var customName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,30}$`)

// Scrubber replaces by one set of options. It may be used by many goroutines.
type Scrubber struct {
	custom []customRule
	rules  []rule
}

type customRule struct {
	name  string
	re    *regexp.Regexp
	group int // submatch that is replaced
}

// New checks the options.
func New(o Options) (*Scrubber, error) {
	s := &Scrubber{}
	for _, c := range o.Custom {
		r, err := compile(c)
		if err != nil {
			return nil, err
		}
		s.custom = append(s.custom, r)
	}
	off, err := o.offRules()
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if !off[r.Name] {
			s.rules = append(s.rules, r)
		}
	}
	return s, nil
}

func compile(c Custom) (customRule, error) {
	if !customName.MatchString(c.Name) {
		return customRule{}, step.WithHint(fmt.Errorf("scrub: the name %q of a pattern cannot be a placeholder", c.Name),
			"use capital letters, digits and _, such as CUSTOMER")
	}
	re, err := regexp.Compile(c.Pattern)
	if err != nil {
		return customRule{}, fmt.Errorf("scrub: pattern %s: %w", c.Name, err)
	}
	if re.MatchString("") {
		return customRule{}, step.WithHint(fmt.Errorf("scrub: pattern %s matches the empty text", c.Name), "use + instead of *")
	}
	return customRule{name: c.Name, re: re, group: min(re.NumSubexp(), 1)}, nil
}

// offRules resolves names and countries; an unknown one is an error, because a
// misspelt rule would otherwise run, and a misspelt country not.
func (o Options) offRules() (map[string]bool, error) {
	off := map[string]bool{}
	for _, name := range o.Off {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.Name == name }) {
			return nil, step.WithHint(fmt.Errorf("scrub: there is no rule %q", name), "rules: "+strings.Join(names(), ", "))
		}
		off[name] = true
	}
	if o.Countries == nil {
		return off, nil
	}
	known := Countries()
	for _, c := range o.Countries {
		if c != "none" && !slices.Contains(known, c) {
			return nil, step.WithHint(fmt.Errorf("scrub: no national id of country %q is known", c),
				"countries: "+strings.Join(known, ", ")+", none")
		}
	}
	for _, r := range rules {
		if r.Country != "" && !slices.Contains(o.Countries, r.Country) {
			off[r.Name] = true
		}
	}
	return off, nil
}

// Rules returns every rule in the order in which they run: an earlier one keeps
// what it found.
func Rules() []Rule {
	out := make([]Rule, len(rules))
	for i, r := range rules {
		out[i] = r.Rule
	}
	return out
}

// Countries returns the codes of the countries whose national ids are known.
func Countries() []string {
	var out []string
	for _, r := range rules {
		if r.Country != "" && !slices.Contains(out, r.Country) {
			out = append(out, r.Country)
		}
	}
	slices.Sort(out)
	return out
}

func names() []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Name)
	}
	return out
}
