package evaluate

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// startNoise adds noise to start states, as on a robot whose state estimate is worse
// than that of the log.
type startNoise struct {
	seed uint64
	std  []float64 // K, of what is added
	cov  []float64 // K×K, of the noisy start: that and the sensor's; nil = hidden
	x0   []float64 // K
	src  *rand.ChaCha8
	rng  *rand.Rand
}

// newStartNoise returns an error if the model has no sensor noise.
func newStartNoise(m *model.Model, opt Options) (*startNoise, error) {
	s := &startNoise{seed: opt.Seed, std: make([]float64, m.K), x0: make([]float64, m.K), src: rand.NewChaCha8([32]byte{})}
	s.rng = rand.New(s.src)
	if !opt.HideStartCov {
		s.cov = make([]float64, m.K*m.K)
	}
	known := false
	for k, r := range m.Sensor {
		known = known || r > 0
		s.std[k] = opt.StartNoise * math.Sqrt(r)
		if s.cov != nil {
			s.cov[k*m.K+k] = r * (1 + opt.StartNoise*opt.StartNoise)
		}
	}
	if !known {
		return nil, errors.New("the model has no sensor noise to scale the noise of start states by: train it with separate = true")
	}
	return s, nil
}

// start returns the noisy state at a sample of f and its covariance, and writes the noise
// to shift (K). It depends on the seed and the window alone.
func (s *startNoise) start(shift []float64, f *window.Flight, sample int) (x0, cov []float64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], s.seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(f.Segment))
	binary.LittleEndian.PutUint64(key[16:], uint64(f.Origin))
	binary.LittleEndian.PutUint64(key[24:], uint64(sample))
	s.src.Seed(key)
	for k, x := range f.State(sample) {
		shift[k] = s.std[k] * s.rng.NormFloat64()
		s.x0[k] = x + shift[k]
	}
	return s.x0, s.cov
}
