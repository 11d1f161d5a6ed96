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

	Reported []Alarm // what Alarms returned to the estimator, for readers that do not compute it

	Ages []CounterAge // of the counters of predictions and keys that alarms are about

	Models []LoadedModel // the one in use and its shadow, if there is one
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

// fields are the fields of the message, in the order in which they are written.
func (s *Status) fields(lists *statusLists) [65]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Required("vehicle", &s.Vehicle),
		msgbin.Required("model", &s.Model),
		msgbin.Required("instance", &s.Instance),
		msgbin.Required("t", &s.T),
		msgbin.Required("uptime", &s.Uptime),
		msgbin.Required("input", &s.Input),
		msgbin.Required("input_age", &s.InputAge),
		msgbin.Required("received", &s.Received),
		msgbin.Required("published", &s.Published),
		msgbin.Required("late", &s.Late),
		msgbin.Required("missed", &s.Missed),
		msgbin.Required("state_rate", &s.StateRate),
		msgbin.Required("predict_rate", &s.PredictRate),
		msgbin.Required("latency_p50", &s.LatencyP50),
		msgbin.Required("latency_p99", &s.LatencyP99),
		msgbin.Required("latency_max", &s.LatencyMax),
		msgbin.Required("allocs", &s.Allocs),
		msgbin.Required("reconnects", &s.Reconnects),
		msgbin.Required("reasons", &lists.reasons),
		msgbin.Required("others", &lists.others),
		msgbin.Optional("mode", &s.Mode),
		msgbin.Optional("rate", &s.Rate),
		msgbin.Optional("ticks", &s.Ticks),
		msgbin.Optional("used", &s.Used),
		msgbin.Optional("shortened", &s.Shortened),
		msgbin.Optional("widened", &s.Widened),
		msgbin.Optional("silent", &lists.silent),
		msgbin.Optional("phases", &lists.phases),
		msgbin.Optional("clock_offset", &s.ClockOffset),
		msgbin.Optional("delay", &s.Delay),
		msgbin.Optional("miscalibrated", &s.Miscalibrated),
		msgbin.Optional("buckets", &s.Buckets).Limit(maxTrust),
		msgbin.Optional("checks", &s.Checks).Limit(maxTrust),
		msgbin.Optional("coverage", &s.Coverage).Limit(maxTrust),
		msgbin.Optional("recalibrated", &s.Recalibrated).Limit(maxTrust),
		msgbin.Optional("nees", &s.Nees).Limit(maxTrust),
		msgbin.Optional("factor", &s.Factor).Limit(maxTrust),
		msgbin.Optional("health", &s.Health),
		msgbin.Optional("recording", &s.Recording),
		msgbin.Optional("unrecorded", &s.Unrecorded),
		msgbin.Optional("swaps", &s.Swaps),
		msgbin.Optional("refused", &s.Refused),
		msgbin.Optional("memory", &s.Memory),
		msgbin.Optional("goroutines", &s.Goroutines),
		msgbin.Optional("history", &s.History),
		msgbin.Optional("no_history", &s.NoHistory),
		msgbin.Optional("history_gaps", &s.HistoryGaps),
		msgbin.Optional("history_backward", &s.HistoryBackward),
		msgbin.Optional("plans_unused", &s.PlansUnused),
		msgbin.Optional("plans_held", &s.PlansHeld),
		msgbin.Optional("plans_cut", &s.PlansCut),
		msgbin.Optional("channels", &s.Channels).Limit(MaxChannels),
		msgbin.Optional("input_reason", &s.InputReason),
		msgbin.Optional("input_refused", &s.InputRefused),
		msgbin.Optional("unknown_keys", &s.UnknownKeys),
		msgbin.Optional("unknown_key", &s.UnknownKey),
		msgbin.Optional("adapt", &s.Adapt),
		msgbin.Optional("adapt_note", &s.AdaptNote),
		msgbin.Optional("adapt_share", &s.AdaptShare),
		msgbin.Optional("adapted", &s.Adapted),
		msgbin.Optional("amounts", &lists.amounts),
		msgbin.Optional("models", &lists.models),
		msgbin.Optional("ages", &lists.ages),
		msgbin.Optional("alarms", &lists.alarms),
	}
}

// statusLists are the lists of a status, encoded.
type statusLists struct{ reasons, others, silent, phases, amounts, models, ages, alarms msgbin.Raw }

var noLists statusLists // of a status that is written

// Append appends the message to dst.
func (s *Status) Append(dst []byte) []byte {
	f := s.fields(&noLists)
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Map(len(f))
		for i := range f {
			switch f[i].Name {
			case "reasons":
				appendList(w, "reasons", s.Reasons)
			case "others":
				appendList(w, "others", s.Others)
			case "silent":
				appendList(w, "silent", s.Silent)
			case "phases":
				appendList(w, "phases", s.Phases)
			case "amounts":
				appendList(w, "amounts", s.Amounts)
			case "models":
				appendList(w, "models", s.Models)
			case "ages":
				appendList(w, "ages", s.Ages)
			case "alarms":
				appendList(w, "alarms", s.Reported)
			default:
				w.Pairs(f[i : i+1])
			}
		}
	})
}

// Map returns the fields by their names on the wire, for other formats.
func (s *Status) Map() map[string]any {
	f := s.fields(&noLists)
	m := map[string]any{}
	msgbin.Values(m, f[:])
	m["reasons"], m["others"], m["silent"], m["phases"] = maps(s.Reasons), maps(s.Others), maps(s.Silent), maps(s.Phases)
	m["amounts"], m["models"] = maps(s.Amounts), maps(s.Models)
	m["ages"], m["alarms"] = maps(s.Ages), maps(s.Reported)
	return m
}

// Decode reads a message into s. It returns an *Error if the message does not have
// the form that PROTOCOL.md describes; the content of s is then undefined.
func (s *Status) Decode(b []byte) error {
	var lists statusLists
	f := s.fields(&lists)
	r := msgbin.AcquireReader(b)
	defer r.Release()
	if err := message(r, f[:]); err != nil {
		return err
	}
	if err := readList(r, lists.reasons, "reasons", &s.Reasons); err != nil {
		return err
	}
	if err := readList(r, lists.others, "others", &s.Others); err != nil {
		return err
	}
	if err := readList(r, lists.silent, "silent", &s.Silent); err != nil {
		return err
	}
	if err := readList(r, lists.phases, "phases", &s.Phases); err != nil {
		return err
	}
	if err := readList(r, lists.amounts, "amounts", &s.Amounts); err != nil {
		return err
	}
	if err := readList(r, lists.models, "models", &s.Models); err != nil {
		return err
	}
	if err := readList(r, lists.ages, "ages", &s.Ages); err != nil {
		return err
	}
	return readList(r, lists.alarms, "alarms", &s.Reported)
}

// entry is an element of a list of a status, which is a map. code writes it to w, reads it
// from r where w is nil, or puts its fields into m where that is not nil. What a map lacks
// is empty.
type entry[E any] interface {
	*E
	code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error
}

func (c *ReasonCount) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{
		msgbin.Optional("reason", &c.Reason), msgbin.Optional("count", &c.Count),
		msgbin.Optional("text", &c.Text), msgbin.Optional("last", &c.Last), msgbin.Optional("age", &c.Age),
	}
	return code(w, r, m, f[:])
}

func (p *Phase) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{
		msgbin.Optional("phase", &p.Name), msgbin.Optional("p50", &p.P50),
		msgbin.Optional("p99", &p.P99), msgbin.Optional("max", &p.Max),
	}
	return code(w, r, m, f[:])
}

func (o *Other) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{
		msgbin.Optional("instance", &o.Instance), msgbin.Optional("model", &o.Model), msgbin.Optional("age", &o.Age),
	}
	return code(w, r, m, f[:])
}

func (a *CounterAge) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{msgbin.Optional("name", &a.Name), msgbin.Optional("age", &a.Age)}
	return code(w, r, m, f[:])
}

func (a *Alarm) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{msgbin.Optional("name", &a.Name), msgbin.Optional("text", &a.Text)}
	return code(w, r, m, f[:])
}

func (a *Amount) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{
		msgbin.Optional("name", &a.Name), msgbin.Optional("unit", &a.Unit), msgbin.Optional("value", &a.Value), msgbin.Optional("std", &a.Std),
	}
	return code(w, r, m, f[:])
}

func (h *LoadedModel) code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any) error {
	f := [...]msgbin.Field{
		msgbin.Optional("model", &h.Model), msgbin.Optional("role", &h.Role), msgbin.Optional("since", &h.Since), msgbin.Optional("windows", &h.Windows), msgbin.Optional("skipped", &h.Skipped),
		msgbin.Optional("buckets", &h.Buckets).Limit(maxTrust),
		msgbin.Optional("coverage", &h.Coverage).Limit(maxTrust), msgbin.Optional("flown_coverage", &h.FlownCoverage).Limit(maxTrust),
		msgbin.Optional("crps", &h.CRPS).Limit(maxTrust), msgbin.Optional("flown_crps", &h.FlownCRPS).Limit(maxTrust),
		msgbin.Optional("difference", &h.Difference), msgbin.Optional("difference_std", &h.DifferenceStd),
	}
	return code(w, r, m, f[:])
}

func code(w *msgbin.Writer, r *msgbin.Reader, m map[string]any, fields []msgbin.Field) error {
	switch {
	case m != nil:
		msgbin.Values(m, fields)
	case w != nil:
		w.Fields(fields)
	default:
		return r.Fields(fields)
	}
	return nil
}

// maps are the elements of a list by the names of their fields.
func maps[E any, P entry[E]](list []E) []map[string]any {
	all := make([]map[string]any, len(list))
	for i := range list {
		all[i] = map[string]any{}
		_ = P(&list[i]).code(nil, nil, all[i]) // this never fails
	}
	return all
}

func appendList[E any, P entry[E]](w *msgbin.Writer, name string, list []E) {
	w.String(name)
	w.Array(len(list))
	for i := range list {
		_ = P(&list[i]).code(w, nil, nil) // writing never fails
	}
}

// readList reads a list into the memory of dst; an absent one gives none.
func readList[E any, P entry[E]](r *msgbin.Reader, raw msgbin.Raw, name string, dst *[]E) error {
	n := 0
	if len(raw.Bytes) > 0 {
		var err error
		r.ResetRaw(raw)
		if n, err = r.Array(maxList); err != nil {
			return refused(name, err)
		}
	}
	*dst = msgbin.Resize(*dst, n)
	for i := range *dst {
		if err := P(&(*dst)[i]).code(nil, r, nil); err != nil {
			return refused(name, err)
		}
	}
	return nil
}
