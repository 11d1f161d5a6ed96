package sensor

import "github.com/dgm-robotics/dgm/firmware-sim/seed"

// noisy adds independent normal noise to every state.
type noisy struct {
	std []float64 // K
	src *seed.Source
}

func (n *noisy) apply(r *reading) {
	for i, s := range n.std {
		r.x[i] += s * n.src.Normal()
	}
}
