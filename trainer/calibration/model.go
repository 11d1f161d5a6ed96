package calibration

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/rows"
)

// Model is the calibration model of one readout, see the package.
type Model struct {
	NetworkWeight    []float64 // K×Q, 0…1
	Near, Far        float64   // distances of the start between which it counts
	DistanceExponent float64
	TypicalMotion    float64 // median running RMS displacement of what is held out, over that of the frame
	MotionExponent   float64
	ScaleFactor      []float64 // K×Q, within 1/MaxScaleFactor…MaxScaleFactor
	Scores           []float64 // of each fold, mean log likelihood of a held-out point, outliers capped
}

func (m Model) String() string {
	score, standardError := Mean(m.Scores)
	return fmt.Sprintf("network weight %.2f, scale factor %.2f, exponents of distance %.2f and motion %.2f, log likelihood %.3f ± %.3f",
		floats.Sum(m.NetworkWeight)/float64(len(m.NetworkWeight)), floats.Sum(m.ScaleFactor)/float64(len(m.ScaleFactor)), m.DistanceExponent, m.MotionExponent, score, standardError)
}

// minMotion and maxMotion bound the motion, over the typical one, that counts: what
// hardly moves is still a little wrong.
const minMotion, maxMotion = 0.5, 3.0

// Apply writes the calibration models of the readouts to a model of the frame, whose
// detector is known.
func Apply(m *model.Model, f *rows.Frame, readouts []Model) {
	m.RMSDisplacement = ood.RMSDisplacement{Typical: f.RMSDisplacement, Min: minMotion, Max: maxMotion}
	if len(readouts) == 0 {
		return
	}
	moves := false
	for _, r := range readouts {
		m.NetworkWeight, m.ScaleFactor = append(m.NetworkWeight, r.NetworkWeight), append(m.ScaleFactor, r.ScaleFactor)
		m.OODExponent = append(m.OODExponent, r.DistanceExponent)
		m.RMSDisplacement.Exponent = append(m.RMSDisplacement.Exponent, r.MotionExponent)
		moves = moves || r.MotionExponent > 0
	}
	m.OOD.Near, m.OOD.Far = readouts[0].Near, readouts[0].Far
	m.RMSDisplacement.Typical = slices.Clone(f.RMSDisplacement)
	floats.Scale(readouts[0].TypicalMotion, m.RMSDisplacement.Typical)
	if !moves {
		m.RMSDisplacement = ood.RMSDisplacement{} // nothing to measure
	}
}
