package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
)

// memberAdjoint is the memory for the adjoints of the members of a Predictor.
type memberAdjoint struct {
	mean       []float64 // T×K, of the mean of a member, output units
	rows       []float64 // T×I, of the rows, sum over members
	head       []float64 // T×Out of the widest head
	features   []float64 // of one channel and time
	net, other []float64 // of one layer
	exact      bool      // whether any member has the exact kernel
}

func newMemberAdjoint(p *Predictor) memberAdjoint {
	T := len(p.times)
	a := memberAdjoint{mean: make([]float64, T*p.m.K), rows: make([]float64, T*p.m.Inputs.Dim())}
	head, features, width := 0, 0, 0
	for i := range p.m.Members {
		e := &p.m.Members[i].Map
		head, features, width = max(head, e.Head.Out()), max(features, e.Features()), max(width, e.Core.Widest(), e.Head.Widest())
		a.exact = a.exact || p.members[i].exact != nil
	}
	a.head, a.features, a.net, a.other = make([]float64, T*head), make([]float64, features), make([]float64, width), make([]float64, width)
	return a
}

// addMembers adds to dst what the ensemble contributes, whose part of mean is that of own's
// condition.
func (p *Predictor) addMembers(dst *Gradient, q *Query, mean []float64, own *Prediction) {
	a, weight := &dst.member, p.networkWeight[own.condition()].value
	for j, b := range mean {
		a.mean[j] = b * p.m.Scale[j%p.m.K] * weight[j] / float64(len(p.members))
	}
	clear(a.rows)
	if a.exact {
		p.tangentRows(a, own.Readout)
	} else {
		for i := range p.members {
			p.memberRows(a, &p.members[i], own.Readout)
		}
	}
	p.addRows(dst, q)
}

// tangentRows sets the adjoints of the rows by one JVP for each of their numbers.
func (p *Predictor) tangentRows(a *memberAdjoint, readout Readout) {
	I, K := p.m.Inputs.Dim(), p.m.K
	for c := 1; c < I; c++ {
		for i := range p.times {
			ds := p.rows.DS[i*I : (i+1)*I]
			clear(ds)
			ds[c] = 1
		}
		clear(p.dsum)
		p.addTangents(p.dsum, 1, 0, readout)
		for i := range p.times {
			a.rows[i*I+c] = dot(a.mean[i*K:(i+1)*K], p.dsum[i*K:(i+1)*K])
		}
	}
}

// memberRows adds the adjoints of the rows by one member with random features.
func (p *Predictor) memberRows(a *memberAdjoint, w *memberWork, readout Readout) {
	e, K, I := &w.e.Map, p.m.K, p.m.Inputs.Dim()
	out, F, post := e.Head.Out(), e.Features(), w.e.At(readout)
	for i, t := range p.times {
		p.rows.Fill(i, &p.m.Inputs, e.Gated, e.Basis, t)
	}
	e.Forward(w.eval, p.rows, false)
	clear(a.head)
	for k := range K {
		e.RandomFeatures(w.phi, w.eval, k)
		basis := post.Weights[k][e.F:]
		for i := range p.times {
			bar := a.mean[i*K+k]
			for f, v := range post.Weights[k] {
				a.features[f] = bar * v
			}
			z := i*out + K + k*e.D
			w.phi.Adjoint(e, w.eval, i, a.features[:F], nil, a.head[z:z+e.D], nil)
			a.head[i*out+k] = bar * p.rows.Gate[i]
			power := bar * p.rows.Gate[i] * math.Exp(e.LogAmp[2*k+1])
			for term := range e.Basis.Terms {
				for c := 1; c < I; c++ {
					a.rows[i*I+c] += power * basis[term*I+c]
				}
				power *= p.rows.S[i*I]
			}
		}
	}
	for i := range p.times {
		copy(a.net, a.head[i*out:(i+1)*out])
		copy(a.net, e.Head.Adjoint(w.eval.Head, i, a.net, a.other))
		for c, b := range e.Core.Adjoint(w.eval.Core, i, a.net, a.other) {
			a.rows[i*I+c] += b
		}
	}
}

// addRows adds to dst what the rows contribute.
func (p *Predictor) addRows(dst *Gradient, q *Query) {
	in, a := &p.m.Inputs, &dst.member
	I, L, P := in.Dim(), in.Lift.Dim(), p.m.P
	in.Lift.Derivative(p.slope, q.X0)
	for i, t := range p.times {
		row := a.rows[i*I : (i+1)*I]
		for l, of := range in.Lift.Of {
			dst.X0[of] += row[1+l] * p.slope[l]
		}
		for j := range in.Knots {
			if P == 0 || !dst.addKnot(in, j, t, row[1+L+j*P:]) {
				break
			}
		}
	}
}

// addKnot adds what knot j contributes at t, whose adjoint is bar (P), and reports whether its
// block has begun.
func (g *Gradient) addKnot(in *feature.Inputs, j int, t float64, bar []float64) bool {
	from, to, length := in.Block(j, t)
	if to <= from {
		return false
	}
	for p, std := range in.InputStd {
		g.knot[p] = bar[p] * (to - from) / length / std
	}
	g.input(g.knot, from, to)
	return true
}
