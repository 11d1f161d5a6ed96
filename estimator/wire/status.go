package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
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

// Status is the state of an estimator, published once a second. Counters start with the process; rates,
// latencies and allocations are those since the last status.
type Status struct {
	Vehicle     string        `msg:"vehicle"`
	Model       string        `msg:"model"`             // ID of the model
	Instance    string        `msg:"instance"`          // of the process, random
	T           int64         `msg:"t"`                 // ns, Unix time on the estimator's clock
	Uptime      float64       `msg:"uptime"`            // s
	Input       string        `msg:"input"`             // InputNone, InputLive or InputStale
	InputAge    float64       `msg:"input_age"`         // s since the last accepted state; −1 = none yet
	Received    uint64        `msg:"received"`          // received states, accepted or refused
	Published   uint64        `msg:"published"`         // predictions that were sent
	Late        uint64        `msg:"late"`              // of those, sent after their deadline
	Missed      uint64        `msg:"missed"`            // sequence numbers that were not received
	StateRate   float64       `msg:"state_rate"`        // Hz, received states
	PredictRate float64       `msg:"predict_rate"`      // Hz, predictions that were sent
	LatencyP50  float64       `msg:"latency_p50"`       // s, from a state's arrival to its prediction handed to the link
	LatencyP99  float64       `msg:"latency_p99"`       // s
	LatencyMax  float64       `msg:"latency_max"`       // s
	Allocs      float64       `msg:"allocs"`            // allocations of the process per prediction sent
	Reconnects  uint64        `msg:"reconnects"`        // times the link was restored
	Reasons     []ReasonCount `msg:"reasons,most=list"` // why states were not answered, those that occurred
	Others      []Other       `msg:"others,most=list"`  // other estimators seen answering for this vehicle

	// The following fields are optional.
	Mode          string        `msg:"mode,optional"`                    // ModeAnswer or ModeRate
	Rate          float64       `msg:"rate,optional"`                    // Hz of the ticks; 0 = one for each state
	Ticks         uint64        `msg:"ticks,optional"`                   // that were due
	Used          uint64        `msg:"used,optional"`                    // states that a prediction started from
	Shortened     uint64        `msg:"shortened,optional"`               // predictions of a shorter horizon than configured
	Widened       uint64        `msg:"widened,optional"`                 // predictions with larger intervals for the age of their state
	Silent        []ReasonCount `msg:"silent,optional,most=list"`        // why ticks were not answered
	Phases        []Phase       `msg:"phases,optional,most=list"`        // parts of the time of a prediction, since the last status
	ClockOffset   float64       `msg:"clock_offset,optional"`            // s, the robot's clock minus the estimator's, with the least delay
	Delay         float64       `msg:"delay,optional"`                   // s, of the last state above the least delay seen, or by a shared clock
	Miscalibrated uint64        `msg:"miscalibrated,optional"`           // pairs of channel and bucket whose intervals cover too little
	Buckets       []float64     `msg:"buckets,optional,most=trust"`      // B, s, upper ends of the buckets of the horizon
	Checks        []float64     `msg:"checks,optional,most=trust"`       // B×K row-major, predictions compared with measurements
	Coverage      []float64     `msg:"coverage,optional,most=trust"`     // B×K, running share of measurements within mean ± 1.96 obs_std; −1 = none yet
	Recalibrated  []float64     `msg:"recalibrated,optional,most=trust"` // B×K, the same with factor·obs_std; −1 = none yet
	Nees          []float64     `msg:"nees,optional,most=trust"`         // B×K, running mean of ((measured − mean)/obs_std)²; −1 = none yet
	Factor        []float64     `msg:"factor,optional,most=trust"`       // B×K, as published
	Health        float64       `msg:"health,optional"`                  // root mean square of (smoother's derivative − f)/their std; −1 = unknown
	Recording     string        `msg:"recording,optional"`               // "" = off, "on", or why it ended
	Unrecorded    uint64        `msg:"unrecorded,optional"`              // records dropped because the disk is too slow
	Swaps         uint64        `msg:"swaps,optional"`                   // models loaded while running
	Refused       string        `msg:"refused,optional"`                 // why the last model offered was refused; "" = none was
	Memory        uint64        `msg:"memory,optional"`                  // bytes that the process obtained from the operating system
	Goroutines    uint64        `msg:"goroutines,optional"`

	History         uint64 `msg:"history,optional"`          // rows of history that the model reads; 0 = none
	NoHistory       uint64 `msg:"no_history,optional"`       // predictions without all of them
	HistoryGaps     uint64 `msg:"history_gaps,optional"`     // times that history began again after a gap between states
	HistoryBackward uint64 `msg:"history_backward,optional"` // times that it did because time went back

	PlansUnused uint64 `msg:"plans_unused,optional"` // predictions with the flag PlanUnused
	PlansHeld   uint64 `msg:"plans_held,optional"`   // … PlanHeld
	PlansCut    uint64 `msg:"plans_cut,optional"`    // … PlanCut

	Channels []string `msg:"channels,optional,most=channels"` // K, of the model, as in a prediction

	InputReason  string `msg:"input_reason,optional"`  // the Reason for which most states were refused since the last accepted one; "" = none was
	InputRefused uint64 `msg:"input_refused,optional"` // states refused for it since then

	UnknownKeys uint64 `msg:"unknown_keys,optional"` // keys of states that this version does not know and skips
	UnknownKey  string `msg:"unknown_key,optional"`  // the first of these; "" = none

	Adapt      string  `msg:"adapt,optional"`       // AdaptOff, AdaptWatch or AdaptOn
	AdaptNote  string  `msg:"adapt_note,optional"`  // why nothing is learned; "" = it is, or adaptation is switched off
	AdaptShare float64 `msg:"adapt_share,optional"` // how much what was learned counts in mean and std, or would, 0 to 1
	Adapted    uint64  `msg:"adapted,optional"`     // predictions with the flag Adapted

	NIS          float64 `msg:"nis,optional"`           // normalised innovations squared of the filter, mean: 1 = consistent; 0 = there is no filter
	Whiteness    float64 `msg:"whiteness,optional"`     // correlation of its innovations between successive measurements of a channel: 0 = consistent
	Rejected     uint64  `msg:"rejected,optional"`      // measurements that the filter did not use, as outliers
	FilterResets uint64  `msg:"filter_resets,optional"` // restarts of the filter: after a gap, because time went back, it was lost, or a number was not finite

	InputChannels []string  `msg:"input_channels,optional,most=channels"` // P, of the model; the next two are of them
	DeadTime      []float64 `msg:"dead_time,optional,most=channels"`      // P, s from a command until its input begins to act; −1 = not known
	Lag           []float64 `msg:"lag,optional,most=channels"`            // P, s, time constant with which it then follows; −1 = not known

	Amounts  []Amount      `msg:"amounts,optional,most=list"` // by which the robot differs from that of the training data
	Models   []LoadedModel `msg:"models,optional,most=list"`  // the one in use and its shadow, if there is one
	Ages     []CounterAge  `msg:"ages,optional,most=list"`    // of the counters of predictions and keys that alarms are about
	Reported []Alarm       `msg:"alarms,optional,most=list"`  // what Alarms returned to the estimator, for readers that do not compute it

	PaceLevel uint64  `msg:"pace_level,optional"` // how often the horizon is halved for predictions to keep up with the states; 0 = it is whole
	PaceEvery uint64  `msg:"pace_every,optional"` // one of so many states is answered for that; 0 and 1 = each
	PaceReach float64 `msg:"pace_reach,optional"` // s, of the horizon that is predicted
	PaceCost  float64 `msg:"pace_cost,optional"`  // s, that a prediction of the whole horizon takes at present
	PaceOwn   float64 `msg:"pace_own,optional"`   // s, of that what the model itself needs
	PaceEcho  float64 `msg:"pace_echo,optional"`  // s, that the computer adds to an answer, whatever is predicted
	PaceTime  float64 `msg:"pace_time,optional"`  // s, from one state or tick to the next, that there are for one; 0 = not known
}

// The roles of a model.
const (
	RoleFlown  = "flown"  // in use
	RoleShadow = "shadow" // predicts beside the one in use and is not published
)

// LoadedModel is a model that predicts. The fields from Windows to DifferenceStd are those of a shadow: they
// compare it and the model in use with the measurements over the same windows.
type LoadedModel struct {
	Model string `msg:"model,optional"`
	Role  string `msg:"role,optional"`  // RoleFlown or RoleShadow
	Since int64  `msg:"since,optional"` // ns, Unix time on the estimator's clock

	Windows       uint64    `msg:"windows,optional"`                   // that were compared; none overlaps another
	Skipped       uint64    `msg:"skipped,optional"`                   // windows that were left out: a measurement or a prediction is missing
	Buckets       []float64 `msg:"buckets,optional,most=trust"`        // B, s, times after the start of a window
	Coverage      []float64 `msg:"coverage,optional,most=trust"`       // B×K row-major, share of measurements within mean ± 1.96 obs_std
	FlownCoverage []float64 `msg:"flown_coverage,optional,most=trust"` // B×K, the same of the model in use
	CRPS          []float64 `msg:"crps,optional,most=trust"`           // B×K, mean continuous ranked probability score, in the unit of the channel
	FlownCRPS     []float64 `msg:"flown_crps,optional,most=trust"`     // B×K, the same of the model in use
	Difference    float64   `msg:"difference,optional"`                // mean over windows of the shadow's score minus that of the model in use; less than 0 is better
	DifferenceStd float64   `msg:"difference_std,optional"`            // standard deviation of it from window to window

	Sequence uint64 `msg:"sequence,omitzero"` // of the model in use: of the signed statement for it; 0 = none
	Decision []byte `msg:"decision,omitzero"` // SHA-256 of the decision of the fleet that the statement follows from; empty = none
}

// Whether an estimator learns in flight how the robot differs from that of the training data.
const (
	AdaptOff   = "off"
	AdaptWatch = "watch" // it learns and reports; predictions stay as they are
	AdaptOn    = "on"    // predictions are corrected
)

// Amount is one parameter by which the robot differs from the training data.
type Amount struct {
	Name  string  `msg:"name,optional"`  // "bias vx", "gain m1", "damping vx", "mass"
	Unit  string  `msg:"unit,optional"`  // a gain is in %
	Value float64 `msg:"value,optional"` // in the unit
	Std   float64 `msg:"std,optional"`   // in the unit
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

// Shadow returns the shadow; nil if there is none.
func (s *Status) Shadow() *LoadedModel {
	for i := range s.Models {
		if s.Models[i].Role == RoleShadow {
			return &s.Models[i]
		}
	}
	return nil
}

// Phase is a part of the latency of a prediction.
type Phase struct {
	Name string  `msg:"phase,optional"` // decode, predict, encode or publish
	P50  float64 `msg:"p50,optional"`   // s
	P99  float64 `msg:"p99,optional"`   // s
	Max  float64 `msg:"max,optional"`   // s
}

// ReasonCount counts the states that were not answered for one reason.
type ReasonCount struct {
	Reason string  `msg:"reason,optional"` // name of a Reason
	Count  uint64  `msg:"count,optional"`
	Text   string  `msg:"text,optional"` // its meaning and remedy
	Last   string  `msg:"last,optional"` // the last error
	Age    float64 `msg:"age,optional"`  // s since a status first had this count; 0 = unknown
}

// CounterAge is the time since a counter grew.
type CounterAge struct {
	Name string  `msg:"name,optional"` // of a field of the status: late, no_history, plans_unused, plans_held, plans_cut or unknown_keys
	Age  float64 `msg:"age,optional"`  // s since a status first had its value
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
	Instance string  `msg:"instance,optional"`
	Model    string  `msg:"model,optional"`
	Age      float64 `msg:"age,optional"` // s since its last status
}

var statusKeys = msgbin.KeysOf[Status](limits)

// Append appends the message to dst.
func (s *Status) Append(dst []byte) []byte {
	var f [mostOfStatus]msgbin.Field
	return encodeFields(dst, fields(f[:0], statusKeys, s))
}

// Map returns the fields by their names on the wire, for other formats.
func (s *Status) Map() map[string]any { return msgbin.Values(fields(nil, statusKeys, s)) }

// Decode reads a message into s. It returns an *Error if the message does not have
// the form that PROTOCOL.md describes; the content of s is then undefined.
func (s *Status) Decode(b []byte) error {
	var f [mostOfStatus]msgbin.Field
	r := msgbin.AcquireReader(b)
	defer r.Release()
	return message(r, fields(f[:0], statusKeys, s))
}
