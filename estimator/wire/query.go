package wire

import (
	"errors"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// What a query may ask for.
const (
	WantPredict  = "predict"  // distributions over the horizon
	WantDynamics = "dynamics" // derivative and its standard deviation at the states
	WantSamples  = "samples"  // trajectories drawn from the distributions
	WantModel    = "model"    // what the model is, a ModelInfo

	// Parts of WantPredict, and what there is beside them: several, separated by commas, and
	// with WantSamples. In the message they are an array.
	WantMean = "mean"
	WantStd  = "std"  // and ObsStd
	WantCov  = "cov"  // covariances of the states
	WantTube = "tube" // factors with which whole trajectories stay inside

	WantViolation = "violation" // probabilities to violate HalfSpaces and Boxes
	WantJacobian  = "jacobian"  // derivatives of the means by state and plan
	WantAdjoint   = "adjoint"   // gradients of a cost, by MeanAdjoint and StdAdjoint
)

// Query asks for predictions from a batch of states under given inputs. N is the number of states; with one
// state for all, it is the number of inputs or plans.
type Query struct {
	Want    string    `msg:"want,optional"`               // (optional) one, or several separated by commas; defaults to WantPredict
	States  []float64 `msg:"states,optional,most=answer"` // states×K row-major; none for WantModel
	P0      []float64 `msg:"P0,omitzero,most=answer"`     // (optional) K×K row-major, covariance of a state; one for all questions, or one for each
	U       []float64 `msg:"u,optional,most=answer"`      // (optional) rows of P, the input held; one row serves all
	Plans   []float64 `msg:"plans,optional,most=answer"`  // (optional) plans×Rows×P, input values from the state on, each held for PlanDt
	Rows    int       `msg:"rows,optional"`               // of each plan; with Plans
	PlanDt  float64   `msg:"plan_dt,omitzero"`            // s, of each row of a plan; with Plans
	Times   []float64 `msg:"times,optional,most=times"`   // (optional) s, ascending; defaults to the estimator's
	Samples uint64    `msg:"samples,omitzero"`            // (optional) trajectories of each; defaults to 1
	Seed    uint64    `msg:"seed,optional"`               // (optional) of the samples
	Timeout int64     `msg:"timeout,optional"`            // (optional) ns after which the answer is useless; defaults to 1 s
	Dtype   string    `msg:"dtype,optional"`              // (optional) of the answer's vectors: "f8" or "f4"; defaults to "f8"
	Parts   bool      `msg:"parts,omitzero"`              // (optional) the answer may come in several messages

	RequestDtype string `msg:"request_dtype,omitzero"` // (optional) of the vectors of the query: "f8" or "f4"; defaults to "f8"

	// What precedes the states; without it a model that reads history predicts without.
	History  string    `msg:"history,omitzero"`                // (optional) HistoryOfStream: the states that the estimator received, or empty
	HistoryT []float64 `msg:"history_t,omitzero,most=history"` // (optional) n, s, times of samples before the states, ascending, ≤ 0
	HistoryX []float64 `msg:"history_x,omitzero,most=answer"`  // n×K, one for all questions, or one for each
	HistoryU []float64 `msg:"history_u,omitzero,most=answer"`  // n×P, one for all, or one for each; the input held from the sample on

	// What is asked for the probability of, with WantViolation, see estimator.Limits.
	HalfSpaces []float64 `msg:"half_spaces,omitzero,most=half_spaces"` // rows of K+1: a, b; violated where a·x > b
	Boxes      []float64 `msg:"boxes,omitzero,most=boxes"`             // rows of 2K: low, high; violated inside; ±Inf is no bound

	// The derivatives of a cost by Mean and Std of the answer, with WantAdjoint; T×K numbers, one row for
	// all questions, or one for each.
	MeanAdjoint []float64 `msg:"mean_adjoint,omitzero,most=answer"`
	StdAdjoint  []float64 `msg:"std_adjoint,omitzero,most=answer"` // (optional)
}

// HistoryOfStream asks for the history before the newest state that the estimator
// received.
const HistoryOfStream = "stream"

// Limits of a query.
const (
	MaxBatch   = 4096
	MaxSamples = 10000
	MaxNumbers = 1 << 22 // of one vector of an answer, and of a query
	MaxHistory = 10000   // samples
	MaxLimits  = 64      // half-spaces and boxes
)

var queryKeys = msgbin.KeysOf[Query](limits)

// Append appends the message to dst.
func (q *Query) Append(dst []byte) []byte {
	var memory [mostFields]msgbin.Field
	f := fields(memory[:0], queryKeys, q)
	if strings.Contains(q.Want, ",") {
		list := strings.Split(q.Want, ",")
		f[1] = msgbin.Optional("want", &list)
	}
	if q.RequestDtype == float32s {
		msgbin.Shorten(f)
	}
	return encodeFields(dst, f)
}

// Decode reads a message into the memory of q. It returns an *Error if the message
// does not have the form that PROTOCOL.md describes, or a key that is not there; the
// numbers are not checked.
func (q *Query) Decode(b []byte) error {
	r := msgbin.AcquireReader(b)
	defer r.Release()
	var memory [mostFields]msgbin.Field
	f, later := r.Defer(fields(memory[:0], queryKeys, q), "want", "plan_dt", "samples")
	if err := r.OnlyFields(f); err != nil {
		if field := new(msgbin.FieldError); errors.As(err, &field) && errors.Is(err, msgbin.ErrUnknown) {
			var known []string
			for i := range f {
				known = append(known, f[i].Name)
			}
			return fail(Malformed, field.Field, "is not known; a query has %s", strings.Join(known, ", "))
		}
		return refused("", err)
	}
	if r.Left() > 0 {
		return fail(Malformed, "", "%d bytes after the message", r.Left())
	}
	if q.Rows < 0 || q.Rows > MaxPlan {
		return fail(WrongSize, "rows", "%d, expected 0 to %d", q.Rows, MaxPlan)
	}
	var want, planDt, samples msgbin.Raw
	for i := range later {
		switch later[i].Name {
		case "want":
			want = later[i].Raw
		case "plan_dt":
			planDt = later[i].Raw
		case "samples":
			samples = later[i].Raw
		}
	}
	if err := q.decodeWant(r, want); err != nil {
		return err
	}
	if err := q.decodeAboveZero(r, planDt, samples); err != nil {
		return err
	}
	return vectorsOf(r).all(later, q.RequestDtype, "request_dtype")
}

// decodeWant reads what is wanted: a string, or an array of strings.
func (q *Query) decodeWant(r *msgbin.Reader, want msgbin.Raw) error {
	q.Want = ""
	if len(want.Bytes) == 0 {
		return nil
	}
	r.ResetRaw(want)
	if name, err := r.StringBytes(mostWant); err == nil {
		q.Want = string(name)
		return nil
	}
	r.ResetRaw(want)
	n, err := r.Array(mostWants)
	if err == nil && n == 0 {
		return fail(Malformed, "want", "is an empty list: name what is wanted, or leave it out for predict")
	}
	for i := 0; err == nil && i < n; i++ {
		var name []byte
		if name, err = r.StringBytes(mostWant); err == nil && i > 0 {
			q.Want += ","
		}
		q.Want += string(name)
	}
	if err != nil {
		return &Error{Reason: Malformed, Field: "want", Err: err}
	}
	return nil
}

// decodeAboveZero reads what is not the same where it is 0 and where it is absent. Writers of
// earlier releases put a samples of 0 into queries that read none.
func (q *Query) decodeAboveZero(r *msgbin.Reader, planDt, samples msgbin.Raw) (err error) {
	q.PlanDt, q.Samples = 0, 0
	if len(planDt.Bytes) > 0 {
		r.ResetRaw(planDt)
		if q.PlanDt, err = r.Float64(); err != nil {
			return refused("plan_dt", err)
		}
		if q.PlanDt == 0 {
			return fail(Malformed, "plan_dt", "is 0, must be seconds above 0")
		}
	}
	if len(samples.Bytes) > 0 {
		r.ResetRaw(samples)
		if q.Samples, err = r.Uint64(); err != nil {
			return refused("samples", err)
		}
		if q.Samples == 0 && (strings.Contains(q.Want, WantSamples) || strings.Contains(q.Want, WantViolation)) {
			return fail(Malformed, "samples", "is 0, must be 1 or more, or be absent")
		}
	}
	return nil
}

// Bounds of what is wanted: names, and bytes of one.
const mostWants, mostWant = 16, 64

// Answer is the answer to a Query. Fields that were not requested are empty.
type Answer struct {
	Vehicle  string   `msg:"vehicle"`
	Model    string   `msg:"model"`
	Channels []string `msg:"channels,most=channels"` // K
	Inputs   string   `msg:"inputs,optional"`        // "plan" or "hold"
	Dtype    string   `msg:"dtype,optional"`         // (optional) of the vectors: "f8" or "f4"; defaults to "f8"

	NoHistory int   `msg:"no_history,optional"` // questions that were answered without all the history that the model reads
	Flags     Flags `msg:"flags,omitzero"`      // PlanHeld, PlanCut and CarriedCovariance, of all questions

	// Of an answer in parts, else 0.
	Part  int `msg:"part,omitzero"`  // number of this part, from 1 on
	Parts int `msg:"parts,omitzero"` // of all parts
	First int `msg:"first,omitzero"` // question that this part begins with, from 0 on

	Horizon []float64 `msg:"horizon,optional,most=answer"` // T, s
	Mean    []float64 `msg:"mean,optional,most=answer"`    // N×T×K
	Std     []float64 `msg:"std,optional,most=answer"`     // N×T×K
	ObsStd  []float64 `msg:"obs_std,optional,most=answer"` // N×T×K
	OOD     []float64 `msg:"ood,optional,most=answer"`     // N; above 1 is outside
	F       []float64 `msg:"f,optional,most=answer"`       // N×K, dx/dt per second
	SD      []float64 `msg:"sd,optional,most=answer"`      // N×K, its standard deviation
	Samples []float64 `msg:"samples,optional,most=answer"` // N×S×T×K
	Cov     []float64 `msg:"cov,omitzero,most=answer"`     // N×T×K×K, of the states; its diagonal is Std²

	Tube           []float64 `msg:"tube,omitzero,most=answer"`            // N×3, factors of 50, 90 and 95 %: whole trajectories stay within Mean ± factor·Std
	Violation      []float64 `msg:"violation,omitzero,most=answer"`       // N×(half-spaces, then boxes)×T: probability of each
	ViolationWhole []float64 `msg:"violation_whole,omitzero,most=answer"` // N: of any of them at any time

	Jacobian      []float64 `msg:"jacobian,omitzero,most=answer"`       // N×T×K×K, ∂Mean by the state
	InputJacobian []float64 `msg:"input_jacobian,omitzero,most=answer"` // N×T×K×(rows·P), by the plan, or by the input held (rows = 1)
	StartGradient []float64 `msg:"start_gradient,omitzero,most=answer"` // N×K, gradient of the cost by the state
	PlanGradient  []float64 `msg:"plan_gradient,omitzero,most=answer"`  // N×(rows·P), by the plan, or by the input held
}

var answerKeys = msgbin.KeysOf[Answer](limits)

// Fits reports whether the numbers are in the range of the floats of Dtype.
func (a *Answer) Fits() bool {
	most := math.MaxFloat64
	if a.Dtype == float32s {
		most = math.MaxFloat32
	}
	for _, f := range answerKeys.Fields(nil, a) {
		if f.Vector() == nil {
			continue
		}
		for _, x := range *f.Vector() {
			if math.IsNaN(x) || math.Abs(x) > most {
				return false
			}
		}
	}
	return true
}

// Append appends the message to dst, with 32-bit floats if Dtype is "f4", else with 64-bit floats.
func (a *Answer) Append(dst []byte) []byte {
	all := *a
	if all.Dtype != float32s {
		all.Dtype = float64s
	}
	var memory [mostFields]msgbin.Field
	f := fields(memory[:0], answerKeys, &all)
	if all.Dtype == float32s {
		msgbin.Shorten(f)
	}
	return encodeFields(dst, f)
}

// Decode reads a message into the memory of a.
func (a *Answer) Decode(b []byte) error {
	r := msgbin.AcquireReader(b)
	defer r.Release()
	var memory [mostFields]msgbin.Field
	f, vectors := r.Defer(fields(memory[:0], answerKeys, a))
	if err := message(r, f); err != nil {
		return err
	}
	return vectorsOf(r).all(vectors, a.Dtype, "dtype")
}
