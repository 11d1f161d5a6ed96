package calibration

import (
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/rows"
)

// Model is the calibration of one condition, see the package.
type Model struct {
	NetworkWeight []float64 // K×Q, 0…1
	Intervals     model.Calibration
	Joint         model.Joint
	Terms         []model.Covariate // the covariates that were chosen
	Own           bool              // each channel has coefficients of its own
	Whole         bool              // folds hold out whole flights

	// FlightEffect is the standard deviation between flights of their mean errors, over the
	// standard deviation of an error, at the horizon (K); nil where folds hold out no whole
	// flights.
	FlightEffect []float64

	Scores []float64 // of each fold, mean log likelihood of a held-out point, outliers capped
	limits ood.Limits
	beyond []bool    // by fold of whole flights: whether it is beyond the data of the others, see beyond
	bound  []float64 // K×Q, as model.Model.Bound; nil = that of the frame
}

// Apply writes the calibrations of the conditions to a model of the frame, whose detector is
// known.
func Apply(m *model.Model, f *rows.Frame, conditions []Model) {
	m.RMSDisplacement = ood.RMSDisplacement{Typical: f.RMSDisplacement, Min: 1, Max: 1}
	m.Bound = f.HoldRMSE
	for _, c := range conditions {
		m.NetworkWeight = append(m.NetworkWeight, c.NetworkWeight)
		m.Calibration = append(m.Calibration, c.Intervals)
	}
	for _, c := range conditions {
		if len(c.Joint.Levels) == 0 {
			break
		}
		m.Joint = append(m.Joint, c.Joint)
	}
	if len(conditions) > 0 {
		m.OOD.Limits = conditions[0].limits
		if b := conditions[0].bound; b != nil {
			m.Bound = b
		}
	}
}
