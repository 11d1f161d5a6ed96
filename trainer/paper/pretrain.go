package paper

import (
	"context"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Pretrain returns a net that maps states x to their derivatives dx (both n×K), with
// hidden layers of the given widths and activation: where the priors of the sampled
// baselines are centred. It is trained on standardised states and derivatives until
// the mean square error is below enough, or for so many steps; the returned net reads
// and gives raw ones. Without bias it is a product of matrices, on raw states
// throughout.
func Pretrain(x, dx []float64, k int, hidden []int, act mlp.Activation, bias bool, steps int, enough float64, seed uint64) (net mlp.Net, loss float64) {
	rng := rand.New(rand.NewPCG(seed, 0x70726574))
	n := len(x) / k
	mx, sx, in := standard(x, k, bias)
	mf, sf, out := standard(dx, k, bias)
	widths := append(append([]int{k}, hidden...), k)
	acts := make([]mlp.Activation, len(widths)-1)
	for i := range hidden {
		acts[i] = act
	}
	net = mlp.New(widths, acts)
	net.Glorot(rng)
	flat := make([]float64, net.Params())
	net.Bind(flat)
	grad := mlp.New(widths, acts)
	g := make([]float64, len(flat))
	grad.Bind(g)
	tape, adj := mlp.NewTape(&net, n, false), objective.NewNetAdjoint(&net, n, false, false)
	bar := make([]float64, n*k)
	adam := optimise.NewAdam(len(flat))
	adam.Beta2 = 0.999
	best, kept := 0.0, append([]float64(nil), flat...)
	loop := optimise.Loop{
		Steps: steps, Rate: optimise.Cosine{From: 0.02, To: 1e-4, WarmUp: 20, Steps: steps}.At,
		Groups: []optimise.Group{{Params: flat, Grad: g, Optimiser: adam}},
		Evaluate: func(step int) optimise.Outcome {
			net.Forward(tape, n, in, nil)
			loss = 0
			for i, y := range tape.Out()[:n*k] {
				e := y - out[i]
				loss += e * e / float64(n*k)
				bar[i] = 2 * e / float64(n*k)
			}
			if step == 0 || loss < best {
				best = loss
				copy(kept, flat)
			}
			if loss < enough {
				return optimise.Done
			}
			clear(g)
			adj.Run(&net, &grad, tape, bar, nil)
			if !bias {
				for i := range grad.Layers {
					clear(grad.Layers[i].B)
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
			last.W[i*last.Out+o] *= sf[o]
		}
		last.B[o] = last.B[o]*sf[o] + mf[o]
	}
	for i := range first.In {
		for o := range first.Out {
			w := first.W[i*first.Out+o] / sx[i]
			first.W[i*first.Out+o] = w
			first.B[o] -= mx[i] * w
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
	}
	if !wanted {
		return mean, std, z
	}
	one := &Data{K: k, Trajectories: []Trajectory{{T: make([]float64, len(x)/k), Y: x}}}
	for c := range k {
		mean[c], std[c] = moments(one, c)
	}
	for i := range z {
		z[i] = (z[i] - mean[i%k]) / std[i%k]
	}
	return mean, std, z
}
