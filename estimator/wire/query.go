package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// The results that a query may ask for.
const (
	WantPredict  = "predict"  // distributions over the horizon
	WantDynamics = "dynamics" // derivative and its standard deviation at the states
	WantSamples  = "samples"  // trajectories drawn from the dynamics
)

// Query asks for predictions from a batch of states under given inputs. N is the
// number of states, or of inputs or plans where there is one state for all of them.
type Query struct {
	Want    string    // (optional) defaults to WantPredict
	States  []float64 // states×K row-major
	U       []float64 // (optional) rows of P, the input held; one row serves all
	Plans   []float64 // (optional) plans×Rows×P, input values at equal steps over the model's horizon
	Rows    int       // (optional) rows of each plan; defaults to 1
	Times   []float64 // (optional) s, ascending; defaults to the estimator's
	Samples uint64    // (optional) trajectories of each; defaults to 1
	Seed    uint64    // (optional) of the samples
	Timeout int64     // (optional) ns after which the answer is useless; defaults to 1 s
	Dtype   string    // (optional) of the answer's vectors: "f8" or "f4"; defaults to "f8"

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
)

// fields are the fields of the message, in the order in which they are written.
func (q *Query) fields() [15]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Optional("want", &q.Want),
		msgbin.Required("states", &q.States).Limit(MaxNumbers),
		msgbin.Optional("u", &q.U).Limit(MaxNumbers),
		msgbin.Optional("plans", &q.Plans).Limit(MaxNumbers),
		msgbin.Optional("rows", &q.Rows),
		msgbin.Optional("times", &q.Times).Limit(MaxTimes),
		msgbin.Optional("samples", &q.Samples),
		msgbin.Optional("seed", &q.Seed),
		msgbin.Optional("timeout", &q.Timeout),
		msgbin.Optional("dtype", &q.Dtype),
		msgbin.OmitZero("history", &q.History),
		msgbin.OmitZero("history_t", &q.HistoryT).Limit(MaxHistory),
		msgbin.OmitZero("history_x", &q.HistoryX).Limit(MaxNumbers),
		msgbin.OmitZero("history_u", &q.HistoryU).Limit(MaxNumbers),
	}
}

// Append appends the message to dst.
func (q *Query) Append(dst []byte) []byte {
	f := q.fields()
	return encode(dst, f[:])
}

// Decode reads a message into the memory of q. It returns an *Error if the message
// does not have the form that PROTOCOL.md describes; the numbers are not checked.
func (q *Query) Decode(b []byte) error {
	f := q.fields()
	if err := decode(b, f[:]); err != nil {
		return err
	}
	if q.Rows < 0 || q.Rows > MaxPlan {
		return fail(WrongSize, "rows", "%d, expected 0 to %d", q.Rows, MaxPlan)
	}
	return nil
}

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
	Dtype    string    // of the vectors: "f8" or "f4"

	NoHistory int // questions that were answered without all the history that the model reads
}

// answerFields are the vectors of an answer, in the order in which they are
// written.
var answerFields = [...]string{"horizon", "mean", "std", "obs_std", "ood", "f", "sd", "samples"}

func (a *Answer) vectors() [len(answerFields)]*[]float64 {
	return [...]*[]float64{&a.Horizon, &a.Mean, &a.Std, &a.ObsStd, &a.OOD, &a.F, &a.SD, &a.Samples}
}

// head are the fields before the vectors, in the order in which they are written.
func (a *Answer) head() [7]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Required("vehicle", &a.Vehicle),
		msgbin.Required("model", &a.Model),
		msgbin.Required("channels", &a.Channels).Limit(MaxChannels),
		msgbin.Optional("inputs", &a.Inputs),
		msgbin.Optional("dtype", &a.Dtype),
		msgbin.Optional("no_history", &a.NoHistory),
	}
}

// Append appends the message to dst.
func (a *Answer) Append(dst []byte) []byte {
	head := a.head()
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Map(len(head) + len(answerFields))
		w.Pairs(head[:])
		for i, v := range a.vectors() {
			w.String(answerFields[i])
			if a.Dtype == float32s {
				w.Floats32(*v)
			} else {
				w.Floats(*v)
			}
		}
	})
}

// Size returns the bytes of the message, up to a few hundred.
func (a *Answer) Size() int {
	n := 0
	for _, v := range a.vectors() {
		n += len(*v)
	}
	if a.Dtype == float32s {
		return 4 * n
	}
	return 8 * n
}

// Decode reads a message into the memory of a.
func (a *Answer) Decode(b []byte) error {
	head := a.head()
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
	v := vectors{r: r}
	if err := v.setWidth([]byte(a.Dtype)); err != nil {
		return err
	}
	for i, dst := range a.vectors() {
		n, err := v.count(raw[i], answerFields[i])
		if err != nil {
			return err
		}
		if n > MaxNumbers {
			return fail(WrongSize, answerFields[i], "%d numbers, at most %d", n, MaxNumbers)
		}
		if err := v.read(dst, raw[i], answerFields[i], n); err != nil {
			return err
		}
	}
	return nil
}
