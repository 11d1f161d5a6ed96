package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// estimate is the filter of a model: it makes states of measurements, in the order in which they are taken.
type estimate struct {
	filter *filter.Filter
	report Estimate

	message wire.Estimate
}

// Estimate is what is known of the filter.
type Estimate struct {
	Samples  uint64                // taken
	NIS      float64               // normalised innovations squared of the last ones, mean: 1 in a filter that is right
	Rejected uint64                // measurements that were outliers
	Resets   [filter.Resets]uint64 // by reason
}

// nisMemory is how many samples the mean of the normalised innovations squared is over, about.
const nisMemory = 500

// newEstimate returns nil for a model whose states are all measured.
func newEstimate(m *model.Model) (*estimate, error) {
	f, err := filter.Of(m.Filter, m.Channels[:m.K], m.P)
	if f == nil || err != nil {
		return nil, err
	}
	return &estimate{filter: f, message: wire.Estimate{P: make([]float64, m.K*m.K)}}, nil
}

// take makes the estimate of an arrival its state.
func (e *estimate) take(a *intake.Arrival, past *past) {
	a.Unsettled = false
	a.Measured, a.Compared = a.Measured[:0], a.Compared[:0]
	if e == nil {
		return
	}
	s := &a.State
	a.Measured = append(a.Measured, s.X...)
	r := e.filter.Update(s.T, a.Measured, past.inputAt(s))
	a.Unsettled = !e.filter.Settled()
	copy(s.X, e.filter.Estimate())
	for k, y := range a.Measured {
		switch {
		case !math.IsNaN(y):
			a.Compared = append(a.Compared, y)
		case a.Unsettled:
			s.X[k] = y
			fallthrough
		default:
			a.Compared = append(a.Compared, s.X[k])
		}
	}
	e.count(r, a.Unsettled)
}

func (e *estimate) count(r filter.Result, unsettled bool) {
	e.report.Samples++
	e.report.Rejected += uint64(r.Rejected)
	e.report.Resets[r.Reset]++
	if !unsettled && r.Used > 0 {
		n := float64(min(e.report.Samples, nisMemory))
		e.report.NIS += (r.NIS/float64(r.Used) - e.report.NIS) / n
	}
}

// AppendEstimate appends the message of what the filter makes of an arrival that was taken last to dst; nothing where all
// states are measured.
func (e *Engine) AppendEstimate(dst []byte, a *intake.Arrival) []byte {
	of, m := e.Loaded.estimate, &e.message
	if of == nil {
		return dst
	}
	o := &of.message
	o.Vehicle, o.Model, o.Instance, o.Channels, o.Units = m.Vehicle, m.Model, m.Instance, m.Channels, m.Units
	o.Seq, o.T, o.X, o.Settled = a.State.Seq, a.State.T, of.filter.Estimate(), !a.Unsettled
	o.Innovation, o.Ratio = of.filter.Innovations()
	of.filter.Covariance(o.P)
	o.NIS, o.Rejected, o.Sensors = of.report.NIS, of.report.Rejected, o.Sensors[:0]
	for k, y := range a.Measured {
		if !math.IsNaN(y) {
			o.Sensors = append(o.Sensors, m.Channels[k])
		}
	}
	return o.Append(dst)
}

// compared returns what predictions are compared with at an arrival.
func compared(a *intake.Arrival) []float64 {
	if len(a.Compared) > 0 {
		return a.Compared
	}
	return a.State.X
}
