package estimator

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Trajectories draws trajectories of the state from predictions. At every time their means and covariance are
// those of the prediction, and each trajectory is smooth in time. It is not safe for concurrent use.
type Trajectories struct {
	joint     *joint
	process   process
	mean, std []float64 // T×K
	normal    []float64 // K, of the start
	g         []float64 // T×K
	drawn     []float64 // T×K, of Violation; nil = not yet asked for
}

// NewTrajectories allocates the memory for predictions of a model at the times, in seconds and ascending; nil
// means the model's own points.
func NewTrajectories(m *model.Model, times []float64) (*Trajectories, error) {
	p, err := New(m, times)
	if err == nil {
		err = ascend(p.times)
	}
	if err != nil {
		return nil, err
	}
	return newTrajectories(p), nil
}

// ascend returns an error for times that a trajectory cannot pass one after the other.
func ascend(times []float64) error {
	before := 0.0
	for i, t := range times {
		if !(t > before) {
			return fmt.Errorf("time %d is %g s; times of trajectories must ascend from above 0", i, t)
		}
		before = t
	}
	return nil
}

// Trajectories is NewTrajectories for the model of f, at other times. The two may be used by
// different goroutines.
func (f *Fast) Trajectories(times []float64) (*Trajectories, error) {
	m := f.Model()
	times, err := checkTimes(m, times)
	if err == nil {
		err = ascend(times)
	}
	if err != nil {
		return nil, err
	}
	return newTrajectories(build(m, times)), nil
}

func newTrajectories(p *Predictor) *Trajectories {
	f, m := newJoint(p), p.m
	return &Trajectories{joint: f, process: newProcess(m.Channels[:m.K], p.times), normal: make([]float64, m.K), g: make([]float64, len(f.rest))}
}

// Start prepares draws from a prediction, which a Predictor or a Fast made from the query at
// the same times. ok is false if a number is not finite.
func (s *Trajectories) Start(d *Prediction, q *Query) (ok bool) {
	s.mean, s.std = append(s.mean[:0], d.Mean...), append(s.std[:0], d.Std...)
	return s.joint.start(q)
}

// Draw writes a trajectory (T×K, state units) to dst. normal draws standard normal numbers.
func (s *Trajectories) Draw(dst []float64, normal func() float64) {
	f, K := s.joint, len(s.normal)
	for r := range s.normal {
		s.normal[r] = normal()
	}
	s.process.draw(s.g, normal)
	for j := range dst {
		k := j % K
		z := f.rest[j] * dot(f.mix[j*K:j*K+k+1], s.g[j-k:j+1])
		if f.starts {
			for r, e := range s.normal {
				z += e * f.carried[r*len(f.rest)+j]
			}
		}
		dst[j] = s.mean[j] + s.std[j]*z
	}
}
