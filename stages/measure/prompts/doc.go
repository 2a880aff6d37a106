// Package prompts builds what the serving workloads send and says whether an
// answer keeps its contract. It is pure: the same cell has the same prompts
// everywhere and always, for every candidate that needs the same number of
// characters per token.
//
// A nominal length is characters, never tokens: how many tokens a prompt has is
// what the engine counts, and Calibration finds the characters that land there.
package prompts
