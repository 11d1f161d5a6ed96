package export

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// interval is how many standard deviations hold 95 %.
const interval = 1.959963984540054

// forecast makes predictions from the samples of a log.
type forecast struct {
	p     *estimator.Predictor
	pred  *estimator.Prediction
	query estimator.Query
	K     int
	times []int64 // ns, of the horizons
}

// DefaultHorizons returns a tenth, a quarter, half and all of a model's horizon
// (s).
func DefaultHorizons(horizon float64) (out []time.Duration) {
	for _, share := range []float64{0.1, 0.25, 0.5, 1} {
		h := time.Duration(math.Floor(1e6*share*horizon)) * time.Microsecond
		if h > time.Duration(0) && (len(out) == 0 || h > out[len(out)-1]) {
			out = append(out, h)
		}
	}
	return out
}

// newForecast prepares predictions at horizons; none means four up to the
// model's own. The log's states and inputs must be the model's.
func newForecast(m *model.Model, channels []channel.Channel, horizons []time.Duration) (*forecast, error) {
	var mine []channel.Channel
	for _, role := range []channel.Role{channel.State, channel.Input} {
		mine = append(mine, channel.Select(channels, role)...)
	}
	if err := channel.SameLayout(m.Channels, mine); err != nil {
		return nil, fmt.Errorf("model and log are from different robots: %w", err)
	}
	f := &forecast{K: m.K}
	if len(horizons) == 0 {
		horizons = DefaultHorizons(m.Horizon)
	}
	var times []float64
	for _, h := range horizons {
		if h <= 0 || h.Seconds() > m.Horizon || len(times) > 0 && int64(h) <= f.times[len(f.times)-1] {
			return nil, fmt.Errorf("horizon %v: give horizons that rise, up to the model's %v", h, time.Duration(1e9*m.Horizon))
		}
		f.times = append(f.times, int64(h))
		times = append(times, h.Seconds())
	}
	var err error
	if f.p, err = estimator.New(m, times); err != nil {
		return nil, err
	}
	f.pred = f.p.NewPrediction()
	return f, nil
}

// from predicts from a state and the input held. ok is false where that cannot
// be.
func (f *forecast) from(x, u []float64) (ok bool) {
	if !number.Finite(x) || !number.Finite(u) {
		return false
	}
	f.query.X0, f.query.U = x, u
	if len(u) == 0 {
		f.query.U = nil
	}
	return f.p.Predict(f.pred, &f.query)
}

// band returns mean, lower and upper of each state at horizon i.
func (f *forecast) band(i int) []float64 {
	return Band(f.pred.Mean[i*f.K:(i+1)*f.K], f.pred.ObsStd[i*f.K:(i+1)*f.K])
}

// Band returns mean, lower and upper of each state, whose bands hold 95 % of
// measurements, as messages of bands have them.
func Band(mean, obsStd []float64) []float64 {
	out := make([]float64, 0, len(bands)*len(mean))
	for k := range mean {
		out = append(out, mean[k], mean[k]-interval*obsStd[k], mean[k]+interval*obsStd[k])
	}
	return out
}

// Label names a horizon as the topics of predictions do: 500ms, 1s, 1500us.
func Label(ns int64) string {
	switch {
	case ns%1e9 == 0:
		return strconv.FormatInt(ns/1e9, 10) + "s"
	case ns%1e6 == 0:
		return strconv.FormatInt(ns/1e6, 10) + "ms"
	}
	return strconv.FormatInt(ns/1e3, 10) + "us"
}
