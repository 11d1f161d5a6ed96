package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Trajectories draws trajectories of the state from predictions: at every time each channel
// has the mean and the standard deviation of the prediction, a trajectory is smooth in
// time, and channels go together as joint and process describe. It is not safe for
// concurrent use.
type Trajectories struct {
	joint     *joint
	process   process
	mean, std []float64 // T×K
	normal    []float64 // one for each row of the joint factor
	g         []float64 // T×K
}

// NewTrajectories takes the memory for predictions of a model at the times, in seconds; nil
// asks for the model's own points.
func NewTrajectories(m *model.Model, times []float64) (*Trajectories, error) {
	p, err := New(m, times)
	if err != nil {
		return nil, err
	}
	return newTrajectories(p), nil
}

// Trajectories is NewTrajectories for the model of f, at other times. The two may be used by
// different goroutines.
func (f *Fast) Trajectories(times []float64) (*Trajectories, error) {
	m := f.Model()
	times, err := checkTimes(m, times)
	if err != nil {
		return nil, err
	}
	return newTrajectories(build(m, times)), nil
}

func newTrajectories(p *Predictor) *Trajectories {
	f, m := newJoint(p), p.m
	return &Trajectories{joint: f, process: newProcess(m.Channels[:m.K], p.times), normal: make([]float64, f.rows), g: make([]float64, len(f.rest))}
}

// Start prepares draws from a prediction, which a Predictor or a Fast made from the query at
// the same times. ok is false if a number is not finite.
func (s *Trajectories) Start(d *Prediction, q *Query) (ok bool) {
	s.mean, s.std = append(s.mean[:0], d.Mean...), append(s.std[:0], d.Std...)
	return s.joint.start(s.std, q)
}

// Draw writes a trajectory (T×K, state units) to dst. normal draws standard normal numbers.
func (s *Trajectories) Draw(dst []float64, normal func() float64) {
	f := s.joint
	for r := range f.last {
		s.normal[r] = normal()
	}
	s.process.draw(s.g, normal)
	for j := range dst {
		z := f.rest[j] * s.g[j]
		for r, e := range s.normal[:f.last] {
			z += e * f.row[r*len(f.rest)+j]
		}
		dst[j] = s.mean[j] + s.std[j]*z
	}
}

// process draws errors of variance 1 that are smooth in time: the error of a channel is the
// integral of a Wiener process since the start of the prediction, divided by its standard
// deviation; that is the error of a state whose derivative is wrong by a drifting force,
// whatever the horizon. Of a channel whose derivative is a state it is the integral of that
// state's error, so that a position is in error by what the velocity before it was.
type process struct {
	times []float64
	order []int     // K: how often the Wiener process is integrated, 1 or more
	root  []int     // K: which Wiener process
	roots int       //
	most  int       // largest order
	noise []float64 // (most+1)², lower triangle: root of the covariance of the integrals over one second

	integrals, before, normal []float64 // most+1
}

func newProcess(states []channel.Channel, times []float64) process {
	p := process{times: times, most: 1}
	for k := range states {
		order, at := 1, k
		for states[at].Derivative != "" && order <= len(states) {
			order, at = order+1, channel.Index(states, states[at].Derivative)
		}
		p.order, p.root = append(p.order, order), append(p.root, at)
		p.roots, p.most = max(p.roots, at+1), max(p.most, order)
	}
	n := p.most + 1
	covariance := make([]float64, n*n)
	for i := range n {
		for j := range n {
			covariance[i*n+j] = 1 / (float64(i+j+1) * factorial(i) * factorial(j))
		}
	}
	p.noise = make([]float64, n*n)
	semidefiniteRoot(p.noise, covariance, n)
	p.integrals, p.before, p.normal = make([]float64, n), make([]float64, n), make([]float64, n)
	return p
}

func factorial(n int) float64 { return math.Gamma(float64(n + 1)) }

// draw writes the errors to dst (T×K).
func (p *process) draw(dst []float64, normal func() float64) {
	K := len(p.order)
	for root := range p.roots {
		clear(p.integrals)
		t := 0.0
		for i, next := range p.times {
			p.step(next-t, normal)
			t = next
			for k, order := range p.order {
				if p.root[k] == root {
					n := float64(2*order + 1)
					dst[i*K+k] = p.integrals[order] * factorial(order) * math.Sqrt(n) / math.Pow(t, n/2)
				}
			}
		}
	}
}

// step carries the Wiener process and its integrals h seconds on, exactly.
func (p *process) step(h float64, normal func() float64) {
	copy(p.before, p.integrals)
	n := len(p.integrals)
	for i := range p.normal {
		p.normal[i] = normal()
	}
	for j := range n {
		v := math.Pow(h, float64(j)+0.5) * dot(p.noise[j*n:j*n+j+1], p.normal)
		for i := 0; i <= j; i++ {
			v += p.before[i] * math.Pow(h, float64(j-i)) / factorial(j-i)
		}
		p.integrals[j] = v
	}
}
