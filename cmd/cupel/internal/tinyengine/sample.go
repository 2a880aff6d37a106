package tinyengine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// sampler picks the next token. With the same seed it draws the same tokens
// from the same logits, whatever else the process computes: the generator
// belongs to the request.
type sampler struct {
	temperature float64
	topP        float64
	rng         *rand.Rand
	order       []int32
	prob        []float64
}

func newSampler(temperature, topP float64, seed uint64) *sampler {
	if topP <= 0 || topP > 1 {
		topP = 1
	}
	return &sampler{temperature: temperature, topP: topP, rng: rand.New(rand.NewPCG(seed, 0x637570656c))}
}

func (s *sampler) next(logits []float32) int32 {
	best := argmax(logits)
	if s.temperature <= 0 {
		return best
	}
	if s.prob == nil {
		s.prob, s.order = make([]float64, len(logits)), make([]int32, len(logits))
	}
	total := s.softmax(logits, logits[best])
	if !(total > 0 && total <= math.MaxFloat64) { // a broken model; stay defined
		return best
	}
	if s.topP == 1 {
		return s.draw(total, best)
	}
	return s.drawNucleus(total, best)
}

// softmax leaves exp((x-top)/temperature) in prob and returns their sum.
func (s *sampler) softmax(logits []float32, top float32) (total float64) {
	for i, v := range logits {
		s.order[i] = int32(i)
		s.prob[i] = math.Exp(float64(v-top) / s.temperature)
		total += s.prob[i]
	}
	return total
}

// draw goes through order until the mass is used up; best is for the rounding
// that may be left at the end.
func (s *sampler) draw(mass float64, best int32) int32 {
	left := s.rng.Float64() * mass
	for _, id := range s.order {
		left -= s.prob[id]
		if left < 0 {
			return id
		}
	}
	return best
}

// drawNucleus draws from the most likely tokens that together reach topP.
func (s *sampler) drawNucleus(total float64, best int32) int32 {
	slices.SortFunc(s.order, func(a, b int32) int {
		if c := cmp.Compare(s.prob[b], s.prob[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	var mass float64
	for n, id := range s.order {
		mass += s.prob[id]
		if mass >= s.topP*total {
			all := s.order
			s.order = s.order[:n+1]
			id := s.draw(mass, best)
			s.order = all
			return id
		}
	}
	return s.draw(mass, best)
}

// argmax is the first largest logit; NaN never wins.
func argmax(logits []float32) int32 {
	best, top := 0, float32(math.Inf(-1))
	for i, v := range logits {
		if v > top {
			best, top = i, v
		}
	}
	return int32(best)
}
