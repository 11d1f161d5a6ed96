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

// Query asks for predictions from a batch of states under given inputs. N is the
// number of states, or of inputs or plans where there is one state for all of them.
type Query struct {
	Want    string    // (optional) one, or several separated by commas; defaults to WantPredict
	States  []float64 // states×K row-major; none for WantModel
	P0      []float64 // (optional) K×K row-major, covariance of a state; one for all questions, or one for each
	U       []float64 // (optional) rows of P, the input held; one row serves all
	Plans   []float64 // (optional) plans×Rows×P, input values from the state on, each held for PlanDt
	Rows    int       // of each plan; with Plans
	PlanDt  float64   // s, of each row of a plan; with Plans
	Times   []float64 // (optional) s, ascending; defaults to the estimator's
	Samples uint64    // (optional) trajectories of each; defaults to 1
	Seed    uint64    // (optional) of the samples
	Timeout int64     // (optional) ns after which the answer is useless; defaults to 1 s
	Dtype   string    // (optional) of the answer's vectors: "f8" or "f4"; defaults to "f8"
	Parts   bool      // (optional) the answer may come in several messages

	RequestDtype string // (optional) of the vectors of the query: "f8" or "f4"; defaults to "f8"

	// What is asked for the probability of, with WantViolation, see estimator.Limits.
	HalfSpaces []float64 // (optional) rows of K+1: a, b; violated where a·x > b
	Boxes      []float64 // (optional) rows of 2K: low, high; violated inside; ±Inf is no bound

	// The derivatives of a cost by Mean and Std of the answer, with WantAdjoint; T×K numbers, one row for
	// all questions, or one for each.
	MeanAdjoint []float64
	StdAdjoint  []float64 // (optional)

	// What precedes the states; without it a model that reads history predicts without.
	History  string    // (optional) HistoryOfStream: the states that the estimator received, or empty
	HistoryT []float64 // (optional) n, s, times of samples before the states, ascending, ≤ 0
	HistoryX []float64 // n×K, one for all questions, or one for each
	HistoryU []float64 // n×P, one for all, or one for each; the input held from the sample on
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

// queryKeys are listed where a key is not known.
const queryKeys = "v, want, states, P0, u, plans, rows, plan_dt, times, samples, seed, timeout, dtype, parts, request_dtype, history, history_t, history_x, history_u, half_spaces, boxes, mean_adjoint, std_adjoint"

func (q *Query) vectors() [12]struct {
	name string
	dst  *[]float64
	most int // numbers
} {
	return [...]struct {
		name string
		dst  *[]float64
		most int
	}{
		{"states", &q.States, MaxNumbers},
		{"P0", &q.P0, MaxNumbers},
		{"u", &q.U, MaxNumbers},
		{"plans", &q.Plans, MaxNumbers},
		{"times", &q.Times, MaxTimes},
		{"history_t", &q.HistoryT, MaxHistory},
		{"history_x", &q.HistoryX, MaxNumbers},
		{"history_u", &q.HistoryU, MaxNumbers},
		{"half_spaces", &q.HalfSpaces, MaxLimits * (MaxChannels + 1)},
		{"boxes", &q.Boxes, MaxLimits * 2 * MaxChannels},
		{"mean_adjoint", &q.MeanAdjoint, MaxNumbers},
		{"std_adjoint", &q.StdAdjoint, MaxNumbers},
	}
}

// fields are the fields of the message, in the order in which they are written; want, planDt and samples
// are where these are stored, and vector returns where those of the vectors are stored, in the order of vectors.
func (q *Query) fields(want, planDt, samples any, vector func(i int) any) [23]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Optional("want", want),
		msgbin.Optional("states", vector(0)),
		msgbin.OmitZero("P0", vector(1)),
		msgbin.Optional("u", vector(2)),
		msgbin.Optional("plans", vector(3)),
		msgbin.Optional("rows", &q.Rows),
		msgbin.OmitZero("plan_dt", planDt),
		msgbin.Optional("times", vector(4)),
		msgbin.OmitZero("samples", samples),
		msgbin.Optional("seed", &q.Seed),
		msgbin.Optional("timeout", &q.Timeout),
		msgbin.Optional("dtype", &q.Dtype),
		msgbin.OmitZero("parts", &q.Parts),
		msgbin.OmitZero("request_dtype", &q.RequestDtype),
		msgbin.OmitZero("history", &q.History),
		msgbin.OmitZero("history_t", vector(5)),
		msgbin.OmitZero("history_x", vector(6)),
		msgbin.OmitZero("history_u", vector(7)),
		msgbin.OmitZero("half_spaces", vector(8)),
		msgbin.OmitZero("boxes", vector(9)),
		msgbin.OmitZero("mean_adjoint", vector(10)),
		msgbin.OmitZero("std_adjoint", vector(11)),
	}
}

// Append appends the message to dst.
func (q *Query) Append(dst []byte) []byte {
	v := q.vectors()
	var want any = &q.Want
	if strings.Contains(q.Want, ",") {
		list := strings.Split(q.Want, ",")
		want = &list
	}
	f := q.fields(want, &q.PlanDt, &q.Samples, func(i int) any { return v[i].dst })
	if q.RequestDtype != float32s {
		return encodeFields(dst, f[:])
	}
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Map(msgbin.Written(f[:]))
		next := 0 // vector
		for i := range f {
			if next == len(v) || f[i].Name != v[next].name {
				w.Pairs(f[i : i+1])
				continue
			}
			if msgbin.Written(f[i:i+1]) > 0 {
				w.String(f[i].Name)
				w.Floats32(*v[next].dst)
			}
			next++
		}
	})
}

// Decode reads a message into the memory of q. It returns an *Error if the message
// does not have the form that PROTOCOL.md describes, or a key that is not there; the
// numbers are not checked.
func (q *Query) Decode(b []byte) error {
	v := q.vectors()
	var raw [len(v)]msgbin.Raw
	var want, planDt, samples msgbin.Raw
	f := q.fields(&want, &planDt, &samples, func(i int) any { return &raw[i] })
	r := msgbin.AcquireReader(b)
	defer r.Release()
	if err := r.OnlyFields(f[:]); err != nil {
		if field := new(msgbin.FieldError); errors.As(err, &field) && errors.Is(err, msgbin.ErrUnknown) {
			return fail(Malformed, field.Field, "is not known; a query has %s", queryKeys)
		}
		return refused("", err)
	}
	if r.Left() > 0 {
		return fail(Malformed, "", "%d bytes after the message", r.Left())
	}
	if q.Rows < 0 || q.Rows > MaxPlan {
		return fail(WrongSize, "rows", "%d, expected 0 to %d", q.Rows, MaxPlan)
	}
	if err := q.decodeWant(r, want); err != nil {
		return err
	}
	if err := q.decodeAboveZero(r, planDt, samples); err != nil {
		return err
	}
	read := vectorsOf(r)
	if err := read.setWidth([]byte(q.RequestDtype), "request_dtype"); err != nil {
		return err
	}
	for i := range v {
		if err := read.atMost(v[i].dst, raw[i], v[i].name, v[i].most); err != nil {
			return err
		}
	}
	return nil
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

// Answer is the answer to a Query. Fields that were not asked for are empty.
type Answer struct {
	Vehicle  string
	Model    string
	Channels []string  // K
	Inputs   string    // "plan" or "hold"
	Horizon  []float64 // T, s
	Mean     []float64 // N×T×K
	Std      []float64 // N×T×K
	ObsStd   []float64 // N×T×K
	OOD      []float64 // N; above 1 is outside
	F        []float64 // N×K, dx/dt per second
	SD       []float64 // N×K, its standard deviation
	Samples  []float64 // N×S×T×K
	Cov      []float64 // N×T×K×K, of the states; its diagonal is Std²

	Violation      []float64 // N×(half-spaces, then boxes)×T: probability of each
	ViolationWhole []float64 // N: of any of them at any time
	Tube           []float64 // N×3, factors of 50, 90 and 95 %: whole trajectories stay within Mean ± factor·Std

	Jacobian      []float64 // N×T×K×K, ∂Mean by the state
	InputJacobian []float64 // N×T×K×(rows·P), by the plan, or by the input held (rows = 1)
	StartGradient []float64 // N×K, gradient of the cost by the state
	PlanGradient  []float64 // N×(rows·P), by the plan, or by the input held

	Dtype string // (optional) of the vectors: "f8" or "f4"; defaults to "f8"

	NoHistory int   // questions that were answered without all the history that the model reads
	Flags     Flags // PlanHeld, PlanCut and CarriedCovariance, of all questions

	// Of an answer in parts, else 0.
	Part, Parts int // number of this part, from 1 on, and of all of them
	First       int // question that this part begins with, from 0 on
}

// answerFields are the vectors of an answer, in the order in which they are
// written; those from laterFields on are not written where they are empty.
var answerFields = [...]string{"horizon", "mean", "std", "obs_std", "ood", "f", "sd", "samples", "cov", "tube", "violation", "violation_whole", "jacobian", "input_jacobian", "start_gradient", "plan_gradient"}

const laterFields = 8

func (a *Answer) vectors() [len(answerFields)]*[]float64 {
	return [...]*[]float64{&a.Horizon, &a.Mean, &a.Std, &a.ObsStd, &a.OOD, &a.F, &a.SD, &a.Samples, &a.Cov, &a.Tube, &a.Violation, &a.ViolationWhole, &a.Jacobian, &a.InputJacobian, &a.StartGradient, &a.PlanGradient}
}

// head are the fields before the vectors, in the order in which they are written.
func (a *Answer) head(dtype *string) [11]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Required("vehicle", &a.Vehicle),
		msgbin.Required("model", &a.Model),
		msgbin.Required("channels", &a.Channels).Limit(MaxChannels),
		msgbin.Optional("inputs", &a.Inputs),
		msgbin.Optional("dtype", dtype),
		msgbin.Optional("no_history", &a.NoHistory),
		msgbin.OmitZero("flags", (*uint32)(&a.Flags)),
		msgbin.OmitZero("part", &a.Part),
		msgbin.OmitZero("parts", &a.Parts),
		msgbin.OmitZero("first", &a.First),
	}
}

// Fits reports whether the numbers are within the range of the floats of Dtype.
func (a *Answer) Fits() bool {
	most := math.MaxFloat64
	if a.Dtype == float32s {
		most = math.MaxFloat32
	}
	for _, v := range a.vectors() {
		for _, x := range *v {
			if math.IsNaN(x) || math.Abs(x) > most {
				return false
			}
		}
	}
	return true
}

// Append appends the message to dst, with floats of 32 bits where Dtype is "f4" and of
// 64 else.
func (a *Answer) Append(dst []byte) []byte {
	dtype := float64s
	if a.Dtype == float32s {
		dtype = float32s
	}
	head := a.head(&dtype)
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		n, vectors := laterFields, a.vectors()
		for _, v := range vectors[laterFields:] {
			n += min(len(*v), 1)
		}
		w.Map(msgbin.Written(head[:]) + n)
		w.Pairs(head[:])
		for i, v := range vectors {
			if i >= laterFields && len(*v) == 0 {
				continue
			}
			w.String(answerFields[i])
			if dtype == float32s {
				w.Floats32(*v)
			} else {
				w.Floats(*v)
			}
		}
	})
}

// Decode reads a message into the memory of a.
func (a *Answer) Decode(b []byte) error {
	head := a.head(&a.Dtype)
	var raw [len(answerFields)]msgbin.Raw
	fields := head[:]
	for i, name := range answerFields {
		fields = append(fields, msgbin.Optional(name, &raw[i]))
	}
	r := msgbin.AcquireReader(b)
	defer r.Release()
	if err := message(r, fields); err != nil {
		return err
	}
	v := vectorsOf(r)
	if err := v.setWidth([]byte(a.Dtype), "dtype"); err != nil {
		return err
	}
	for i, dst := range a.vectors() {
		if err := v.atMost(dst, raw[i], answerFields[i], MaxNumbers); err != nil {
			return err
		}
	}
	return nil
}
