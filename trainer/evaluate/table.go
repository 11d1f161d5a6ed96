package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Options says what is scored. The zero value is good.
type Options struct {
	Horizons     []float64          // (optional) s, ascending, within the model's horizon; defaults to Grid of it
	Stride       float64            // (optional) s between windows; defaults to 0.02
	Readout      estimator.Readout  // Plan or Hold
	Truth        bool               // score Std, not ObsStd: the channels of the log are exact
	StartNoise   float64            // (optional) start states get noise of so many times the sensors' std, as by a worse estimator than the log's
	HideStartCov bool               // with Shake: the covariance of the start does not come with the state
	Kinematics   channel.Kinematics // (optional) what the log declares, for a model that does not
	Seed         uint64             // of the bootstrap, and of Shake
	Workers      int                // (optional) goroutines; defaults to GOMAXPROCS. The result does not depend on it
}

// DefaultStride is the time between windows, s.
const DefaultStride = 0.02

// Table is the outcome: scores by horizon and channel. All numbers are finite.
type Table struct {
	Model         string              `json:"model"` // the caller's name for it
	Log           string              `json:"log"`   // the caller's name for it
	Vehicle       string              `json:"vehicle"`
	ModelID       string              `json:"model_id"`
	EvaluatedID   string              `json:"judged_id,omitempty"` // ID of the model that was scored, where it is not the one of the file: the same nets, conditioned without these data
	Inputs        string              `json:"inputs"`              // plan or hold
	Truth         bool                `json:"truth"`
	StartNoise    float64             `json:"start_noise,omitempty"` // start states were given noise of so many times the sensors' std
	StartCovGiven bool                `json:"start_told,omitempty"`  // and the covariance of the start came with the state
	Stride        float64             `json:"stride"`
	Windows       int                 `json:"windows"`
	Excluded      float64             `json:"left_out,omitempty"` // share of the log's values that the caller took for garbage
	Geo           Geo                 `json:"geo"`
	Attitude      []string            `json:"attitude,omitempty"` // names of the states that are one
	Calibrated    *BaselineComparison `json:"fair,omitempty"`     // nil where the model file does not know the linear model's errors
	Horizons      []Horizon           `json:"horizons"`
}

// Geo holds geometric means over channels and horizons of the RMSE over that of
// holding the last value: below 1 is better than holding.
type Geo struct {
	Model    float64 `json:"model"`
	Velocity float64 `json:"velocity"`
	Linear   float64 `json:"linear"`
}

// Horizon holds the scores at one time after the state's.
type Horizon struct {
	T              float64       `json:"t"`                  // s
	Attitude       *Attitude     `json:"attitude,omitempty"` // nil without an attitude
	Channels       []Channel     `json:"channels"`
	Coverage95     float64       `json:"coverage95"` // mean over channels, with its interval
	Coverage95Low  float64       `json:"coverage95_low"`
	Coverage95High float64       `json:"coverage95_high"`
	Reliability    []Reliability `json:"reliability"` // pooled over channels
}

// Channel holds the scores of one channel at one horizon, in the channel's unit.
// Coverage is that of the central 50, 90 and 95 % intervals.
type Channel struct {
	Name           string  `json:"name"`
	Unit           string  `json:"unit"`
	RMSE           float64 `json:"rmse"`
	Hold           float64 `json:"hold"`     // RMSE of the last value
	Velocity       float64 `json:"velocity"` // RMSE of x0 + v0 t
	Linear         float64 `json:"linear"`   // RMSE of the linear model; = hold where the model file has none
	Coverage50     float64 `json:"coverage50"`
	Coverage90     float64 `json:"coverage90"`
	Coverage95     float64 `json:"coverage95"`
	Coverage95Low  float64 `json:"coverage95_low"` // 95 % block bootstrap
	Coverage95High float64 `json:"coverage95_high"`
	CRPS           float64 `json:"crps"`
	LogLik         float64 `json:"loglik"`
	Std            float64 `json:"std"` // mean of the scored standard deviation
	OOD            float64 `json:"ood"` // share of windows flagged as out of distribution

	// The linear model with its own calibrated interval; 0 where it is unknown.
	LinearCoverage95 float64 `json:"linear_coverage95"`
	LinearCRPS       float64 `json:"linear_crps"`
	LinearLogLik     float64 `json:"linear_loglik"`
}

// Reliability is one point of the reliability diagram: the share of points that
// lay inside the central interval of the nominal level.
type Reliability struct {
	Nominal  float64 `json:"nominal"`
	Observed float64 `json:"observed"`
}

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

// fillIn returns the options with their defaults, or an error that names what
// does not fit a model with horizon H.
func (o Options) fillIn(H float64) (Options, error) {
	if o.Horizons == nil {
		o.Horizons = Grid(H)
	}
	o.Horizons = slices.Clone(o.Horizons)
	slices.Sort(o.Horizons)
	o.Horizons = slices.Compact(o.Horizons)
	if o.Stride == 0 {
		o.Stride = DefaultStride
	}
	switch first, last := o.Horizons[0], o.Horizons[len(o.Horizons)-1]; {
	case !(first > 0):
		return o, fmt.Errorf("horizon %g s is not positive", first)
	case last > H*(1+1e-9):
		return o, fmt.Errorf("horizon %g s is beyond the model's: it predicts up to %g s", last, H)
	case !(o.Stride > 0):
		return o, fmt.Errorf("stride %g s is not positive", o.Stride)
	case !(o.StartNoise >= 0) || math.IsInf(o.StartNoise, 0):
		return o, fmt.Errorf("%g times the sensors' noise cannot be added to start states", o.StartNoise)
	}
	return o, nil
}

// ShortError says that no window fits into the flights.
type ShortError struct {
	Needed, Longest float64 // s
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("no window of %g s with all channels measured: the longest stretch without a gap has %.3g s; choose shorter horizons or a longer log", e.Needed, e.Longest)
}

// DivergedError says that a prediction was not finite or had no width.
type DivergedError struct {
	Flight string
	T      int64 // ns, of the window's start
	Err    error // (optional) which score was impossible
}

func (e *DivergedError) Error() string {
	where := fmt.Sprintf("segment %q, window at %d ns", e.Flight, e.T)
	if e.Err != nil {
		return where + ": " + e.Err.Error()
	}
	return where + ": the prediction is not finite"
}

// Unwrap returns the cause.
func (e *DivergedError) Unwrap() error { return e.Err }

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
