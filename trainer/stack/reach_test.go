package stack

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A direct map counts the longer where an input changes faster than in training, the better its stack is than what would take its place.
// Where that is as good, the limit is the training's.
func TestReach(t *testing.T) {
	task, good := fitted(t)
	task.Inputs = 1
	c := model.Component{Kind: model.Direct}
	c.Direct = direct.Model{
		Lift: channel.NewLift(one), Derivative: []int{-1}, UMean: []float64{0}, UStd: []float64{1}, Range: []float64{1}, Change: []float64{0.5},
	}
	c.Direct.Lift.Mean, c.Direct.Lift.Std = []float64{0}, []float64{1}
	gone := (1 - math.Pow(0.98, 50)) / 0.5 // of x in a second, by the displacement after the horizon
	c.Direct.Levels = []direct.Level{{Degree: 1, Times: []float64{0.5}, Weights: []float64{0, -gone, 0}, Mean: make([]float64, 2), Std: []float64{1, 1}, Rest: 10}}
	var folds []window.Fold
	for seed := range uint64(3) {
		held := decay(2+seed, 300)
		for i := range held {
			held[i].P, held[i].U = 1, make([]float64, held[i].N())
		}
		folds = append(folds, window.Fold{Held: held})
	}
	hold := model.Component{Kind: model.Velocity}
	alike := func(name string, m model.Component) Candidate {
		return Candidate{Name: name, Whole: m, Folds: []model.Component{m, m, m}}
	}
	for _, first := range []Candidate{alike("velocity", hold), alike("equation", equation(good))} {
		s, err := Fit(folds, task, []Candidate{first, alike("direct", c)})
		if err != nil {
			t.Fatal(err)
		}
		if further := s.Reach > 2; further != (first.Name == "velocity") || s.Reach < 1 {
			t.Errorf("%v: a reach of %v", s.Names, s.Reach)
		}
		refit := s.With([]Candidate{alike("direct", c)})
		for j, name := range s.Names {
			if name != "direct" {
				continue
			}
			for _, m := range []model.Component{s.Components[j], s.Folds[2][j], refit[j]} {
				if m.Direct.Range[0] != 1 || m.Direct.Change[0] != 0.5*s.Reach {
					t.Errorf("a reach of %v: range %v, change %v", s.Reach, m.Direct.Range, m.Direct.Change)
				}
			}
		}
		if c.Direct.Change[0] != 0.5 {
			t.Error("the candidate has changed")
		}
	}
}
