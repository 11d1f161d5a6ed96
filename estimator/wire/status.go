package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// How an estimator decides when to predict.
const (
	ModeAnswer = "answer" // once for each state, at once
	ModeRate   = "rate"   // at a fixed rate, from the newest state
)

// What the input of an estimator is doing.
const (
	InputNone  = "none"  // no state was taken yet
	InputLive  = "live"  // states come
	InputStale = "stale" // the last state is so old that no prediction from it holds
)

// Status is what an estimator says about itself once a second. Counters run from
// the start of the process; rates, latencies and allocations are of the time
// since the last status.
type Status struct {
	Vehicle     string
	Model       string        // ID of the model
	Instance    string        // of the process, random
	T           int64         // ns, Unix time on the estimator's clock
	Uptime      float64       // s
	Input       string        // InputNone, InputLive or InputStale
	InputAge    float64       // s since the last state was taken; −1 = none yet
	Received    uint64        // states that came, good or bad
	Published   uint64        // predictions that were sent
	Late        uint64        // of those, sent after their deadline
	Missed      uint64        // sequence numbers that never came
	StateRate   float64       // Hz, states that came
	PredictRate float64       // Hz, predictions that were sent
	LatencyP50  float64       // s, from a state's arrival to its prediction handed to the link
	LatencyP99  float64       // s
	LatencyMax  float64       // s
	Allocs      float64       // allocations of the process per prediction sent
	Reconnects  uint64        // times the link came back
	Reasons     []ReasonCount // why states were not answered, those that occurred
	Others      []Other       // other estimators seen answering for this vehicle

	// What follows is of later origin: a reader must not rely on it being there.
	Mode          string        // ModeAnswer or ModeRate
	Rate          float64       // Hz of the ticks; 0 = one for each state
	Ticks         uint64        // that were due
	Used          uint64        // states that a prediction started from
	Shortened     uint64        // predictions of a shorter horizon than configured
	Widened       uint64        // predictions made wider for the age of their state
	Silent        []ReasonCount // why ticks gave no prediction
	Phases        []Phase       // where the time of a prediction goes, since the last status
	ClockOffset   float64       // s, the robot's clock over the estimator's, least delay included
	Delay         float64       // s, of the last state above the least delay seen, or by a shared clock
	Miscalibrated uint64        // pairs of channel and bucket whose intervals hold too little
	Buckets       []float64     // B, s, upper ends of the buckets of the horizon
	Checks        []float64     // B×K row-major, predictions that were held against what came
	Coverage      []float64     // B×K, running share of measurements within mean ± 1.96 obs_std; −1 = none yet
	Recalibrated  []float64     // B×K, the same with factor·obs_std; −1 = none yet
	Nees          []float64     // B×K, running mean of ((measured − mean)/obs_std)²; −1 = none yet
	Factor        []float64     // B×K, as published
	Health        float64       // root mean square of (smoother's derivative − f)/their std; −1 = not known
	Recording     string        // "" = off, "on", or why it ended
	Unrecorded    uint64        // records that the disk was too slow for
	Swaps         uint64        // models taken while running
	Refused       string        // why the last model offered was not taken; "" = none was refused
	Memory        uint64        // bytes that the process has from the operating system
	Goroutines    uint64
}

// Phase is where a part of the time of a prediction goes.
type Phase struct {
	Name          string  // decode, predict, encode or publish
	P50, P99, Max float64 // s
}

// ReasonCount counts the states that were not answered for one reason.
type ReasonCount struct {
	Reason string // its name, see Reason
	Count  uint64
	Text   string // a sentence: what it means and what to do
	Last   string // what was found the last time
}

// Other is another estimator that answers for the same vehicle.
type Other struct {
	Instance string
	Model    string
	Age      float64 // s since its last status
}

// The known fields of a status.
const (
	statusV = iota
	statusVehicle
	statusModel
	statusInstance
	statusT
	statusUptime
	statusInput
	statusInputAge
	statusReceived
	statusPublished
	statusLate
	statusMissed
	statusStateRate
	statusPredictRate
	statusLatencyP50
	statusLatencyP99
	statusLatencyMax
	statusAllocs
	statusReconnects
	statusReasons
	statusOthers
	statusMode
	statusRate
	statusTicks
	statusUsed
	statusShortened
	statusWidened
	statusSilent
	statusPhases
	statusClockOffset
	statusDelay
	statusMiscalibrated
	statusBuckets
	statusChecks
	statusCoverage
	statusRecalibrated
	statusNees
	statusFactor
	statusHealth
	statusRecording
	statusUnrecorded
	statusSwaps
	statusRefused
	statusMemory
	statusGoroutines
	statusFields
	statusNeeded = statusMode // those before it are in every message of the version
)

var statusNames = [statusFields]string{
	"v", "vehicle", "model", "instance", "t", "uptime", "input", "input_age", "received", "published",
	"late", "missed", "state_rate", "predict_rate", "latency_p50", "latency_p99", "latency_max",
	"allocs", "reconnects", "reasons", "others",
	"mode", "rate", "ticks", "used", "shortened", "widened", "silent", "phases", "clock_offset", "delay",
	"miscalibrated", "buckets", "checks", "coverage", "recalibrated", "nees", "factor", "health",
	"recording", "unrecorded", "swaps", "refused", "memory", "goroutines",
}

// Append appends the message to dst.
func (s *Status) Append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, statusFields)
	for i, name := range statusNames {
		dst = msgbin.AppendString(dst, name)
		switch v := s.field(i).(type) {
		case nil: // statusV
			dst = msgbin.AppendInt(dst, Version)
		case *[]ReasonCount:
			dst = reasonShape.append(dst, *v)
		case *[]Phase:
			dst = phaseShape.append(dst, *v)
		case *[]Other:
			dst = otherShape.append(dst, *v)
		default:
			dst = appendValue(dst, v)
		}
	}
	return dst
}

// field returns a pointer to field i, nil for the version.
func (s *Status) field(i int) any {
	return [statusFields]any{
		statusVehicle: &s.Vehicle, statusModel: &s.Model, statusInstance: &s.Instance,
		statusT: &s.T, statusUptime: &s.Uptime, statusInput: &s.Input, statusInputAge: &s.InputAge,
		statusReceived: &s.Received, statusPublished: &s.Published, statusLate: &s.Late, statusMissed: &s.Missed,
		statusStateRate: &s.StateRate, statusPredictRate: &s.PredictRate,
		statusLatencyP50: &s.LatencyP50, statusLatencyP99: &s.LatencyP99, statusLatencyMax: &s.LatencyMax,
		statusAllocs: &s.Allocs, statusReconnects: &s.Reconnects,
		statusReasons: &s.Reasons, statusOthers: &s.Others,
		statusMode: &s.Mode, statusRate: &s.Rate, statusTicks: &s.Ticks, statusUsed: &s.Used,
		statusShortened: &s.Shortened, statusWidened: &s.Widened,
		statusSilent: &s.Silent, statusPhases: &s.Phases,
		statusClockOffset: &s.ClockOffset, statusDelay: &s.Delay,
		statusMiscalibrated: &s.Miscalibrated, statusBuckets: &s.Buckets, statusChecks: &s.Checks,
		statusCoverage: &s.Coverage, statusRecalibrated: &s.Recalibrated, statusNees: &s.Nees,
		statusFactor: &s.Factor, statusHealth: &s.Health,
		statusRecording: &s.Recording, statusUnrecorded: &s.Unrecorded, statusSwaps: &s.Swaps, statusRefused: &s.Refused,
		statusMemory: &s.Memory, statusGoroutines: &s.Goroutines,
	}[i]
}

// Decode reads a message into s. It returns an *Error if the message has not the
// form that PROTOCOL.md describes; s then holds anything.
func (s *Status) Decode(b []byte) error {
	f := open(b)
	s.clearLater()
	err := f.message(func(key []byte) error {
		i := 0
		for i < statusFields && statusNames[i] != string(key) {
			i++
		}
		if i == statusFields {
			return f.skip(key)
		}
		switch v := s.field(i).(type) {
		case nil: // statusV
			return f.version(i)
		case *[]ReasonCount:
			return reasonShape.decode(&f, i, statusNames[i], v)
		case *[]Phase:
			return phaseShape.decode(&f, i, statusNames[i], v)
		case *[]Other:
			return otherShape.decode(&f, i, statusNames[i], v)
		default:
			return f.value(i, statusNames[i], v)
		}
	})
	if err != nil {
		return err
	}
	return f.needs(statusNames[:statusNeeded]...)
}

// clearLater empties the fields that a message may lack.
func (s *Status) clearLater() {
	for i := statusNeeded; i < statusFields; i++ {
		switch v := s.field(i).(type) {
		case *string:
			*v = ""
		case *uint64:
			*v = 0
		case *float64:
			*v = 0
		case *[]float64:
			*v = (*v)[:0]
		case *[]ReasonCount:
			*v = (*v)[:0]
		case *[]Phase:
			*v = (*v)[:0]
		}
	}
}

// appendValue appends what v points to: a *string, *int64, *uint64, *float64 or
// *[]float64.
func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case *string:
		return msgbin.AppendString(dst, *v)
	case *int64:
		return msgbin.AppendInt(dst, *v)
	case *uint64:
		return msgbin.AppendUint(dst, *v)
	case *float64:
		return msgbin.AppendFloat64(dst, *v)
	case *[]float64:
		return msgbin.AppendFloats(dst, *v)
	}
	panic(noType)
}

// value reads known field i into what v points to, as appendValue has it.
func (f *fields) value(i int, field string, v any) error {
	switch v := v.(type) {
	case *string:
		return f.text(i, field, v)
	case *int64:
		return f.int(i, field, v)
	case *uint64:
		return f.uint(i, field, v)
	case *float64:
		return f.float(i, field, v)
	case *[]float64:
		return f.floats(i, field, v, maxTrust)
	}
	panic(noType)
}

const noType = "wire: a status field has no type"
