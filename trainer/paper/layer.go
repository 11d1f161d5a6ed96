package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/mlp"
)

// evaluate sets y (Out) to a layer at one input x (In).
func evaluate(y []float64, l *mlp.Layer, x []float64) {
	copy(y, l.B)
	for r, v := range x {
		for o, w := range l.W[r*l.Out : (r+1)*l.Out] {
			y[o] += v * w
		}
	}
	switch l.Act {
	case mlp.Sigmoid:
		for o, v := range y {
			y[o] = 1 / (1 + math.Exp(-v))
		}
	case mlp.Tanh:
		for o, v := range y {
			y[o] = math.Tanh(v)
		}
	}
}
