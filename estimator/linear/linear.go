// Package linear is the linear baseline of a robot: the predictor that a controls
// engineer would otherwise use, compared with the learned model in every report.
//
// With the lifted state z (a periodic channel as its sine and cosine, every
// other channel as it is) and ū the mean of the input over a step,
//
//	z⁺ = A z + B ū + c
//
// rolled out from the measured state ("DMD with control", Proctor, Brunton &
// Kutz 2016). The angle is recovered by atan2 after every step and unwrapped; between steps the state is interpolated linearly.
package linear

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Model holds the matrices, in the channels' units.
type Model struct {
	Step float64   // s, > 0
	A    []float64 // Z×Z row-major
	B    []float64 // Z×P
	C    []float64 // Z
}

// Signal is the input u over the horizon, time measured from its start.
type Signal interface {
	// Mean writes the mean of u over [a, b], seconds, a < b, to dst (P).
	Mean(dst []float64, a, b float64)
}

// Lifting is the layout of the lifted state.
type Lifting struct {
	K     int
	At    []int     // K, first place of channel k in z
	Omega []float64 // K, 2π/period; 0 where the channel is not periodic
	Z     int       // length of z
}

// NewLifting returns the lifting of the state channels.
func NewLifting(states []channel.Channel) Lifting {
	l := Lifting{K: len(states)}
	for _, c := range states {
		l.At = append(l.At, l.Z)
		l.Z++
		if c.Period > 0 {
			l.Omega = append(l.Omega, 2*math.Pi/c.Period)
			l.Z++
			continue
		}
		l.Omega = append(l.Omega, 0)
	}
	return l
}

// Lift writes the lifted x (K) to z (Z).
func (l *Lifting) Lift(z, x []float64) {
	for k, at := range l.At {
		if w := l.Omega[k]; w > 0 {
			z[at], z[at+1] = math.Sincos(w * x[k])
			continue
		}
		z[at] = x[k]
	}
}

// Rollout predicts with one model at fixed times. It is not safe for concurrent
// use.
type Rollout struct {
	m        *Model
	l        Lifting
	p        int
	times    []float64
	z, next  []float64 // Z
	x, xNext []float64 // K, continuous angles
	u        []float64 // P
	a, b     blas64.General
	uVec     blas64.Vector
}

// New takes all memory for rollouts at the given times (ascending, s, ≥ 0). It
// refuses matrices that do not fit the channels (K states, P inputs).
func New(m *Model, states []channel.Channel, inputs int, times []float64) (*Rollout, error) {
	l := NewLifting(states)
	switch {
	case !(m.Step > 0):
		return nil, fmt.Errorf("linear model: step %v s is not positive", m.Step)
	case len(m.A) != l.Z*l.Z || len(m.B) != l.Z*inputs || len(m.C) != l.Z:
		return nil, fmt.Errorf("linear model: %d, %d and %d numbers in A, B and c; %d lifted states and %d inputs need %d, %d and %d",
			len(m.A), len(m.B), len(m.C), l.Z, inputs, l.Z*l.Z, l.Z*inputs, l.Z)
	}
	for i, t := range times {
		if !(t >= 0) || (i > 0 && t < times[i-1]) {
			return nil, fmt.Errorf("linear model: time %d is %v s; times must ascend from 0", i, t)
		}
	}
	r := &Rollout{
		m: m, l: l, p: inputs, times: append([]float64(nil), times...),
		z: make([]float64, l.Z), next: make([]float64, l.Z),
		x: make([]float64, l.K), xNext: make([]float64, l.K), u: make([]float64, inputs),
	}
	r.a = blas64.General{Rows: l.Z, Cols: l.Z, Stride: l.Z, Data: m.A}
	r.b = blas64.General{Rows: l.Z, Cols: inputs, Stride: max(1, inputs), Data: m.B}
	r.uVec = blas64.Vector{N: inputs, Inc: 1, Data: r.u}
	return r, nil
}

// Predict writes the states at the times, as displacements from x0, to dst
// (T×K row-major). u may be nil where the model has no inputs. ok is false if a
// number is not finite: an unstable model overflows.
func (r *Rollout) Predict(dst, x0 []float64, u Signal) (ok bool) {
	if len(x0) != r.l.K || len(dst) != len(r.times)*r.l.K || (u == nil && r.p > 0) {
		panic(wrongLength)
	}
	r.l.Lift(r.z, x0)
	copy(r.xNext, x0)
	step := r.m.Step
	begin := -step // the step that r.x … r.xNext spans; none yet
	n := 0
	for i, t := range r.times {
		for t > begin+step*(1+1e-9) {
			copy(r.x, r.xNext)
			begin = float64(n) * step
			r.advance(u, begin)
			n++
		}
		w := math.Min(math.Max((t-begin)/step, 0), 1)
		for k := range r.l.K {
			from := r.x[k] - x0[k]
			v := from + w*(r.xNext[k]-x0[k]-from)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
			dst[i*r.l.K+k] = v
		}
	}
	return true
}

// advance makes the step that begins at time t.
func (r *Rollout) advance(u Signal, t float64) {
	copy(r.next, r.m.C)
	z, next := blas64.Vector{N: r.l.Z, Inc: 1, Data: r.z}, blas64.Vector{N: r.l.Z, Inc: 1, Data: r.next}
	blas64.Gemv(blas.NoTrans, 1, r.a, z, 1, next)
	if r.p > 0 {
		u.Mean(r.u, t, t+r.m.Step)
		blas64.Gemv(blas.NoTrans, 1, r.b, r.uVec, 1, next)
	}
	for k, at := range r.l.At {
		w := r.l.Omega[k]
		if w == 0 {
			r.xNext[k] = r.next[at]
			continue
		}
		// The rotation from the old direction to the new one, within half a period.
		s, c := r.next[at], r.next[at+1]
		rotation := math.Atan2(s*r.z[at+1]-c*r.z[at], c*r.z[at+1]+s*r.z[at])
		r.xNext[k] = r.x[k] + rotation/w
	}
	r.z, r.next = r.next, r.z
}

const wrongLength = "linear: lengths of dst, x0 or u do not fit the model"
