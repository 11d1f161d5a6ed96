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
	filter *filter.Estimator
	model  *model.Model
	report Estimate

	input   []float64 // P, that the sender of inputs has sent last, of those with a name
	inputs  bool      // there is such a sender
	inputAt int64     // ns, when it was heard last

	message wire.Estimate
}

// Estimate is what is known of the filter.
type Estimate struct {
	Samples  uint64                // taken
	NIS      float64               // normalised innovations squared of the last ones, mean: 1 in a consistent filter
	Lagged   float64               // mean of the products of normalised innovations with those before, of a channel
	Rejected uint64                // measurements that were outliers
	Resets   [filter.Resets]uint64 // by reason
}

// nisMemory is how many samples the mean of the normalised innovations squared is over, about.
const nisMemory = 500

// newEstimate returns nil for a model whose states are all measured.
func newEstimate(m *model.Model) (*estimate, error) {
	f, err := filter.NewEstimator(m)
	if f == nil || err != nil {
		return nil, err
	}
	return &estimate{filter: f, model: m, message: wire.Estimate{P: make([]float64, m.K*m.K)}}, nil
}

// latest is for how long the input that was sent last counts for the other sensors, ns.
const latest = int64(1e9)

// take makes the estimate of an arrival its state. learned is how the robot differs from the model; nil = not.
func (e *estimate) take(a *intake.Arrival, past *past, learned *adaptation) {
	a.Unsettled, a.Late, a.Dropped, a.Unasked, a.Carried = false, false, false, false, false
	a.Measured, a.Compared = a.Measured[:0], a.Compared[:0]
	if e == nil {
		return
	}
	s := &a.State
	a.Stamp, a.Measured = s.T, append(a.Measured, s.X...)
	if s.Sensor != "" {
		e.filter.KeepLate()
		e.carry(a, past)
	}
	if by := learned.changed(); by != nil {
		e.filter.Changed(by)
	}
	taken := e.filter.Take(s.T, a.Measured, past.inputAt(s), s.Sensor != "")
	if a.Late, a.Dropped = taken.Late, taken.Dropped; a.Dropped {
		return
	}
	if a.Late {
		s.T = e.filter.Filter.Last()
	}
	a.Unsettled = !e.filter.State(s.X, a.Measured)
	s.P0 = append(s.P0[:0], e.filter.StartCovariance()...)
	innovation, _ := e.filter.Filter.Innovations()
	for k, y := range a.Measured {
		if math.IsNaN(innovation[k]) { // of what was not measured, or by a frozen sensor
			y = s.X[k]
		}
		a.Compared = append(a.Compared, y)
	}
	e.count(taken.Result, a.Unsettled)
}

// carry gives a state of a sensor the input of the sender that sends it.
func (e *estimate) carry(a *intake.Arrival, past *past) {
	s := &a.State
	switch {
	case e.model.P == 0:
	case len(s.U) > 0 || len(s.Plan) > 0:
		e.input, e.inputs, e.inputAt = append(e.input[:0], past.inputAt(s)...), true, s.T
	case e.inputs && s.T-e.inputAt < latest: // else it is silent, and the others are answered
		s.U, a.Carried, a.Unasked = append(s.U[:0], e.input...), true, true
	}
}

func (e *estimate) count(r filter.Result, unsettled bool) {
	e.report.Samples++
	e.report.Rejected += uint64(r.Rejected)
	e.report.Resets[r.Reset]++
	n := float64(min(e.report.Samples, nisMemory))
	if !unsettled && r.Judged > 0 {
		e.report.NIS += (r.NIS/float64(r.Judged) - e.report.NIS) / n
	}
	if !unsettled && r.Pairs > 0 {
		e.report.Lagged += (r.Lagged/float64(r.Pairs) - e.report.Lagged) / n
	}
}

// Whiteness returns the correlation of the innovations of a channel from one measurement to the next: 0 in a consistent filter.
func (e *Estimate) Whiteness() float64 {
	if e.NIS == 0 {
		return 0
	}
	return e.Lagged / e.NIS
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
	o.Seq, o.T, o.Sensor, o.X, o.Settled = a.State.Seq, a.State.T, a.State.Sensor, of.filter.Filter.Estimate(), !a.Unsettled
	o.Innovation, o.Ratio = of.filter.Filter.Innovations()
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
