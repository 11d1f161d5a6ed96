package dynamicsnet

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/optimise"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
)

const (
	largest     = 20   // an error in units of the rms displacement that counts
	keep        = 0.98 // share of the running mean squares that a step leaves
	floor       = 1e-8 // mean square that counts as none
	firstRows   = 1024 // of the first mean squares
	maxFailures = 10   // evaluations that are not finite and that a stage survives
)

// member is one net in training.
type member struct {
	params, grad []float64
	net          mlp.Net   // views of grad
	decays       []float64 // of every parameter: 1, or 0 for a bias
	clip         float64
}

// stage is the objective of one part of the training.
type stage struct {
	data    *paths.Paths
	roll    *rollout
	batch   *batch
	rng     *rand.Rand
	order   []int
	at      int
	errors  []float64 // nodes×B×K, then their adjoints
	squares []float64 // nodes×K, running mean of e²
}

func newStage(roll *rollout, data *paths.Paths, rows int, rng *rand.Rand) *stage {
	s := &stage{data: data, roll: roll, batch: newBatch(data, rows), rng: rng, order: rng.Perm(data.N), errors: make([]float64, data.Nodes*rows*data.K), squares: make([]float64, data.Nodes*data.K)}
	rounds := max(1, firstRows/rows)
	for range rounds {
		s.next()
		s.evaluate()
		s.addSquares(1 / float64(rounds))
	}
	return s
}

// next takes other windows.
func (s *stage) next() {
	if s.at+s.batch.n > len(s.order) {
		s.rng.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
		s.at = 0
	}
	s.batch.take(s.data, s.order[s.at:s.at+s.batch.n])
	s.at += s.batch.n
}

// evaluate writes the errors of the roll-outs.
func (s *stage) evaluate() {
	s.roll.forward(s.batch)
	size := s.batch.n * s.data.K
	for n, at := range s.roll.nodes[1:] {
		for j, d := range at.d {
			e := (d - s.batch.y[n*size+j]) / s.data.RMS[n*s.data.K+j%s.data.K]
			s.errors[n*size+j] = math.Max(-largest, math.Min(largest, e))
		}
	}
}

// addSquares adds so many times the mean squares of the errors.
func (s *stage) addSquares(weight float64) {
	K, B := s.data.K, s.batch.n
	for j, e := range s.errors {
		s.squares[j/(B*K)*K+j%K] += weight / float64(B) * e * e
	}
}

// gradient adds that of the objective to grad, and reports whether all numbers are
// finite.
func (s *stage) gradient(grad *mlp.Net) bool {
	s.next()
	s.evaluate()
	for j := range s.squares {
		s.squares[j] *= keep
	}
	s.addSquares(1 - keep)
	K, B := s.data.K, s.batch.n
	for j, e := range s.errors {
		at := j/(B*K)*K + j%K
		s.errors[j] = e / (s.squares[at] + floor) / s.data.RMS[at] / float64(len(s.squares)*B)
		if math.IsNaN(e) {
			return false
		}
	}
	s.roll.backward(s.batch, s.errors, grad)
	return true
}

// descend minimises the objective. The error is that of ctx, or that the numbers fail.
func (t *member) descend(ctx context.Context, s *stage, size Stage, decay float64) error {
	rate := optimise.Cosine{From: size.Rate, To: size.Rate / 1000, WarmUp: size.Steps / 50, Steps: size.Steps}
	adam := optimise.NewAdam(len(t.params))
	adam.Beta2 = 0.999
	loop := optimise.Loop{
		Steps: size.Steps, Rate: rate.At, MaxFailures: maxFailures,
		Groups: []optimise.Group{{Params: t.params, Grad: t.grad, Optimiser: adam}},
		Evaluate: func(int) optimise.Outcome {
			clear(t.grad)
			if !s.gradient(&t.net) || math.IsNaN(optimise.Clip(t.grad, t.clip)) {
				return optimise.Failed
			}
			return optimise.Descend
		},
		Moved: func(_ int, r float64) {
			for j, d := range t.decays {
				t.params[j] -= r * decay * d * t.params[j]
			}
		},
	}
	_, err := loop.Run(ctx)
	return err
}
