package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// Flags are the bits of a prediction. The low 16 are warnings, the others are
// information. A reader treats an unknown warning as a warning.
type Flags uint32

// The flags.
const (
	OutOfDistribution Flags = 1 << 0  // the state or input is unlike the training data
	Late              Flags = 1 << 1  // sent after its deadline, see PROTOCOL.md
	Contested         Flags = 1 << 2  // another estimator answers for this vehicle
	Partial           Flags = 1 << 3  // the model's training was stopped early
	Stale             Flags = 1 << 4  // made from a state older than the age limit allows without warning
	Shortened         Flags = 1 << 5  // the horizon is shorter than configured, because there was no time for all of it
	Miscalibrated     Flags = 1 << 6  // lately measurements leave the intervals too often
	PlanUnused        Flags = 1 << 7  // the state came with a plan whose times are not known: predicted without it
	CarriedCovariance Flags = 1 << 16 // the state came with P0, or its estimate has a larger covariance than usual, and it is in std
	Chained           Flags = 1 << 17 // made from a prediction of the state, not from the state itself
	Widened           Flags = 1 << 18 // std and obs_std were enlarged for the age of the state
	NoHistory         Flags = 1 << 19 // the model reads history, and the stream had not enough of it
	PlanHeld          Flags = 1 << 20 // the plan ends before the horizon: from there on its last row is held
	PlanCut           Flags = 1 << 21 // the plan goes on after the horizon, and that part is not read
	Adapted           Flags = 1 << 22 // corrected by what adaptation has learned in this flight
)

// Warnings are the bits of all warnings, those of later versions included.
const Warnings Flags = 0xffff

// Prediction is the distribution of a vehicle's state over a horizon. K is
// len(Channels), T is len(Horizon).
type Prediction struct {
	Vehicle    string    `msg:"vehicle"`
	Model      string    `msg:"model"`                  // ID of the model
	Instance   string    `msg:"instance"`               // of the estimator process, random
	Seq        uint64    `msg:"seq"`                    // of the state
	T          int64     `msg:"t"`                      // ns, of the state
	ValidUntil int64     `msg:"valid_until"`            // ns, on the clock of T; later it must not be used
	Channels   []string  `msg:"channels,most=channels"` // K names
	Units      []string  `msg:"units,most=channels"`    // K, "" = none
	Horizon    []float64 `msg:"horizon,most=times"`     // T, s after T
	Mean       []float64 `msg:"mean,most=numbers"`      // T×K row-major, state units; angles are continuous from the state's own value
	Std        []float64 `msg:"std,most=numbers"`       // T×K, of the state
	ObsStd     []float64 `msg:"obs_std,most=numbers"`   // T×K, of a measurement of it
	Inputs     string    `msg:"inputs"`                 // "plan" or "hold"
	Flags      Flags     `msg:"flags"`
	OOD        float64   `msg:"ood"` // out-of-distribution score; above 1 is outside

	// Optional; 0 and empty are not written.
	Tick   uint64    `msg:"tick,omitzero"`                // number of the tick, at a fixed rate
	Age    float64   `msg:"age,omitzero"`                 // s between the measurement of the state and T; 0 = T is that of the state
	Factor []float64 `msg:"factor,omitzero,most=numbers"` // T×K, by which Std and ObsStd held too little, or too much, lately
	Tube   []float64 `msg:"tube,omitzero,most=tube"`      // 3 factors: whole trajectories stay within Mean ± factor·Std with probability 0.5, 0.9 and 0.95
}

var predictionKeys = msgbin.KeysOf[Prediction](limits)

// Append appends the message to dst.
func (p *Prediction) Append(dst []byte) []byte { return encode(dst, predictionKeys, p) }

// Decode reads a message into the memory of p. It returns an *Error if the message
// does not have the form that PROTOCOL.md describes; the content of p is then
// undefined.
func (p *Prediction) Decode(b []byte) error {
	if err := decode(b, predictionKeys, p); err != nil {
		return err
	}
	return p.shape()
}

// tubes is the number of factors in a message.
const tubes = 3

// shape checks that the lengths agree.
func (p *Prediction) shape() error {
	K, T := len(p.Channels), len(p.Horizon)
	if len(p.Units) != K {
		return fail(WrongSize, "units", "%d, for %d channels", len(p.Units), K)
	}
	for _, v := range [...]struct {
		field string
		n     int
	}{{"mean", len(p.Mean)}, {"std", len(p.Std)}, {"obs_std", len(p.ObsStd)}} {
		if v.n != T*K {
			return fail(WrongSize, v.field, "%d numbers, expected %d times × %d channels", v.n, T, K)
		}
	}
	if n := len(p.Tube); n > 0 && n != tubes {
		return fail(WrongSize, "tube", "%d numbers, expected %d or none", n, tubes)
	}
	if n := len(p.Factor); n > 0 && n != T*K {
		return fail(WrongSize, "factor", "%d numbers, expected %d times × %d channels or none", n, T, K)
	}
	return nil
}
