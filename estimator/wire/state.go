package wire

import (
	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// State is a measured state of a vehicle, the message that asks for a
// prediction. K and P are the vehicle's numbers of states and inputs.
type State struct {
	Seq    uint64    // grows by one from state to state
	T      int64     // ns, when the state was measured; Unix time where clocks are shared
	X      []float64 // K, in the order and units of the model
	P0     []float64 // (optional) K×K row-major, covariance of X
	U      []float64 // (optional) P, the input held at T
	Plan   []float64 // (optional) rows×P row-major, input values at equal steps over the horizon from T
	Layout string    // (optional) fingerprint of the channels, see Layout
}

// The known fields of a state.
const (
	stateV = iota
	stateSeq
	stateT
	stateX
	stateP0
	stateU
	statePlan
	stateDtype
	stateLayout
)

// Append appends the message to dst.
func (s *State) Append(dst []byte) []byte {
	n := 4
	for _, v := range [...][]float64{s.P0, s.U, s.Plan} {
		if len(v) > 0 {
			n++
		}
	}
	if s.Layout != "" {
		n++
	}
	dst = msgbin.AppendMapHeader(dst, n)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "v"), Version)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, "seq"), s.Seq)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "t"), s.T)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, "x"), s.X)
	if len(s.P0) > 0 {
		dst = msgbin.AppendFloats(msgbin.AppendString(dst, "P0"), s.P0)
	}
	if len(s.U) > 0 {
		dst = msgbin.AppendFloats(msgbin.AppendString(dst, "u"), s.U)
	}
	if len(s.Plan) > 0 {
		dst = msgbin.AppendFloats(msgbin.AppendString(dst, "plan"), s.Plan)
	}
	if s.Layout != "" {
		dst = msgbin.AppendString(msgbin.AppendString(dst, "layout"), s.Layout)
	}
	return dst
}

// spans are the vectors of a state as they stand in the message. They are read
// last, because the width of their floats may be said after them.
type spans struct{ x, p0, u, plan []byte }

// Decode reads a message of a vehicle with K states and P inputs into the memory
// of s. Optional fields that it lacks are empty. It checks the form and the
// lengths; what the numbers say is for Check. After an *Error s holds anything.
func (s *State) Decode(b []byte, K, P int) error {
	f := open(b)
	var v spans
	w := width(8)
	err := f.message(func(key []byte) (err error) {
		switch string(key) {
		case "v":
			err = f.version(stateV)
		case "seq":
			err = f.uint(stateSeq, "seq", &s.Seq)
		case "t":
			err = f.int(stateT, "t", &s.T)
		case "x":
			v.x, err = f.span(stateX, "x", b)
		case "P0":
			v.p0, err = f.span(stateP0, "P0", b)
		case "u":
			v.u, err = f.span(stateU, "u", b)
		case "plan":
			v.plan, err = f.span(statePlan, "plan", b)
		case "dtype":
			w, err = f.width(stateDtype, "dtype")
		case "layout":
			err = f.text(stateLayout, "layout", &s.Layout)
		default:
			err = f.skip(key)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !f.has(stateLayout) {
		s.Layout = ""
	}
	if err := f.needs("v", "seq", "t", "x"); err != nil {
		return err
	}
	return s.vectors(&v, w, K, P)
}

// vectors reads the vectors, whose bins hold floats of w bytes.
func (s *State) vectors(v *spans, w width, K, P int) error {
	if err := vector(&s.X, v.x, "x", K, w, "one for each state"); err != nil {
		return err
	}
	if len(s.X) != K {
		return fail(WrongSize, "x", "no numbers, expected %d (one for each state)", K)
	}
	if err := vector(&s.P0, v.p0, "P0", K*K, w, "states squared"); err != nil {
		return err
	}
	if err := vector(&s.U, v.u, "u", P, w, "one for each input"); err != nil {
		return err
	}
	return plan(&s.Plan, v.plan, P, w)
}
