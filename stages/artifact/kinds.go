package artifact

// Kinds lists all kinds, in the order of the documentation.
var Kinds = []Kind{Capacity, Quality, Speculative, Campaign, Resolution, Preflight, Control, Multimodal, Stability, ABComparison, Decided, Pinned, Specification, Listing, Rows, Prior, Narrative, OutOfScope}
