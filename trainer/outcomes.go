package trainer

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	outside "github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// outcomes are errors of a model on flights, over what it predicted for them.
type outcomes struct {
	times  []float64     // T, s
	points [][][]outcome // T × K × n
	score  float64       // mean log likelihood, outliers capped, cells of states weighing the same
	weight float64       // of all points
}

// outcome is what became of one prediction of one channel.
type outcome struct {
	left     float64 // measured − base, state units
	net      float64 // mean − base, what the nets add
	z        float64 // (measured − mean)/ObsStd, with as much of net as counts
	std      float64 // ObsStd
	distance float64 // of the start from the training states
	motion   float64 // of the base until then, over the frame's
	window   int
	grown    float64 // factor of the interval by distance and motion, see law.grow
	weight   float64 // of the window, see outside.Cells
}

// zCap holds the squared error that one point can be held responsible for: a
// Gaussian's tail would let a single bad sample choose the model.
const zCap = 60

// scoredTimes are the horizons, as shares of H, that selection and calibration
// look at.
var scoredTimes = []float64{0.05, 0.1, 0.2, 0.4, 0.7, 1}

// replay predicts every window of the flights and compares.
func replay(m *model.Model, flights []window.Flight, readout model.Readout, stride float64, cells *outside.Cells) (*outcomes, error) {
	o := &outcomes{}
	for _, s := range scoredTimes {
		o.times = append(o.times, s*m.Horizon)
		o.points = append(o.points, make([][]outcome, m.K))
	}
	p, err := estimator.New(m, o.times)
	if err != nil {
		return nil, err
	}
	base := estimator.PriorDynamicsOf(m)
	at, slope := make([]float64, m.K), make([]float64, m.K)
	dst, y := p.NewPrediction(), make([]float64, m.K)
	rows := 0
	if m.P > 0 {
		rows = 10 * m.Inputs.Knots
	}
	plan := make([]float64, rows*m.P)
	for number, w := range window.Cut(flights, m.Horizon, stride) {
		f := &flights[w.Flight]
		q := estimator.Query{X0: f.State(w.Start)}
		weight := cells.Weight(q.X0)
		if m.P > 0 {
			q.U = f.Input(w.Start)
			if readout == model.Plan {
				for r := range rows {
					a := f.T[w.Start] + m.Horizon*float64(r)/float64(rows)
					f.InputMean(plan[r*m.P:(r+1)*m.P], a, a+m.Horizon/float64(rows))
				}
				q.Plan = plan
			}
		}
		base.Start(q.X0, signalOf(m, &q))
		if !p.Predict(dst, &q) {
			return nil, fmt.Errorf("a candidate predicts numbers that are not finite, from segment %q at %.3f s", f.Name, f.T[w.Start])
		}
		for i, t := range o.times {
			f.Displacement(y, w.Start, t)
			base.At(at, slope, t)
			motion := 1.0
			if len(dst.RMSRatio) > 0 {
				motion = dst.RMSRatio[i]
			}
			for k := range m.K {
				j := i*m.K + k
				if math.IsNaN(y[k]) || !(dst.ObsStd[j] > 0) {
					continue
				}
				z := (q.X0[k] + y[k] - dst.Mean[j]) / dst.ObsStd[j]
				o.points[i][k] = append(o.points[i][k], outcome{
					left: y[k] - at[k], net: dst.Mean[j] - q.X0[k] - at[k], z: z, std: dst.ObsStd[j],
					distance: dst.Distance, motion: motion, window: number, weight: weight, grown: 1,
				})
				o.score += weight * (-0.5*math.Min(z*z, zCap) - math.Log(dst.ObsStd[j]) - 0.5*math.Log(2*math.Pi))
				o.weight += weight
			}
		}
	}
	if o.weight == 0 {
		return nil, fmt.Errorf("no window of the held-out data can be scored")
	}
	o.score /= o.weight
	return o, nil
}

// signalOf returns the input that a query tells of.
func signalOf(m *model.Model, q *estimator.Query) feature.Signal {
	switch {
	case m.P == 0:
		return nil
	case q.Plan != nil:
		return &feature.Plan{Values: q.Plan, P: m.P, Step: m.Horizon / float64(len(q.Plan)/m.P)}
	}
	return &feature.Plan{Values: q.U, P: m.P, Step: m.Horizon}
}
