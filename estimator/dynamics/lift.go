package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// turns finds the angles whose sines and cosines a lift reads.
type turns struct {
	of    []int
	omega []float64
}

func (a *turns) place(of int, omega float64) int {
	for i, k := range a.of {
		if k == of && a.omega[i] == omega {
			return i
		}
	}
	a.of, a.omega = append(a.of, of), append(a.omega, omega)
	return len(a.of) - 1
}

// lift appends the lifted, standardised coordinates of states x (K×any), and below them the rows of others, which
// are coordinates already.
func lift(p *program.Program, l *channel.Lift, x program.Reg, others ...program.Reg) program.Reg {
	var angles turns
	L, K := l.Dim(), p.Rows(x)
	if L == 0 {
		return p.Stack(others...)
	}
	at, dry := make([]int, L), 0
	for i, kind := range l.Kind {
		switch kind {
		case channel.Sine, channel.Cosine:
			at[i] = angles.place(l.Of[i], l.Omega[i])
		case channel.Friction:
			at[i], dry = dry, dry+1
		}
	}
	n := len(angles.of)
	values, trig, c := make([]float64, L*K), make([]float64, L*2*n), make([]float64, L)
	slow, friction := make([]float64, dry*K), make([]float64, L*dry)
	for i, of := range l.Of {
		c[i] = -l.Mean[i] / l.Std[i]
		switch l.Kind[i] {
		case channel.Value:
			values[i*K+of] = 1 / l.Std[i]
		case channel.Cosine:
			trig[i*2*n+at[i]] = 1 / l.Std[i]
		case channel.Sine:
			trig[i*2*n+n+at[i]] = 1 / l.Std[i]
		case channel.Friction:
			slow[at[i]*K+of], friction[i*dry+at[i]] = l.Omega[i], 1/l.Std[i]
		}
	}
	parts := []program.Part{{X: x, M: values}}
	if n > 0 {
		turn := make([]float64, n*K)
		for i, of := range angles.of {
			turn[i*K+of] = angles.omega[i]
		}
		parts = append(parts, program.Part{X: p.SinCos(p.Affine(n, nil, program.Part{X: x, M: turn})), M: trig})
	}
	if dry > 0 {
		parts = append(parts, program.Part{X: p.Function(program.Tanh, p.Affine(dry, nil, program.Part{X: x, M: slow})), M: friction})
	}
	return p.Stack(append([]program.Reg{p.Affine(L, c, parts...)}, others...)...)
}
