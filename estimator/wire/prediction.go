package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// Flags are the bits of a prediction. The low 16 are warnings: a reader that
// meets one it does not know treats it as a reason for caution. The rest inform.
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
	CarriedCovariance Flags = 1 << 16 // the state came with P0, and it is in std
	Chained           Flags = 1 << 17 // made from a prediction of the state, not from the state itself
	Widened           Flags = 1 << 18 // std and obs_std were enlarged for the age of the state
)

// Warnings are the bits that ask for caution, those of later versions included.
const Warnings Flags = 0xffff

// Prediction is the distribution of a vehicle's state over a horizon. K is
// len(Channels), T is len(Horizon).
type Prediction struct {
	Vehicle    string
	Model      string    // ID of the model
	Instance   string    // of the estimator process, random
	Seq        uint64    // of the state
	T          int64     // ns, of the state
	ValidUntil int64     // ns, on the clock of T; later it must not be used
	Channels   []string  // K names
	Units      []string  // K, "" = none
	Horizon    []float64 // T, s after T
	Mean       []float64 // T×K row-major, state units; angles are continuous from the state's own value
	Std        []float64 // T×K, of the state
	ObsStd     []float64 // T×K, of a measurement of it
	Inputs     string    // "plan" or "hold"
	Flags      Flags
	OOD        float64 // out-of-distribution score; above 1 is outside

	// Optional; 0 and empty are not written.
	Tick   uint64    // number of the tick, at a fixed rate
	Age    float64   // s between the measurement of the state and T; 0 = T is that of the state
	Factor []float64 // T×K, by which Std and ObsStd held too little, or too much, lately
}

// The known fields of a prediction.
const (
	predictionV = iota
	predictionVehicle
	predictionModel
	predictionInstance
	predictionSeq
	predictionT
	predictionValidUntil
	predictionChannels
	predictionUnits
	predictionHorizon
	predictionMean
	predictionStd
	predictionObsStd
	predictionInputs
	predictionFlags
	predictionOOD
	predictionTick
	predictionAge
	predictionFactor
	predictionFields
	predictionNeeded = predictionTick // those before it are in every message
)

// predictionNames are their names, in the order in which they are written.
var predictionNames = [predictionFields]string{
	"v", "vehicle", "model", "instance", "seq", "t", "valid_until", "channels", "units",
	"horizon", "mean", "std", "obs_std", "inputs", "flags", "ood", "tick", "age", "factor",
}

// Append appends the message to dst.
func (p *Prediction) Append(dst []byte) []byte {
	name := &predictionNames
	n := predictionNeeded
	for _, there := range [...]bool{p.Tick != 0, p.Age != 0, len(p.Factor) > 0} {
		if there {
			n++
		}
	}
	dst = msgbin.AppendMapHeader(dst, n)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, name[predictionV]), Version)
	dst = msgbin.AppendString(msgbin.AppendString(dst, name[predictionVehicle]), p.Vehicle)
	dst = msgbin.AppendString(msgbin.AppendString(dst, name[predictionModel]), p.Model)
	dst = msgbin.AppendString(msgbin.AppendString(dst, name[predictionInstance]), p.Instance)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, name[predictionSeq]), p.Seq)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, name[predictionT]), p.T)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, name[predictionValidUntil]), p.ValidUntil)
	dst = appendTexts(msgbin.AppendString(dst, name[predictionChannels]), p.Channels)
	dst = appendTexts(msgbin.AppendString(dst, name[predictionUnits]), p.Units)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, name[predictionHorizon]), p.Horizon)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, name[predictionMean]), p.Mean)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, name[predictionStd]), p.Std)
	dst = msgbin.AppendFloats(msgbin.AppendString(dst, name[predictionObsStd]), p.ObsStd)
	dst = msgbin.AppendString(msgbin.AppendString(dst, name[predictionInputs]), p.Inputs)
	dst = msgbin.AppendUint(msgbin.AppendString(dst, name[predictionFlags]), uint64(p.Flags))
	dst = msgbin.AppendFloat64(msgbin.AppendString(dst, name[predictionOOD]), p.OOD)
	if p.Tick != 0 {
		dst = msgbin.AppendUint(msgbin.AppendString(dst, name[predictionTick]), p.Tick)
	}
	if p.Age != 0 {
		dst = msgbin.AppendFloat64(msgbin.AppendString(dst, name[predictionAge]), p.Age)
	}
	if len(p.Factor) > 0 {
		dst = msgbin.AppendFloats(msgbin.AppendString(dst, name[predictionFactor]), p.Factor)
	}
	return dst
}

// Decode reads a message into the memory of p. It returns an *Error if the
// message has not the form that PROTOCOL.md describes; p then holds anything.
func (p *Prediction) Decode(b []byte) error {
	f := open(b)
	var flags uint64
	p.Tick, p.Age, p.Factor = 0, 0, p.Factor[:0]
	err := f.message(func(key []byte) error {
		switch string(key) {
		case "v":
			return f.version(predictionV)
		case "vehicle":
			return f.text(predictionVehicle, "vehicle", &p.Vehicle)
		case "model":
			return f.text(predictionModel, "model", &p.Model)
		case "instance":
			return f.text(predictionInstance, "instance", &p.Instance)
		case "seq":
			return f.uint(predictionSeq, "seq", &p.Seq)
		case "t":
			return f.int(predictionT, "t", &p.T)
		case "valid_until":
			return f.int(predictionValidUntil, "valid_until", &p.ValidUntil)
		case "channels":
			return f.texts(predictionChannels, "channels", &p.Channels, MaxChannels)
		case "units":
			return f.texts(predictionUnits, "units", &p.Units, MaxChannels)
		case "horizon":
			return f.floats(predictionHorizon, "horizon", &p.Horizon, MaxTimes)
		case "mean":
			return f.floats(predictionMean, "mean", &p.Mean, MaxTimes*MaxChannels)
		case "std":
			return f.floats(predictionStd, "std", &p.Std, MaxTimes*MaxChannels)
		case "obs_std":
			return f.floats(predictionObsStd, "obs_std", &p.ObsStd, MaxTimes*MaxChannels)
		case "inputs":
			return f.text(predictionInputs, "inputs", &p.Inputs)
		case "flags":
			return f.uint(predictionFlags, "flags", &flags)
		case "ood":
			return f.float(predictionOOD, "ood", &p.OOD)
		case "tick":
			return f.uint(predictionTick, "tick", &p.Tick)
		case "age":
			return f.float(predictionAge, "age", &p.Age)
		case "factor":
			return f.floats(predictionFactor, "factor", &p.Factor, MaxTimes*MaxChannels)
		}
		return f.skip(key)
	})
	if err != nil {
		return err
	}
	p.Flags = Flags(flags) // of 64 bits a later version may use those above
	if err := f.needs(predictionNames[:predictionNeeded]...); err != nil {
		return err
	}
	return p.shape()
}

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
	if n := len(p.Factor); n > 0 && n != T*K {
		return fail(WrongSize, "factor", "%d numbers, expected %d times × %d channels or none", n, T, K)
	}
	return nil
}

// appendTexts appends a list of strings.
func appendTexts(dst []byte, list []string) []byte {
	dst = msgbin.AppendArrayHeader(dst, len(list))
	for _, s := range list {
		dst = msgbin.AppendString(dst, s)
	}
	return dst
}
