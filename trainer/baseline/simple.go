package baseline

import "github.com/dgm-robotics/dgm/estimator/channel"

// Velocity predicts x0 + v0 t where a derivative is measured, else x0.
type Velocity struct{ of []int }

// NewVelocity finds the derivatives of the state channels.
func NewVelocity(states []channel.Channel) *Velocity {
	v := &Velocity{}
	for _, c := range states {
		at := -1
		if c.Derivative != "" {
			at = channel.Index(states, c.Derivative)
		}
		v.of = append(v.of, at)
	}
	return v
}

// Displacement returns what is predicted for x_k(t) − x0_k.
func (v *Velocity) Displacement(k int, x0 []float64, t float64) float64 {
	if v.of[k] < 0 {
		return 0
	}
	return x0[v.of[k]] * t
}
