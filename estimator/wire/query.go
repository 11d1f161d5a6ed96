package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// What a query may ask for.
const (
	WantPredict  = "predict"  // distributions over the horizon
	WantDynamics = "dynamics" // derivative and its standard deviation at the states
	WantSamples  = "samples"  // trajectories drawn from the dynamics
)

// Query is a batch of questions: what would happen from these states, under these
// inputs. N is the number of states, or of inputs or plans where there is one
// state for all of them.
type Query struct {
	Want    string    // (optional) defaults to WantPredict
	States  []float64 // states×K row-major
	U       []float64 // (optional) rows of P, the input held; one row serves all
	Plans   []float64 // (optional) plans×Rows×P, input values at equal steps over the model's horizon
	Rows    int       // (optional) rows of each plan; defaults to 1
	Times   []float64 // (optional) s, ascending; defaults to the estimator's
	Samples uint64    // (optional) trajectories of each; defaults to 1
	Seed    uint64    // (optional) everything random follows from it
	Timeout int64     // (optional) ns after which no answer is wanted; defaults to 1 s
	Dtype   string    // (optional) of the answer's vectors: "f8" or "f4"; defaults to "f8"
}

// Limits on what a query asks for.
const (
	MaxBatch   = 4096
	MaxSamples = 10000
	MaxNumbers = 1 << 22 // of one vector of an answer, and of a query
)

const (
	queryV = iota
	queryWant
	queryStates
	queryU
	queryPlans
	queryRows
	queryTimes
	querySamples
	querySeed
	queryTimeout
	queryDtype
)

// Append appends the message to dst.
func (q *Query) Append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, 11)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "v"), Version)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "want"), q.Want)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, "states"), q.States)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, "u"), q.U)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, "plans"), q.Plans)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "rows"), int64(q.Rows))
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, "times"), q.Times)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, "samples"), q.Samples)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, "seed"), q.Seed)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "timeout"), q.Timeout)
	return msgbin.AppendString(msgbin.AppendString(dst, "dtype"), q.Dtype)
}

// Decode reads a message into the memory of q. It returns an *Error if the message
// has not the form that PROTOCOL.md describes; what the numbers say is not checked.
func (q *Query) Decode(b []byte) error {
	f := open(b)
	*q = Query{States: q.States[:0], U: q.U[:0], Plans: q.Plans[:0], Times: q.Times[:0]}
	rows := int64(0)
	err := f.message(func(key []byte) error {
		switch string(key) {
		case "v":
			return f.version(queryV)
		case "want":
			return f.text(queryWant, "want", &q.Want)
		case "states":
			return f.floats(queryStates, "states", &q.States, MaxNumbers)
		case "u":
			return f.floats(queryU, "u", &q.U, MaxNumbers)
		case "plans":
			return f.floats(queryPlans, "plans", &q.Plans, MaxNumbers)
		case "rows":
			return f.int(queryRows, "rows", &rows)
		case "times":
			return f.floats(queryTimes, "times", &q.Times, MaxTimes)
		case "samples":
			return f.uint(querySamples, "samples", &q.Samples)
		case "seed":
			return f.uint(querySeed, "seed", &q.Seed)
		case "timeout":
			return f.int(queryTimeout, "timeout", &q.Timeout)
		case "dtype":
			return f.text(queryDtype, "dtype", &q.Dtype)
		}
		return f.skip(key)
	})
	if err != nil {
		return err
	}
	if err := f.need(queryV, "v"); err != nil {
		return err
	}
	if err := f.need(queryStates, "states"); err != nil {
		return err
	}
	if rows < 0 || rows > MaxPlan {
		return fail(WrongSize, "rows", "%d, expected 0 to %d", rows, MaxPlan)
	}
	q.Rows = int(rows)
	return nil
}

// Answer is what a query gives. Fields that were not asked for are empty.
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
}

// answerFields are the vectors of an answer, in the order in which they are
// written.
var answerFields = [...]string{"horizon", "mean", "std", "obs_std", "ood", "f", "sd", "samples"}

func (a *Answer) vectors() [len(answerFields)]*[]float64 {
	return [...]*[]float64{&a.Horizon, &a.Mean, &a.Std, &a.ObsStd, &a.OOD, &a.F, &a.SD, &a.Samples}
}

// Append appends the message to dst.
func (a *Answer) Append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, 6+len(answerFields))
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "v"), Version)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "vehicle"), a.Vehicle)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "model"), a.Model)
	dst = appendTexts(msgbin.AppendString(dst, "channels"), a.Channels)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "inputs"), a.Inputs)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "dtype"), a.Dtype)
	for i, v := range a.vectors() {
		dst = msgbin.AppendString(dst, answerFields[i])
		if a.Dtype == float32s {
			dst = msgbin.AppendRounded(dst, *v)
		} else {
			dst = msgbin.AppendFloats(dst, *v)
		}
	}
	return dst
}

// Size returns the bytes of the message, but for a few hundred.
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

const (
	answerV = iota
	answerVehicle
	answerModel
	answerChannels
	answerInputs
	answerDtype
	answerVectors
)

// Decode reads a message into the memory of a.
func (a *Answer) Decode(b []byte) error {
	f := open(b)
	a.Dtype = ""
	var spans [len(answerFields)][]byte
	w := width(8)
	err := f.message(func(key []byte) (err error) {
		switch string(key) {
		case "v":
			err = f.version(answerV)
		case "vehicle":
			err = f.text(answerVehicle, "vehicle", &a.Vehicle)
		case "model":
			err = f.text(answerModel, "model", &a.Model)
		case "channels":
			err = f.texts(answerChannels, "channels", &a.Channels, MaxChannels)
		case "inputs":
			err = f.text(answerInputs, "inputs", &a.Inputs)
		case "dtype":
			if w, err = f.width(answerDtype, "dtype"); w == 4 {
				a.Dtype = float32s
			} else {
				a.Dtype = float64s
			}
		default:
			i := 0
			for i < len(answerFields) && answerFields[i] != string(key) {
				i++
			}
			if i == len(answerFields) {
				return f.skip(key)
			}
			spans[i], err = f.span(answerVectors+i, answerFields[i], b)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, v := range a.vectors() {
		n := 0
		if len(spans[i]) > 0 {
			if n, err = count(spans[i], answerFields[i], w); err != nil {
				return err
			}
			if n > MaxNumbers {
				return fail(WrongSize, answerFields[i], "%d numbers, at most %d", n, MaxNumbers)
			}
		}
		if err := vector(v, spans[i], answerFields[i], n, w, "as many as there are"); err != nil {
			return err
		}
	}
	return f.needs("v", "vehicle", "model", "channels")
}
