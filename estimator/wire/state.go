package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// State is a measured state of a vehicle, the message that asks for a
// prediction. K and P are the vehicle's numbers of states and inputs.
type State struct {
	Seq    uint64    `msg:"seq"`              // increases by one from state to state
	T      int64     `msg:"t"`                // ns, when the state was measured; Unix time where clocks are shared
	X      []float64 `msg:"x"`                // K, in the order and units of the model
	P0     []float64 `msg:"P0,omitzero"`      // (optional) K×K row-major, covariance of X
	U      []float64 `msg:"u,omitzero"`       // (optional) P, the input held at T
	Plan   []float64 `msg:"plan,omitzero"`    // (optional) rows×P row-major, input values from T on, each held for PlanDt
	PlanDt float64   `msg:"plan_dt,omitzero"` // (optional) s, of each row of Plan; without it the rows divide the model's horizon, and see PROTOCOL.md when they are used
	Layout string    `msg:"layout,omitzero"`  // (optional) fingerprint of the channels, see Layout
	Sensor string    `msg:"sensor,omitzero"`  // (optional) of several senders of one vehicle, each with seq of its own: which; X has NaN for what it does not measure

	Unknown      int    // keys of a decoded message that this version does not know and skips
	FirstUnknown []byte // of these
}

var stateKeys = msgbin.KeysOf[State](limits)

// Append appends the message to dst.
func (s *State) Append(dst []byte) []byte { return encode(dst, stateKeys, s) }

// Decode reads a message of a vehicle with K states and P inputs into the memory of s. Missing optional fields
// are empty. It checks the form and the lengths; PlausibilityLimits check the numbers. After an *Error, Seq and
// T are those of the message, or 0 if they cannot be read, and the rest of s is undefined.
func (s *State) Decode(b []byte, K, P int) error {
	s.Seq, s.T = 0, 0
	r := msgbin.AcquireReader(b)
	defer r.Release()
	// The vectors are decoded last: the width of their floats may come after them.
	var memory [mostFields]msgbin.Field
	f, vectors := r.Defer(fields(memory[:0], stateKeys, s), "dtype")
	if err := message(r, f); err != nil {
		return err
	}
	x, p0, u, plan, dtype := &vectors[0].Raw, &vectors[1].Raw, &vectors[2].Raw, &vectors[3].Raw, &vectors[4].Raw
	unknown, first := r.Unknown()
	s.Unknown, s.FirstUnknown = unknown, append(s.FirstUnknown[:0], first...)
	v := vectorsOf(r)
	var width []byte
	if len(dtype.Bytes) > 0 {
		var err error
		r.ResetRaw(*dtype)
		if width, err = r.StringBytes(len(dtype.Bytes)); err != nil {
			return refused("dtype", err)
		}
	}
	if err := v.setWidth(width, "dtype"); err != nil {
		return err
	}
	if err := v.exactly(&s.X, *x, "x", K, "one for each state"); err != nil {
		return err
	}
	if len(s.X) != K {
		return fail(WrongSize, "x", "no numbers, expected %d (one for each state)", K)
	}
	if err := v.exactly(&s.P0, *p0, "P0", K*K, "states squared"); err != nil {
		return err
	}
	if err := v.exactly(&s.U, *u, "u", P, "one for each input"); err != nil {
		return err
	}
	return v.rows(&s.Plan, *plan, P)
}

// Layout returns the fingerprint of the channels of a state: the first 16 hex digits of the SHA-256 of one line
// "role name unit\n" for each state, then for each input, in order, the unit as channel.CanonicalUnit spells it.
// A model with other channels refuses states with this fingerprint, even if the lengths agree.
func Layout(all []channel.Channel) string { return layout(all, channel.CanonicalUnit) }

// LayoutAsSpelt is the fingerprint with the units as spelt, which senders of the first releases use.
func LayoutAsSpelt(all []channel.Channel) string {
	return layout(all, func(unit string) string { return unit })
}

func layout(all []channel.Channel, spell func(unit string) string) string {
	h := sha256.New()
	for _, role := range []channel.Role{channel.State, channel.Input} {
		for _, c := range channel.Select(all, role) {
			h.Write([]byte(string(c.Role) + " " + c.Name + " " + spell(c.Unit) + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
