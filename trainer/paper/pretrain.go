package paper

import (
	"context"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Pretrain returns a net that maps states x to their derivatives dx (both n×K), with
// hidden layers of the given widths and activation: where the priors of the sampled
// baselines are centred. It is trained on standardised states and derivatives until
// the mean square error is below enough, or for so many steps; the returned net reads
// and returns raw ones. Without bias it is a product of matrices, on raw states
// throughout.
func Pretrain(
	x, dx []float64, k int, hidden []int, act mlp.Activation, bias bool, steps int, enough float64, seed uint64,
) (net mlp.Net, loss float64) {
	n := len(x) / k
	meanX, stdX, in := standard(x, k, bias)
	meanF, stdF, out := standard(dx, k, bias)
	net = matching.NewNet(k, hidden, k, act, rand.New(rand.NewPCG(seed, 0x70726574)))
	flat := make([]float64, net.Params())
	net.Bind(flat)
	d := newNetGradient(&net, n)
	adam := optimise.NewAdam(len(flat))
	adam.Beta2 = 0.999
	best, kept := 0.0, append([]float64(nil), flat...)
	loop := optimise.Loop{
		Steps: steps, Rate: optimise.Cosine{From: 0.02, To: 1e-4, WarmUp: 20, Steps: steps}.At,
		Groups: []optimise.Group{{Params: flat, Grad: d.flat, Optimiser: adam}},
		Evaluate: func(step int) optimise.Outcome {
			net.Forward(d.tape, n, in, nil)
			loss = 0
			for i, y := range d.tape.Out() {
				e := y - out[i]
				loss += e * e / float64(n*k)
				d.bar[i] = 2 * e / float64(n*k)
			}
			if step == 0 || loss < best {
				best = loss
				copy(kept, flat)
			}
			if loss < enough {
				return optimise.Done
			}
			d.backward(&net)
			if !bias {
				for i := range d.grad.Layers {
					clear(d.grad.Layers[i].B)
				}
			}
			return optimise.Descend
		},
	}
	loop.Run(context.Background()) // no evaluation fails: the best parameters are kept apart
	copy(flat, kept)
	// The scalers go into the first and the last layer.
	first, last := &net.Layers[0], &net.Layers[len(net.Layers)-1]
	for o := range last.Out {
		for i := range last.In {
			last.W[i*last.Out+o] *= stdF[o]
		}
		last.B[o] = last.B[o]*stdF[o] + meanF[o]
	}
	for i := range first.In {
		for o := range first.Out {
			w := first.W[i*first.Out+o] / stdX[i]
			first.W[i*first.Out+o] = w
			first.B[o] -= meanX[i] * w
		}
	}
	return net, best
}

// standard returns mean and standard deviation of the columns of x (n×k), and x
// standardised by them; where they are not wanted, 0 and 1.
func standard(x []float64, k int, wanted bool) (mean, std, z []float64) {
	mean, std, z = make([]float64, k), make([]float64, k), append([]float64(nil), x...)
	for c := range k {
		std[c] = 1
		if !wanted {
			continue
		}
		var column []float64
		for i := c; i < len(x); i += k {
			column = append(column, x[i])
		}
		mean[c], std[c] = moments(column)
	}
	for i := range z {
		z[i] = (z[i] - mean[i%k]) / std[i%k]
	}
	return mean, std, z
}
