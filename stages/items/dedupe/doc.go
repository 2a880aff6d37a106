// Package dedupe finds texts that are the same or nearly so.
//
// The same: equal after normalisation, by SHA-256. Nearly: the Jaccard index of
// their sets of 5-grams of characters is at least a threshold. Candidates come
// from MinHash and LSH bands, which miss less than one pair in a thousand at the
// threshold; every one is confirmed by the exact index, so that nothing is called
// near that is not. Characters and not words, because a prompt may have four
// words, or be written in a script without spaces. The package is pure and seeds
// nothing: the same texts in the same order give the same answer.
package dedupe
