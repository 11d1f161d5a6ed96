package modeltest

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func net(widths []int, rng *rand.Rand) mlp.Net {
	acts := make([]mlp.Activation, len(widths)-1)
	for i := range acts[:len(acts)-1] {
		acts[i] = mlp.Activation(1 + i%2) // sigmoid, tanh, …
	}
	n := mlp.New(widths, acts)
	n.Glorot(rng)
	for i := range n.Layers {
		for j := range n.Layers[i].B {
			n.Layers[i].B[j] = 0.1 * rng.NormFloat64()
		}
	}
	return n
}

func normal(n int, scale float64, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = scale * rng.NormFloat64()
	}
	return out
}
