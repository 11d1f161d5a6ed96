// Package evaluate scores a model on flights: it replays them through the onboard
// predictor, window by window, and compares mean and intervals with what was
// measured, beside the baselines and the model's prior dynamics alone.
//
// Conventions, the same for every model and baseline:
//
//   - Errors are of the displacement x(t0+h) − x(t0), so angles are continuous
//     from the window's start.
//   - An attitude also has an attitude error, the rotation angle between prediction
//     and measurement (Attitude).
//   - x(t0+h) is carried from the nearest sample, never across a gap. A channel that is
//     measured more slowly than the log is sampled is scored next to its own samples only;
//     the table names where it has none. Horizons that are shorter than the interval between
//     samples are not scored, and named.
//   - With the readout plan, the recorded input over the horizon comes with the
//     state, averaged into rows of equal length that end where samples do; with hold, the input of t0 is
//     held. The linear baseline gets the same input.
//   - Intervals are those of a measurement (ObsStd), because they are compared with
//     measurements. With Truth they are those of the state (Std), for logs whose
//     channels are exact.
//   - With StartNoise the start states are noisier than measured, for model and
//     baselines alike, and the covariance comes with them, as on the robot. The history
//     before them is as measured.
//   - Coverage has a block-bootstrap interval over time, because windows overlap:
//     blocks are twice the longest horizon scored.
package evaluate

import (
	"context"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// slowRate is the rate, Hz, and inHorizon the measurements in the longest horizon, below which a state is listed as slow; 20 with jitter are not.
const slowRate, inHorizon = 19.2, 19.2

// Run replays the flights and scores every window. Flights that are too short for the
// horizons are an error. A prediction that cannot be scored is an error that names the
// window. Other errors are contradictions between options and model, found before work
// starts.
//
// The flights' states and inputs must be those of the model, in its order (see
// channel.SameLayout).
func Run(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Table, error) {
	opt, left, err := opt.scoring(m.Horizon, flights)
	if err != nil {
		return nil, err
	}
	last := opt.Horizons[len(opt.Horizons)-1]
	windows := window.Cut(flights, last, opt.Stride)
	comparers, err := newComparers(m, flights, windows, opt)
	if err != nil {
		return nil, err
	}
	if len(windows) == 0 {
		return nil, tooShort(last, flights)
	}
	s := newScorer(m, opt, len(windows))
	s.scored, s.interpolated = comparers[0].scored, comparers[0].Interpolated
	if err := predict(ctx, comparers, flights, windows, s.add); err != nil {
		return nil, err
	}
	table, err := s.table(spacing(flights, windows, opt.Stride))
	if err != nil {
		return nil, err
	}
	table.TooShort = left
	for k, c := range m.Channels[:m.K] {
		if rate := window.Rate(flights, k); !c.Estimated && rate < slowRate && rate*last < inHorizon {
			table.Slow = append(table.Slow, c.Name)
		}
	}
	table.Joint, err = Joint(ctx, m, flights, opt)
	return table, err
}
