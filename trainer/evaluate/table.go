package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// Table is the result of an evaluation: scores by horizon and channel. All numbers are finite.
type Table struct {
	Model         string              `json:"model"` // the caller's name for it
	Log           string              `json:"log"`   // the caller's name for it
	Vehicle       string              `json:"vehicle"`
	ModelID       string              `json:"model_id"`
	EvaluatedID   string              `json:"judged_id,omitempty"` // ID of the model that was scored, where it is not the one of the file: the same networks, conditioned without these data
	Inputs        string              `json:"inputs"`              // plan or hold
	Truth         bool                `json:"truth"`
	WholeFlights  *bool               `json:"whole_flights,omitempty"` // whether no flight of these is one that the model was trained on, else errors and coverage on another flight are not known; nil = not known either
	StartNoise    float64             `json:"start_noise,omitempty"`   // noise added to start states, over the sensors' std
	StartCovGiven bool                `json:"start_told,omitempty"`    // the covariance of the start came with the state
	Stride        float64             `json:"stride"`
	Windows       int                 `json:"windows"`
	NoHistory     int                 `json:"no_history,omitempty"` // windows with less history before them than the model reads
	Excluded      float64             `json:"left_out,omitempty"`   // share of the log's values that the data check excluded
	Geo           Geo                 `json:"geo"`
	GeoState      *Geo                `json:"geo_state,omitempty"` // without the noise of the sensors, where a filter has found it
	Attitude      []string            `json:"attitude,omitempty"`  // names of the attitude's channels
	Calibrated    *BaselineComparison `json:"fair,omitempty"`      // nil where the model file has no errors of the linear model
	Networks      *Networks           `json:"networks,omitempty"`  // nil where the model has no prior dynamics
	Adapted       *Adapted            `json:"adapted,omitempty"`   // nil where it was not asked for, or the model cannot adapt
	Horizons      []Horizon           `json:"horizons"`

	// Coverage of the tubes by their nominal probability, as "0.95"; nil = the model has none.
	Joint map[string]JointCoverage `json:"joint,omitempty"`

	// Horizons that were left out; nil = none.
	TooShort *TooShort `json:"too_short,omitempty"`

	// Set by MeasureSmoothness; nil = not asked for, or the model has no Jacobian by the state.
	Derivatives *Smoothness `json:"derivatives,omitempty"`

	// Whole flights that the calibration of the model was fitted to; nil = not known.
	CalibrationFlights *int `json:"calibration_flights,omitempty"`
	// Names of the states that look like angles and were learned without a period.
	Angles []string `json:"angles,omitempty"`
	// Names of the states that were measured less than 20 times a second and in the longest horizon.
	Slow []string `json:"slow,omitempty"`
	// Names of the segments that the model was trained on, and the number of all segments; 0 =
	// not known.
	Trained  []string `json:"trained_on,omitempty"`
	Segments int      `json:"segments,omitempty"`
}

// Origin is what the scored data are to the model.
type Origin string

// The origins.
const (
	HeldOut         Origin = "held out"          // of the training's own logs, not trained on
	TrainedOn       Origin = "trained on"        // all segments
	PartlyTrainedOn Origin = "partly trained on" // some segments
	Evaluated       Origin = "evaluated"         // other logs: no segment is known to be trained on
)

// Origin returns what the scored data are to the model.
func (t *Table) Origin() Origin {
	switch {
	case t.WholeFlights != nil:
		return HeldOut
	case len(t.Trained) == 0:
		return Evaluated
	case len(t.Trained) < t.Segments:
		return PartlyTrainedOn
	}
	return TrainedOn
}

// Geo holds geometric means over channels and horizons of the RMSE over that of
// holding the last value: below 1 is better than holding.
type Geo struct {
	Model    float64 `json:"model"`
	Velocity float64 `json:"velocity"`
	Linear   float64 `json:"linear"`
	Ridge    float64 `json:"ridge"`
}

// Horizon holds the scores at one time after the state's.
type Horizon struct {
	T float64 `json:"t"` // s

	// Channels that are nowhere measured next to this time after a start, because their sensor
	// is slower than the log: their scores compare with interpolated values.
	Interpolated []string `json:"interpolated,omitempty"`

	// The attitude errors, rad: of the angle of the one rotation that takes the predicted
	// attitude into the measured one; nil without an attitude. The errors of roll, pitch and
	// yaw are no substitute: where the nose points up two of them turn about one axis, and
	// large errors of both may cancel.
	Attitude       *Errors       `json:"attitude,omitempty"`
	Independent    float64       `json:"independent"` // windows that do not overlap, about
	Channels       []Channel     `json:"channels"`
	Coverage95     float64       `json:"coverage95"` // mean over channels, with its interval
	Coverage95Low  float64       `json:"coverage95_low"`
	Coverage95High float64       `json:"coverage95_high"`
	Reliability    []Reliability `json:"reliability"` // pooled over channels
}

// Errors holds root mean square errors, of the model and of the baselines.
type Errors struct {
	RMSE     float64 `json:"rmse"`
	Hold     float64 `json:"hold"`     // of the last value
	Velocity float64 `json:"velocity"` // of x0 + v0 t, in the world frame where the body's velocity is declared
	Linear   float64 `json:"linear"`   // of the linear model; = hold where the model file has none
	Ridge    float64 `json:"ridge"`    // of the direct ridge regression on state, plan and the last five samples; = hold where the model file has none
}

// Channel holds the scores of one channel at one horizon, in the channel's unit.
// Coverage is that of the central 50, 90 and 95 % intervals.
type Channel struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Errors
	Coverage50     float64 `json:"coverage50"`
	Coverage90     float64 `json:"coverage90"`
	Coverage95     float64 `json:"coverage95"`
	Coverage95Low  float64 `json:"coverage95_low"` // 95 % block bootstrap
	Coverage95High float64 `json:"coverage95_high"`
	CRPS           float64 `json:"crps"`
	LogLik         float64 `json:"loglik"`          // per scalar measurement
	Std            float64 `json:"std"`             // mean of the scored standard deviation
	OOD            float64 `json:"ood"`             // share of windows flagged OOD
	Noise          float64 `json:"noise,omitempty"` // standard deviation of the sensor in what it is compared with, where a filter has found it

	// The linear model with its own calibrated interval; 0 where it is unknown.
	LinearCoverage95 float64 `json:"linear_coverage95"`
	LinearCRPS       float64 `json:"linear_crps"`
	LinearLogLik     float64 `json:"linear_loglik"`
}

// Reliability is one point of the calibration diagram: the share of points inside
// the central interval of the nominal level.
type Reliability struct {
	Nominal  float64 `json:"nominal"`
	Observed float64 `json:"observed"`
}

// BaselineComparison compares the distributions of the model with those of the linear
// model under an interval of its own, calibrated on the same held-out parts of the
// training data. Without it a model could win by its intervals against a baseline
// that has none.
type BaselineComparison struct {
	LogLik       float64 `json:"loglik"`        // mean over channels and horizons
	LinearLogLik float64 `json:"linear_loglik"` //
	CRPS         float64 `json:"crps"`          // geometric mean of the model's CRPS over the linear one's
}

// Better reports whether the model is better in both.
func (c *BaselineComparison) Better() bool { return c.LogLik > c.LinearLogLik && c.CRPS < 1 }

// Networks compares the model with its prior dynamics alone: the same model with
// network weight 0 and the same intervals. The log likelihoods are per scalar
// measurement, over all channels and horizons.
type Networks struct {
	RMSERatio   float64 `json:"rmse_ratio"` // of the model over the prior dynamics, geometric mean over channels and horizons
	LogLik      float64 `json:"loglik"`
	PriorLogLik float64 `json:"prior_loglik"`
	// The difference per window, and its 95 % block bootstrap. Where the interval
	// contains 0, the change is below the noise of the evaluation.
	GainLow   float64     `json:"gain_low"`
	GainHigh  float64     `json:"gain_high"`
	PriorRMSE [][]float64 `json:"prior_rmse"` // T×K, of the prior dynamics alone
}

// BelowNoise reports whether the evaluation cannot distinguish the model from its prior dynamics.
func (n *Networks) BelowNoise() bool { return n.GainLow <= 0 && n.GainHigh >= 0 }

// CoverageRange returns the smallest and the largest coverage of the 95 % intervals
// over the horizons, mean over channels.
func (t *Table) CoverageRange() (low, high float64) {
	low = 1
	for _, h := range t.Horizons {
		low, high = math.Min(low, h.Coverage95), math.Max(high, h.Coverage95)
	}
	return low, high
}

// LogLik returns the log likelihood per scalar measurement, mean over channels and horizons.
func (t *Table) LogLik() float64 {
	return t.mean(func(c *Channel) float64 { return c.LogLik })
}

// FlaggedOOD returns the share of predictions that were flagged OOD, mean over channels and horizons.
func (t *Table) FlaggedOOD() float64 { return t.mean(func(c *Channel) float64 { return c.OOD }) }

// mean returns that of a score over channels and horizons.
func (t *Table) mean(score func(c *Channel) float64) float64 {
	sum, n := 0.0, 0.0
	for _, h := range t.Horizons {
		for i := range h.Channels {
			sum, n = sum+score(&h.Channels[i]), n+1
		}
	}
	return sum / n
}

// Names of the baselines.
const (
	HoldName     = "hold"
	VelocityName = "velocity"
	LinearName   = "linear"
	RidgeName    = "ridge"
)

// Best returns the baseline with the smallest RMSE and its RMSE.
func (e *Errors) Best() (name string, rmse float64) {
	name, rmse = HoldName, e.Hold
	if e.Velocity < rmse {
		name, rmse = VelocityName, e.Velocity
	}
	if e.Linear < rmse {
		name, rmse = LinearName, e.Linear
	}
	if e.Ridge > 0 && e.Ridge < rmse { // 0 = a table of before it was a baseline
		name, rmse = RidgeName, e.Ridge
	}
	return name, rmse
}

// Best returns the baseline with the smallest geometric mean, and the model's RMSE over its.
func (g *Geo) Best() (name string, ratio float64) {
	name, base := (&Errors{Hold: 1, Velocity: g.Velocity, Linear: g.Linear, Ridge: g.Ridge}).Best()
	return name, g.Model / base
}

// leastState is the part of a sensor's variance that an error without it has at least: less is not told from none.
const leastState = 0.02

// without returns the errors without the noise of the sensor (its standard deviation) in what they compare with.
func (e Errors) without(noise float64) Errors {
	r := noise * noise
	for _, v := range []*float64{&e.RMSE, &e.Hold, &e.Velocity, &e.Linear, &e.Ridge} {
		*v = math.Sqrt(math.Max(*v**v-r, leastState*r))
	}
	return e
}

// NoiseShare returns which part of the model's squared error is the noise of the sensors, mean over horizons and channels.
func (t *Table) NoiseShare() (share float64) {
	n := 0.
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			if c.RMSE > 0 {
				share += math.Min(1, c.Noise*c.Noise/(c.RMSE*c.RMSE))
			}
			n++
		}
	}
	return share / math.Max(1, n)
}

// ChannelRatio is a channel's RMSE over that of its best baseline.
type ChannelRatio struct {
	Channel  string
	T        float64 // s, the horizon at which the ratio is largest
	Ratio    float64
	Baseline string // its name
}

// WorstRatios returns for every channel the horizon at which the model's RMSE is largest
// over that of the best baseline, the largest first. Channels that do not move are left out.
func (t *Table) WorstRatios() (all []ChannelRatio) {
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			name, rmse := c.Best()
			r := ChannelRatio{c.Name, h.T, c.RMSE / rmse, name}
			i := slices.IndexFunc(all, func(o ChannelRatio) bool { return o.Channel == c.Name })
			switch {
			case math.IsNaN(r.Ratio) || math.IsInf(r.Ratio, 0):
			case i < 0:
				all = append(all, r)
			case r.Ratio > all[i].Ratio:
				all[i] = r
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ChannelRatio) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return all
}
