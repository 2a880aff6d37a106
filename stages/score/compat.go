package score

// The compat scorers give the values of three widely copied Python scorers,
// traps included, so that an older series of results can be continued. New item
// sets are better served by the scorers of the same name without the prefix.

type noParams struct{}
