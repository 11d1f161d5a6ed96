package channel

import "math"

// Lift maps a state to the coordinates of a net: a periodic channel to its sine and
// cosine, an invariant one to none, and every coordinate standardised.
//
// Coordinate l of the lifted state depends on channel Of[l] alone.
type Lift struct {
	Of    []int       // L, the channel that coordinate l reads
	Kind  []Embedding // L
	Omega []float64   // L, 2π/period of that channel; of Friction one over the rate within which it turns; 0 of Value
	Mean  []float64   // L
	Std   []float64   // L, all > 0
}

// Embedding is the function of its channel that a coordinate holds.
type Embedding uint8

// The embeddings. Their numbers are stored in model files and never change.
const (
	Value  Embedding = 0
	Sine   Embedding = 1
	Cosine Embedding = 2

	// Friction is tanh(ωx) of a rate x: what dry friction slows by.
	Friction Embedding = 3
)

// NewLift returns the lifting by the structure of the states, not yet standardised
// (means 0, stds 1).
func NewLift(states []Channel) Lift {
	var l Lift
	for k, c := range states {
		switch {
		case c.Period > 0:
			l.add(k, Sine, 2*math.Pi/c.Period)
			l.add(k, Cosine, 2*math.Pi/c.Period)
		case !c.Invariant:
			l.add(k, Value, 0)
		}
	}
	return l
}

// Identity returns the lifting of k channels to themselves.
func Identity(k int) Lift {
	var l Lift
	for i := range k {
		l.add(i, Value, 0)
	}
	return l
}

// AddFriction adds the dry friction of channel k, a rate, which turns within width of rest.
func (l *Lift) AddFriction(k int, width float64) { l.add(k, Friction, 1/width) }

func (l *Lift) add(k int, r Embedding, omega float64) {
	l.Of = append(l.Of, k)
	l.Kind = append(l.Kind, r)
	l.Omega = append(l.Omega, omega)
	l.Mean = append(l.Mean, 0)
	l.Std = append(l.Std, 1)
}

// Dim returns the number L of coordinates.
func (l *Lift) Dim() int { return len(l.Of) }

// Apply writes the lifted, standardised state to dst (L) from x (K).
func (l *Lift) Apply(dst, x []float64) {
	cos := 0.0 // that came with the sine before
	n := len(l.Of)
	kind, omega, mean, std, dst := l.Kind[:n], l.Omega[:n], l.Mean[:n], l.Std[:n], dst[:n]
	for i, k := range l.Of {
		v := x[k]
		switch kind[i] {
		case Sine:
			v, cos = math.Sincos(omega[i] * v)
		case Cosine:
			if i > 0 && kind[i-1] == Sine && l.Of[i-1] == k && omega[i-1] == omega[i] {
				v = cos
			} else {
				v = math.Cos(omega[i] * v)
			}
		case Friction:
			v = math.Tanh(omega[i] * v)
		}
		dst[i] = (v - mean[i]) / std[i]
	}
}

// Derivative writes ∂dst[l]/∂x[Of[l]] to dst (L).
func (l *Lift) Derivative(dst, x []float64) {
	for i, k := range l.Of {
		d := 1.0
		switch l.Kind[i] {
		case Sine:
			d = l.Omega[i] * math.Cos(l.Omega[i]*x[k])
		case Cosine:
			d = -l.Omega[i] * math.Sin(l.Omega[i]*x[k])
		case Friction:
			t := math.Tanh(l.Omega[i] * x[k])
			d = l.Omega[i] * (1 - t*t)
		}
		dst[i] = d / l.Std[i]
	}
}

// Standardise sets Mean and Std (population) from n states x (n×K). A coordinate
// that does not vary keeps Std 1.
func (l *Lift) Standardise(x []float64, k int) {
	n := len(x) / k
	raw := make([]float64, l.Dim())
	for i := range l.Mean {
		l.Mean[i], l.Std[i] = 0, 1
	}
	mean, sq := make([]float64, l.Dim()), make([]float64, l.Dim())
	for r := range n {
		l.Apply(raw, x[r*k:(r+1)*k])
		for i, v := range raw {
			delta := v - mean[i]
			mean[i] += delta / float64(r+1)
			sq[i] += delta * (v - mean[i])
		}
	}
	for i := range mean {
		l.Mean[i] = mean[i]
		if s := math.Sqrt(sq[i] / float64(max(n, 1))); s > 1e-12*(1+math.Abs(mean[i])) {
			l.Std[i] = s
		}
	}
}
