package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// How an estimator decides when to predict.
const (
	ModeAnswer = "answer" // once for each state, at once
	ModeRate   = "rate"   // at a fixed rate, from the newest state
)

// The states of the input of an estimator.
const (
	InputNone  = "none"  // no state was accepted yet
	InputLive  = "live"  // states arrive
	InputStale = "stale" // the last state is too old to predict from
)

// Status is the state of an estimator, published once a second. Counters count from
// the start of the process; rates, latencies and allocations are of the time since
// the last status.
type Status struct {
	Vehicle     string
	Model       string        // ID of the model
	Instance    string        // of the process, random
	T           int64         // ns, Unix time on the estimator's clock
	Uptime      float64       // s
	Input       string        // InputNone, InputLive or InputStale
	InputAge    float64       // s since the last accepted state; −1 = none yet
	Received    uint64        // received states, accepted or refused
	Published   uint64        // predictions that were sent
	Late        uint64        // of those, sent after their deadline
	Missed      uint64        // sequence numbers that were not received
	StateRate   float64       // Hz, received states
	PredictRate float64       // Hz, predictions that were sent
	LatencyP50  float64       // s, from a state's arrival to its prediction handed to the link
	LatencyP99  float64       // s
	LatencyMax  float64       // s
	Allocs      float64       // allocations of the process per prediction sent
	Reconnects  uint64        // times the link was restored
	Reasons     []ReasonCount // why states were not answered, those that occurred
	Others      []Other       // other estimators seen answering for this vehicle

	// The following fields are optional.
	Mode          string        // ModeAnswer or ModeRate
	Rate          float64       // Hz of the ticks; 0 = one for each state
	Ticks         uint64        // that were due
	Used          uint64        // states that a prediction started from
	Shortened     uint64        // predictions of a shorter horizon than configured
	Widened       uint64        // predictions with larger intervals for the age of their state
	Silent        []ReasonCount // why ticks were not answered
	Phases        []Phase       // parts of the time of a prediction, since the last status
	ClockOffset   float64       // s, the robot's clock minus the estimator's, with the least delay
	Delay         float64       // s, of the last state above the least delay seen, or by a shared clock
	Miscalibrated uint64        // pairs of channel and bucket whose intervals cover too little
	Buckets       []float64     // B, s, upper ends of the buckets of the horizon
	Checks        []float64     // B×K row-major, predictions compared with measurements
	Coverage      []float64     // B×K, running share of measurements within mean ± 1.96 obs_std; −1 = none yet
	Recalibrated  []float64     // B×K, the same with factor·obs_std; −1 = none yet
	Nees          []float64     // B×K, running mean of ((measured − mean)/obs_std)²; −1 = none yet
	Factor        []float64     // B×K, as published
	Health        float64       // root mean square of (smoother's derivative − f)/their std; −1 = unknown
	Recording     string        // "" = off, "on", or why it ended
	Unrecorded    uint64        // records dropped because the disk is too slow
	Swaps         uint64        // models loaded while running
	Refused       string        // why the last model offered was refused; "" = none was
	Memory        uint64        // bytes that the process obtained from the operating system
	Goroutines    uint64

	History         uint64 // rows of history that the model reads; 0 = none
	NoHistory       uint64 // predictions without all of them
	HistoryGaps     uint64 // times that history began again after a gap between states
	HistoryBackward uint64 // times that it did because time went back

	NIS          float64 // normalised innovations squared of the filter, mean: 1 = it is right; 0 = there is none
	Whiteness    float64 // correlation of its innovations from one measurement of a channel to the next: 0 = it is right
	Rejected     uint64  // measurements that the filter did not use, as outliers
	FilterResets uint64  // times that the filter began again: after a gap, because time went back, it was lost, or a number was not finite

	PlansUnused uint64 // predictions with the flag PlanUnused
	PlansHeld   uint64 // … PlanHeld
	PlansCut    uint64 // … PlanCut

	Channels []string // K, of the model, as in a prediction

	InputReason  string // the Reason for which most states were refused since the last accepted one; "" = none was
	InputRefused uint64 // states refused for it since then

	UnknownKeys uint64 // keys of states that this version does not know and skips
	UnknownKey  string // the first of these; "" = none

	Adapt      string   // AdaptOff, AdaptWatch or AdaptOn
	AdaptNote  string   // why nothing is learned; "" = it is, or adaptation is switched off
	AdaptShare float64  // how much what was learned counts in mean and std, or would, 0 to 1
	Adapted    uint64   // predictions with the flag Adapted
	Amounts    []Amount // by which the robot differs from that of the training data

	InputChannels []string  // P, of the model; the next two are of them
	DeadTime      []float64 // P, s from a command until its input begins to act; −1 = not known
	Lag           []float64 // P, s, time constant with which it then follows; −1 = not known

	Reported []Alarm // what Alarms returned to the estimator, for readers that do not compute it

	Ages []CounterAge // of the counters of predictions and keys that alarms are about

	Models []LoadedModel // the one in use and its shadow, if there is one

	PaceLevel uint64  // how often the horizon is halved for predictions to keep up with the states; 0 = it is whole
	PaceEvery uint64  // one of so many states is answered for that; 0 and 1 = each
	PaceReach float64 // s, of the horizon that is predicted
	PaceCost  float64 // s, that a prediction of the whole horizon takes at present
	PaceOwn   float64 // s, of that what the model itself needs
	PaceEcho  float64 // s, that the computer adds to an answer, whatever is predicted
	PaceTime  float64 // s, from one state or tick to the next, that there are for one; 0 = not known
}

// The roles of a model.
const (
	RoleFlown  = "flown"  // in use
	RoleShadow = "shadow" // predicts beside the one in use and is not published
)

// LoadedModel is a model that predicts. The fields from Windows on are of a shadow: how it and the model in use compare
// with what was measured over the same windows.
type LoadedModel struct {
	Model string
	Role  string // RoleFlown or RoleShadow
	Since int64  // ns, Unix time on the estimator's clock

	Sequence uint64 // of the model in use: of the signed statement for it; 0 = none
	Decision []byte // SHA-256 of the decision of the fleet that the statement follows from; empty = none

	Windows         uint64    // that were compared; none overlaps another
	Skipped         uint64    // windows that were left out: a measurement or a prediction is missing
	Buckets         []float64 // B, s, times after the start of a window
	Coverage        []float64 // B×K row-major, share of measurements within mean ± 1.96 obs_std
	FlownCoverage   []float64 // B×K, the same of the model in use
	CRPS, FlownCRPS []float64 // B×K, mean continuous ranked probability score, in the unit of the channel
	Difference      float64   // mean over windows of the shadow's score minus that of the model in use; less than 0 is better
	DifferenceStd   float64   // standard deviation of it from window to window
}

// Whether an estimator learns in flight how the robot differs from that of the training data.
const (
	AdaptOff   = "off"
	AdaptWatch = "watch" // it learns and reports; predictions stay as they are
	AdaptOn    = "on"    // predictions are corrected
)

// Amount is one quantity by which the robot differs from that of the training data.
type Amount struct {
	Name       string  // "bias vx", "gain m1", "damping vx"
	Unit       string  // a gain is in %
	Value, Std float64 // in the unit
}

// Significant reports whether a value differs from 0 by more than three standard deviations.
func (a *Amount) Significant() bool { return math.Abs(a.Value) > 3*a.Std && a.Std > 0 }

// String returns an amount for people: "gain m1 −20 ± 3 %".
func (a *Amount) String() string {
	digits := 0
	if a.Std > 0 {
		digits = min(max(int(math.Ceil(-math.Log10(a.Std))), 0), 9)
	}
	number := strings.Replace(strconv.FormatFloat(a.Value, 'f', digits, 64), "-", "−", 1)
	return strings.TrimSpace(fmt.Sprintf("%s %s ± %.*f %s", a.Name, number, digits, a.Std, a.Unit))
}

// Shadow returns the shadow, nil where there is none.
func (s *Status) Shadow() *LoadedModel {
	for i := range s.Models {
		if s.Models[i].Role == RoleShadow {
			return &s.Models[i]
		}
	}
	return nil
}

// Phase is a part of the time of a prediction.
type Phase struct {
	Name          string  // decode, predict, encode or publish
	P50, P99, Max float64 // s
}

// ReasonCount counts the states that were not answered for one reason.
type ReasonCount struct {
	Reason string // name of a Reason
	Count  uint64
	Text   string  // its meaning and remedy
	Last   string  // the last error
	Age    float64 // s since a status first had this count; 0 = unknown
}

// CounterAge is how long ago a counter grew.
type CounterAge struct {
	Name string  // of a field of the status: late, no_history, plans_unused, plans_held, plans_cut or unknown_keys
	Age  float64 // s since a status first had its value
}

// age returns how long ago a counter grew, 0 where it is unknown.
func (s *Status) age(name string) float64 {
	for _, a := range s.Ages {
		if a.Name == name {
			return a.Age
		}
	}
	return 0
}

// Other is a peer instance: another estimator that answers for the same vehicle.
type Other struct {
	Instance string
	Model    string
	Age      float64 // s since its last status
}
