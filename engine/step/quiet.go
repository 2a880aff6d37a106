package step

// Quiet is a resource of its own kind: while a step holds it, the engine runs
// nothing else. A timing cell asks for it, because scoring on the client's
// cores would show in its latencies.
const Quiet = "quiet"
