package measure

import "github.com/cupel-dev/cupel/stages/metric"

// servers joins what the engines of replicas say of one trial: counters add up,
// means have the weight of their requests, and of peaks the highest counts. It
// is nil unless every engine says something.
func servers(replicas []measured) *metric.Server {
	for _, b := range replicas {
		if b.trial.Server == nil {
			return nil
		}
	}
	join := func(of func(*metric.Server) metric.Value, with func(all, one, weight float64) float64) metric.Value {
		unit, sum, n := "", 0.0, 0.0
		for _, b := range replicas {
			v := of(b.trial.Server)
			if v.Value == nil {
				return v
			}
			unit = v.Unit
			weight := float64(len(b.trial.Requests))
			n += weight
			sum = with(sum, *v.Value, weight/max(n, 1))
		}
		return metric.Of(sum, unit)
	}
	sum := func(all, one, _ float64) float64 { return all + one }
	mean := func(all, one, weight float64) float64 { return all + float64((one-all)*weight) }
	most := func(all, one, _ float64) float64 { return max(all, one) }
	out := &metric.Server{Engine: replicas[0].trial.Server.Engine}
	out.Requests = join(func(s *metric.Server) metric.Value { return s.Requests }, sum)
	out.PromptTokens = join(func(s *metric.Server) metric.Value { return s.PromptTokens }, sum)
	out.OutputTokens = join(func(s *metric.Server) metric.Value { return s.OutputTokens }, sum)
	out.Preemptions = join(func(s *metric.Server) metric.Value { return s.Preemptions }, sum)
	out.RunningPeak = join(func(s *metric.Server) metric.Value { return s.RunningPeak }, sum)
	out.WaitingPeak = join(func(s *metric.Server) metric.Value { return s.WaitingPeak }, sum)
	out.QueueMS = join(func(s *metric.Server) metric.Value { return s.QueueMS }, mean)
	out.PrefillMS = join(func(s *metric.Server) metric.Value { return s.PrefillMS }, mean)
	out.DecodeMS = join(func(s *metric.Server) metric.Value { return s.DecodeMS }, mean)
	out.TTFTMS = join(func(s *metric.Server) metric.Value { return s.TTFTMS }, mean)
	out.E2EMS = join(func(s *metric.Server) metric.Value { return s.E2EMS }, mean)
	out.PrefixHitShare = join(func(s *metric.Server) metric.Value { return s.PrefixHitShare }, mean)
	out.KVUsePeak = join(func(s *metric.Server) metric.Value { return s.KVUsePeak }, most)
	for _, b := range replicas {
		out.Samples += b.trial.Server.Samples
	}
	return out
}
