package priordynamics

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Coordinates of the training data are at most half as far out as the ellipsoid, the farthest just so; two that were never large together
// are divided where each of them alone is not.
func TestEllipsoidIsAroundTheData(t *testing.T) {
	var s window.Series
	for i := range 2000 {
		t := float64(i) / 100
		s.T, s.X, s.U = append(s.T, int64(i)*1e7), append(s.X, math.Sin(t), math.Cos(0.7*t)), append(s.U, math.Sin(t)+0.01*math.Cos(9*t))
	}
	task := window.Task{States: []channel.Channel{{Name: "a"}, {Name: "b"}}, Inputs: 1, Horizon: 0.5}
	flights := window.Prepare(0, s, task.States, 1, window.Options{})
	for degree := 1; degree <= 3; degree++ {
		m, err := Regress(flights, task, Shape{Step: 0.05, Degree: degree, Ridge: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		if degree == 1 {
			if len(m.Ellipsoid) > 0 {
				t.Error("a linear equation has an ellipsoid")
			}
			continue
		}
		farthest, v := 0.0, make([]float64, 3)
		for s := range steps(flights, 2, 1, 0.05) {
			m.Bounded(v, nil, s.x, s.u)
			farthest = math.Max(farthest, m.Ellipsoid.Square(v))
		}
		if d := math.Sqrt(farthest) * productSlack; math.Abs(d-1) > 1e-9 {
			t.Errorf("degree %d: the farthest is at %v of the ellipsoid, expected 1/%v", degree, math.Sqrt(farthest), productSlack)
		}
		// The input follows the first state, but for a hundredth.
		slope, bounded := make([]float64, 3), make([]float64, 3)
		for _, c := range []struct {
			x, u    float64
			outside bool
		}{{1.2, 1.2, false}, {1.2, -1.2, true}} {
			m.Coordinates(v, slope, []float64{c.x, 0}, []float64{c.u})
			m.Bounded(bounded, nil, []float64{c.x, 0}, []float64{c.u})
			if outside := math.Abs(v[0]) < 0.999*math.Abs(bounded[0]); outside != c.outside {
				t.Errorf("degree %d: state %v under input %v has coordinates %v of %v, divided %v, expected %v", degree, c.x, c.u, v, bounded, outside, c.outside)
			}
		}
	}
}
