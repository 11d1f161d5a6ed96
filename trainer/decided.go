package trainer

import (
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// decided tells what the folds decided: laws that are the same for all channels, and
// what counts of each part of the prediction, by channel and horizon.
func decided(m *model.Model) report.Selection {
	out := report.Selection{Rules: []report.Item{
		{Name: "declared motion", Value: declared(m)},
		{Name: "companion", Value: companion(m)},
		{Name: "members", Value: membersOf(m)},
		{Name: "distance", Value: distanceLaw(m)},
		{Name: "motion", Value: motionLaw(m)},
		{Name: "out of distribution", Value: outsideOf(m)},
	}}
	Q := len(m.NoiseKnots)
	hat := make([]float64, Q)
	at := func(table []float64, k int, tau, none float64, log bool) float64 {
		if len(table) == 0 {
			return none
		}
		estimator.KnotWeights(hat, m.NoiseKnots, tau)
		v := 0.0
		for q, w := range hat {
			if x := table[k*Q+q]; log {
				v += w * math.Log(x)
			} else {
				v += w * x
			}
		}
		if log {
			v = math.Exp(v)
		}
		return v
	}
	row := func(tables [][]float64, r model.Readout) []float64 {
		if int(r) < len(tables) {
			return tables[r]
		}
		return nil
	}
	for _, t := range evaluate.Grid(m.Horizon) {
		h := report.SelectionHorizon{T: t}
		tau := t / m.Horizon
		for k, c := range m.Channels[:m.K] {
			d := report.SelectionChannel{
				Name: c.Name, Unit: c.Unit, SensorStd: math.Sqrt(m.Sensor[k]),
				LinearWeight: at(m.LinearWeight, k, tau, 0, false), NetworkWeight: at(row(m.NetworkWeight, model.Plan), k, tau, 1, false),
				ScaleFactor: at(row(m.ScaleFactor, model.Plan), k, tau, 1, true),
			}
			if len(m.ScaleFactor) > int(model.Hold) && m.P > 0 {
				d.ScaleFactorHold = at(m.ScaleFactor[model.Hold], k, tau, 1, true)
			}
			h.Channels = append(h.Channels, d)
		}
		out.Horizons = append(out.Horizons, h)
	}
	return out
}

func declared(m *model.Model) string {
	b := &m.PriorDynamics.Body
	if b.Empty() {
		return "none: the equation learns all of every step"
	}
	var laws []string
	if len(b.Position) > 0 {
		laws = append(laws, "position from velocity")
	}
	if len(b.Attitude) > 0 {
		laws = append(laws, "attitude from body rates")
	}
	return strings.Join(laws, ", ") + ": the equation learns what they leave"
}

func companion(m *model.Model) string {
	if len(m.LinearWeight) == 0 {
		return "none: folds did not agree that a plain linear equation helps"
	}
	return fmt.Sprintf("a plain linear equation, step %.3g ms, has the shares of the table", 1000*m.Secondary.Step)
}

func membersOf(m *model.Model) string {
	fits, refits := fmt.Sprintf("%d fits, whose means are averaged and whose spread counts", len(m.Members)), fmt.Sprintf("%d refits", len(m.Refits))
	if len(m.Members) == 1 {
		fits = "1 fit"
	}
	if len(m.Refits) == 1 {
		refits = "1 refit"
	}
	return fits + "; " + refits + " to resampled data"
}

func distanceLaw(m *model.Model) string {
	r := &m.OOD
	if len(m.OODExponent) == 0 || r.Near <= 0 {
		return "intervals do not grow with the distance from the training states"
	}
	return fmt.Sprintf("intervals grow with the distance from the training states to the power %s, between distances of %.3g and %.3g", byReadout(m.OODExponent), r.Near, r.Far)
}

func motionLaw(m *model.Model) string {
	o := &m.RMSDisplacement
	for _, p := range o.Exponent {
		if p > 0 {
			return fmt.Sprintf("intervals follow the predicted motion over the usual one to the power %s below 1 and half of it above, between %.3g and %.3g of the usual", byReadout(o.Exponent), o.Min, o.Max)
		}
	}
	return "intervals do not depend on how much the robot moves: folds did not agree that they do"
}

// byReadout lists those of the readouts.
func byReadout(p []float64) string {
	if len(p) == 2 && p[0] != p[1] {
		return fmt.Sprintf("%.3g (with a plan; %.3g with the input held)", p[0], p[1])
	}
	return fmt.Sprintf("%.3g", p[0])
}

func outsideOf(m *model.Model) string {
	r := &m.OOD
	var parts []string
	if r.Distance > 0 {
		parts = append(parts, fmt.Sprintf("farther than %.3g from the nearest of %d training states, whitened", r.Distance, len(r.Points)))
	}
	if len(r.Low) > 0 {
		parts = append(parts, "an input a quarter of its range beyond it")
	}
	if r.Variance > 0 {
		parts = append(parts, fmt.Sprintf("posterior over prior variance above %.3g", r.Variance))
	}
	if len(parts) == 0 {
		return "never: there are no data to tell by"
	}
	return strings.Join(parts, "; ")
}
