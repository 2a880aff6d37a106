package suite

import "github.com/cupel-dev/cupel/stages/items"

// Counts are items by label and value.
type Counts map[string]map[string]int

// Add counts one item.
func (c Counts) Add(strata map[string]string) {
	for label, value := range strata {
		if c[label] == nil {
			c[label] = map[string]int{}
		}
		c[label][value]++
	}
}

// Census counts a set without opening anything: the index says what is held
// out.
type Census struct {
	Development       int            `json:"development"`
	HeldOut           int            `json:"held_out"`
	Labels            Counts         `json:"labels"` // of both parts
	HeldOutLabels     Counts         `json:"held_out_labels"`
	Sources           map[string]int `json:"sources"`
	Scorers           []string       `json:"scorers"` // names
	DevelopmentLabels Counts         `json:"-"`
}

// Census reads the set once.
func (s *Set) Census() (Census, error) {
	c := Census{Labels: Counts{}, HeldOutLabels: Counts{}, DevelopmentLabels: Counts{}, Sources: map[string]int{}}
	used := map[string]bool{}
	err := s.Open(func(it items.Item) error {
		c.Development++
		c.count(it.Strata, it.Source, c.DevelopmentLabels)
		for _, sc := range it.Scorer {
			used[sc.Name] = true
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	err = s.Index(func(e Entry) error {
		c.HeldOut++
		c.count(e.Strata, e.Source, c.HeldOutLabels)
		return nil
	})
	if s.Split != nil {
		for _, name := range s.Split.HeldOut.Scorers {
			used[name] = true
		}
	}
	c.Scorers = sortedKeys(used)
	return c, err
}

func (c *Census) count(strata map[string]string, source string, part Counts) {
	c.Labels.Add(strata)
	part.Add(strata)
	if source == "" {
		source = "unknown"
	}
	c.Sources[source]++
}
