package paper

import "github.com/dgm-robotics/dgm/estimator/numeric/mlp"

// evaluate sets y (Out) to a layer at one input x (In).
func evaluate(y []float64, l *mlp.Layer, x []float64) {
	copy(y, l.B)
	for r, v := range x {
		for o, w := range l.W[r*l.Out : (r+1)*l.Out] {
			y[o] += v * w
		}
	}
	l.Act.Activate(y)
}
