package stats

import "math/big"

// Constants of numpy/random/bit_generator.pyx (SeedSequence, after M. O'Neill,
// "Developing a seed_seq alternative", 2015).
const (
	hashInitA = 0x43b0d7e5
	hashMulA  = 0x931e8875
	hashInitB = 0x8b51f9dd
	hashMulB  = 0x58f38ded
	mixMulL   = 0xca01f9dd
	mixMulR   = 0x4973f715
	poolWords = 4
)

// SeedSequence is NumPy's entropy pool. The zero value is not usable; make one
// with [NewSeedSequence] or [BigSeedSequence].
type SeedSequence struct {
	pool [poolWords]uint32
}

// NewSeedSequence hashes a 64-bit seed. spawnKey words select an independent
// child stream, as numpy's SeedSequence(seed, spawn_key=...) does.
func NewSeedSequence(seed uint64, spawnKey ...uint32) SeedSequence {
	words := []uint32{uint32(seed)}
	if hi := uint32(seed >> 32); hi != 0 {
		words = append(words, hi)
	}
	return newSeedSequence(words, spawnKey)
}

// BigSeedSequence hashes a seed of any size. The sign is ignored: NumPy
// refuses negative seeds, and so should the caller.
func BigSeedSequence(seed *big.Int, spawnKey ...uint32) SeedSequence {
	var words []uint32
	b := seed.Bytes()
	for end := len(b); end > 0; end -= 4 {
		var w uint32
		for _, x := range b[max(0, end-4):end] {
			w = w<<8 | uint32(x)
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		words = []uint32{0}
	}
	return newSeedSequence(words, spawnKey)
}

func newSeedSequence(words, spawnKey []uint32) SeedSequence {
	if len(spawnKey) > 0 {
		for len(words) < poolWords {
			words = append(words, 0)
		}
		words = append(words, spawnKey...)
	}
	var s SeedSequence
	h := uint32(hashInitA)
	hash := func(v uint32) uint32 {
		v ^= h
		h *= hashMulA
		v *= h
		return v ^ v>>16
	}
	for i := range s.pool {
		var w uint32
		if i < len(words) {
			w = words[i]
		}
		s.pool[i] = hash(w)
	}
	for src := range s.pool {
		for dst := range s.pool {
			if src != dst {
				s.pool[dst] = mixWords(s.pool[dst], hash(s.pool[src]))
			}
		}
	}
	for i := poolWords; i < len(words); i++ {
		for dst := range s.pool {
			s.pool[dst] = mixWords(s.pool[dst], hash(words[i]))
		}
	}
	return s
}

func mixWords(x, y uint32) uint32 {
	r := x*mixMulL - y*mixMulR
	return r ^ r>>16
}

// State returns the first four 64-bit words of numpy's generate_state.
func (s SeedSequence) State() [4]uint64 {
	var out [4]uint64
	h := uint32(hashInitB)
	for i := range 8 {
		v := s.pool[i%poolWords] ^ h
		h *= hashMulB
		v *= h
		v ^= v >> 16
		out[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return out
}
