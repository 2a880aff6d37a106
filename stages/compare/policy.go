package compare

import (
	"fmt"
	"slices"
)

// Policies for items that have no score on one side.
const (
	// Undetermined leaves them out of the statistics; that there are any makes
	// every guard on the comparison undetermined. It is the default.
	Undetermined = "undetermined"
	// Zero takes the worst case for the candidate: its missing score is 0, the
	// baseline's is 1, and both when both are missing.
	Zero = "zero"
	// Bound leaves them out and widens every interval by m/n at both ends, m
	// of the n items being without a pair: no scores that they could have
	// would move the difference further.
	Bound = "bound"
)

func checkPolicy(policy string) (string, error) {
	if policy == "" {
		return Undetermined, nil
	}
	if !slices.Contains([]string{Undetermined, Zero, Bound}, policy) {
		return "", fmt.Errorf("missing: %q is not one of undetermined, zero, bound", policy)
	}
	return policy, nil
}
