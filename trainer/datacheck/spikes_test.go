package datacheck

import (
	"math/rand/v2"
	"testing"
)

// However many spikes there are: most are found, and next to nothing else.
func TestSpikesThatComeOften(t *testing.T) {
	for _, share := range []float64{0.002, 0.01, 0.03} {
		const noise = 0.01
		log := swing(even(60, 100), noise, 5)
		rng := rand.New(rand.NewPCG(6, 1))
		s := &log.Segments[0]
		K := len(s.X) / len(s.T)
		spikes := map[int]bool{}
		for i := 5; i < len(s.T)-5; i++ {
			if rng.Float64() < share && !spikes[i-1] && !spikes[i-2] {
				spikes[i] = true
				size := 25 * noise
				if rng.IntN(2) == 0 {
					size = -size
				}
				s.X[i*K] += size
			}
		}
		r := Check(log, Options{})
		found, wrong := 0, 0
		for c, col := range r.Masks[0] {
			for i, why := range col {
				switch {
				case why&BadValue == 0:
				case c == 0 && spikes[i]:
					found++
				default:
					wrong++
				}
			}
		}
		if 10*found < 8*len(spikes) || wrong > 3 {
			t.Errorf("share %v: %d of %d spikes found, %d other samples taken for some", share, found, len(spikes), wrong)
		}
	}
}
