package filter

import (
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Learned is the process of a difference equation. Its derivative is exact: the tangent of its program. White
// noise drives the rates, and positions integrate it; other channels are random walks.
type Learned struct {
	Chains []Chain   // with the intensity of the noise of the rate, unit²/s³
	Free   []float64 // K, variance that a step adds to a channel of no chain, unit²

	k, p                     int
	step                     float64     // s
	gain                     []float64   // P, of the inputs
	bias, damping, mass      program.Reg // mass None where the robot has none
	machine                  *program.Machine[float64]
	x, u, first, second, out program.Reg
	part, total              []float64 // K×K
}

// NewLearned allocates all memory for an equation of k states and p inputs.
func NewLearned(m *priordynamics.Model, k, p int) *Learned {
	code := dynamics.Step(m, k, p)
	l := &Learned{
		Free: make([]float64, k), k: k, p: p, step: m.Step, gain: make([]float64, p), u: program.None, mass: program.None, out: code.Outputs[0].Reg,
		machine: program.New[float64](code, program.Options{Seeds: k, Tangents: []string{dynamics.X}}),
		part:    make([]float64, k*k), total: make([]float64, k*k),
	}
	for _, in := range code.Inputs {
		switch in.Name {
		case dynamics.X:
			l.x = in.Reg
		case dynamics.Plan:
			l.u = in.Reg
		case dynamics.First:
			l.first = in.Reg
		case dynamics.Second:
			l.second = in.Reg
		case dynamics.Bias:
			l.bias = in.Reg
		case dynamics.Damping:
			l.damping = in.Reg
		case dynamics.Mass:
			l.mass = in.Reg
		}
	}
	for i := range k {
		l.machine.SetTangent(l.x, i, 0, i, 1)
	}
	l.Changed(priordynamics.NewChange(k, p))
	return l
}

// Changed makes later steps those of a changed robot.
func (l *Learned) Changed(by *priordynamics.Change) {
	for k := range l.k {
		l.machine.Set(l.bias, k, 0, 0, by.Bias[k]*l.step)
		l.machine.Set(l.damping, k, 0, 0, by.Damping[k]*l.step)
	}
	copy(l.gain, by.Gain)
	if l.mass != program.None {
		l.machine.Set(l.mass, 0, 0, 0, by.Mass)
	}
}

// Dim returns K.
func (l *Learned) Dim() int { return l.k }

// Step implements Process. Without an input the equation's inputs are 0.
func (l *Learned) Step(next, f, q, x, u []float64, dt float64) {
	K := l.k
	copy(next, x)
	clear(f)
	for i := range K {
		f[i*K+i] = 1
	}
	for p := range l.p {
		v := 0.
		if p < len(u) {
			v = (1 + l.gain[p]) * u[p]
		}
		l.machine.Set(l.u, p, 0, 0, v)
	}
	for left := dt / l.step; left > 0; left-- {
		l.advance(next, f, min(left, 1))
	}
	for k, v := range l.Free {
		q[k*K+k] += v
	}
	for i := range l.Chains {
		c := &l.Chains[i]
		q[c.Rate*K+c.Rate] += c.Q * dt
		q[c.Rate*K+c.Position] += c.Q * dt * dt / 2
		q[c.Position*K+c.Rate] += c.Q * dt * dt / 2
		q[c.Position*K+c.Position] += c.Q * dt * dt * dt / 3
	}
}

// advance moves x by a part σ of a step, and multiplies its derivative on f.
func (l *Learned) advance(x, f []float64, part float64) {
	K, m := l.k, l.machine
	for k, v := range x {
		m.Set(l.x, k, 0, 0, v)
	}
	w0, w1 := dynamics.PartOfStep(part)
	m.Set(l.first, 0, 0, 0, w0)
	m.Set(l.second, 0, 0, 0, w1)
	m.Value()
	m.Tangent()
	for i := range K {
		x[i] = m.Get(l.out, i, 0, 0)
		for j := range K {
			l.part[i*K+j] = m.TangentOf(l.out, i, 0, 0, j)
		}
	}
	for i := range K {
		row := l.total[i*K : (i+1)*K]
		clear(row)
		for j, v := range l.part[i*K : (i+1)*K] {
			for c, w := range f[j*K : (j+1)*K] {
				row[c] += v * w
			}
		}
	}
	copy(f, l.total)
}
