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
//     the table names where it has none.
//   - With the readout plan, the recorded input over the horizon comes with the
//     state, averaged into rows of equal length; with hold, the input of t0 is
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
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// chunk bounds the windows whose outcomes are in memory at once.
const chunk = 1024

// Run replays the flights and scores every window. Flights that are too short for the
// horizons are an error. A prediction that cannot be scored is an error that names the
// window. Other errors are contradictions between options and model, found before work
// starts.
//
// The flights' states and inputs must be those of the model, in its order (see
// channel.SameLayout).
func Run(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Table, error) {
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	comparers := make([]*comparer, runtime.GOMAXPROCS(0))
	for i := range comparers {
		if comparers[i], err = newComparer(m, opt); err != nil {
			return nil, err
		}
	}
	last := opt.Horizons[len(opt.Horizons)-1]
	windows, err := cut(flights, last, opt.Stride)
	if err != nil {
		return nil, err
	}
	s := newScorer(m, opt, len(windows))
	s.scored = comparers[0].scored
	s.interpolated = window.Interpolated(flights, windows, opt.Horizons)
	for _, c := range comparers {
		c.Interpolated = s.interpolated
	}
	outcomes := comparers[0].newOutcomes(min(chunk, len(windows)))
	for from := 0; from < len(windows); from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := windows[from:min(from+chunk, len(windows))]
		predict(comparers, outcomes, flights, part)
		for i, w := range part {
			if err := s.add(&outcomes[i]); err != nil {
				return nil, at(&flights[w.Flight], w.Start, err)
			}
		}
	}
	return s.table(spacing(flights, windows, opt.Stride))
}

// cut returns the windows of the flights, at least one.
func cut(flights []window.Flight, H, stride float64) ([]window.Window, error) {
	windows := window.Cut(flights, H, stride)
	if len(windows) == 0 {
		return nil, tooShort(H, flights)
	}
	return windows, nil
}

// predict predicts the windows, each worker its share, into outcomes.
func predict(comparers []*comparer, outcomes []outcome, flights []window.Flight, windows []window.Window) {
	var wait sync.WaitGroup
	for j, c := range comparers {
		wait.Go(func() {
			for i := j; i < len(windows); i += len(comparers) {
				c.compare(&outcomes[i], &flights[windows[i].Flight], windows[i].Start)
			}
		})
	}
	wait.Wait()
}

// spacing returns the mean time between the starts of windows, s.
func spacing(flights []window.Flight, windows []window.Window, stride float64) float64 {
	sum, n := 0.0, 0
	for i := 1; i < len(windows); i++ {
		if a, b := windows[i-1], windows[i]; a.Flight == b.Flight {
			f := &flights[a.Flight]
			sum += f.T[b.Start] - f.T[a.Start]
			n++
		}
	}
	if n == 0 {
		return stride
	}
	return sum / float64(n)
}

// at names the window that an error is about.
func at(f *window.Flight, start int, err error) error {
	return fmt.Errorf("segment %q, window at %d ns: %w", f.Name, f.Origin+int64(f.T[start]*1e9), err)
}

// Options configures an evaluation. The zero value scores the default grid.
type Options struct {
	Horizons     []float64          // (optional) s, ascending, within the model's horizon; defaults to Grid of it
	Stride       float64            // (optional) s between windows; defaults to DefaultStride
	Readout      estimator.Readout  // Plan or Hold
	Truth        bool               // score Std, not ObsStd: the channels of the log are exact
	StartNoise   float64            // (optional) standard deviation of noise added to start states, over that of the sensors
	HideStartCov bool               // with StartNoise: the covariance of the start does not come with the state
	Channels     []string           // (optional) names of the states to score; defaults to all
	Kinematics   channel.Kinematics // (optional) what the log declares, for a model that declares nothing
	Lead         []window.Flight    // (optional) for Adapt: what is flown before every flight
	Seed         uint64             // of the bootstrap and of StartNoise
}

// DefaultStride is the time between windows, s.
const DefaultStride = 0.02

// Grid returns the horizons scored by default: the round times (1, 2, 5 times a
// power of ten) from H/20 on, and H.
func Grid(H float64) []float64 {
	var out []float64
	for power := math.Floor(math.Log10(H / 20)); power <= math.Ceil(math.Log10(H)); power++ {
		for _, digit := range []float64{1, 2, 5} {
			t := digit * math.Pow(10, power)
			if power < 0 {
				t = digit / math.Pow(10, -power) // 0.2, not 0.2 plus a rounding error
			}
			if t >= H/20*(1-1e-9) && t < H*(1-1e-9) {
				out = append(out, t)
			}
		}
	}
	return append(out, H)
}

// withDefaults returns the options with their defaults, or an error that names what
// does not fit a model with horizon H.
func (o Options) withDefaults(H float64) (Options, error) {
	if o.Horizons == nil {
		o.Horizons = Grid(H)
	}
	o.Horizons = slices.Compact(slices.Sorted(slices.Values(o.Horizons)))
	if o.Stride == 0 {
		o.Stride = DefaultStride
	}
	switch first, last := o.Horizons[0], o.Horizons[len(o.Horizons)-1]; {
	case !(first > 0):
		return o, fmt.Errorf("horizon %g s is not positive", first)
	case last > H*(1+1e-9):
		return o, fmt.Errorf("horizon %g s is beyond the model's: it predicts up to %g s", last, H)
	}
	return o, nil
}

// tooShort returns the error that no window fits into the flights.
func tooShort(needed float64, flights []window.Flight) error {
	return fmt.Errorf("no window of %g s with all channels measured: the longest gap-free section has %.3g s; choose shorter horizons or a longer log", needed, window.Longest(flights))
}
