package mlp

import "math"

// Activate replaces y by act(y).
func (a Activation) Activate(y []float64) {
	switch a {
	case Linear:
	case Sigmoid: // 1/(1 + e^−y)
		if vector {
			replace(y, -1, 0, 1)
			return
		}
		for i, v := range y {
			y[i] = sigmoid(v)
		}
	case Tanh: // (e^2y − 1)/(e^2y + 1)
		if vector {
			replace(y, 2, 1, 0)
			return
		}
		for i, v := range y {
			y[i] = math.Tanh(v)
		}
	default:
		panic(badActivation)
	}
}

// replace is activateAVX2: accurate to a few units in the last place, with bits that do
// not depend on the position of a number. Below −708 the sigmoid stays at 3e-308, and tanh of −0 is +0.
func replace(y []float64, c, a, b float64) {
	if len(y) > 0 {
		activateAVX2(&y[0], len(y), c, a, b)
	}
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// Derivative sets to to act'·from, with act' as a function of y = act(a) (n each; to may
// be from).
func (a Activation) Derivative(to, y, from []float64) {
	to, y = to[:len(from)], y[:len(from)]
	switch a {
	case Linear:
		copy(to, from)
	case Sigmoid:
		for i, v := range y {
			to[i] = v * (1 - v) * from[i]
		}
	case Tanh:
		for i, v := range y {
			to[i] = (1 - v*v) * from[i]
		}
	}
}

const badActivation = "mlp: unknown activation"
