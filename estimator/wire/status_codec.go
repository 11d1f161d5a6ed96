package wire

import (
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// fields are the fields of the message, in the order in which they are written.
func (s *Status) fields(lists *[len(listNames)]msgbin.Raw) [79]msgbin.Field {
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
		msgbin.Required("reasons", &lists[0]),
		msgbin.Required("others", &lists[1]),
		msgbin.Optional("mode", &s.Mode),
		msgbin.Optional("rate", &s.Rate),
		msgbin.Optional("ticks", &s.Ticks),
		msgbin.Optional("used", &s.Used),
		msgbin.Optional("shortened", &s.Shortened),
		msgbin.Optional("widened", &s.Widened),
		msgbin.Optional("silent", &lists[2]),
		msgbin.Optional("phases", &lists[3]),
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
		msgbin.Optional("nis", &s.NIS),
		msgbin.Optional("whiteness", &s.Whiteness),
		msgbin.Optional("rejected", &s.Rejected),
		msgbin.Optional("filter_resets", &s.FilterResets),
		msgbin.Optional("input_channels", &s.InputChannels).Limit(MaxChannels),
		msgbin.Optional("dead_time", &s.DeadTime).Limit(MaxChannels),
		msgbin.Optional("lag", &s.Lag).Limit(MaxChannels),
		msgbin.Optional("amounts", &lists[4]),
		msgbin.Optional("models", &lists[5]),
		msgbin.Optional("ages", &lists[6]),
		msgbin.Optional("alarms", &lists[7]),
		msgbin.Optional("pace_level", &s.PaceLevel),
		msgbin.Optional("pace_every", &s.PaceEvery),
		msgbin.Optional("pace_reach", &s.PaceReach),
		msgbin.Optional("pace_cost", &s.PaceCost),
		msgbin.Optional("pace_own", &s.PaceOwn),
		msgbin.Optional("pace_echo", &s.PaceEcho),
		msgbin.Optional("pace_time", &s.PaceTime),
	}
}

// listNames are the fields that are lists of maps, in the order in which they are written.
var listNames = [...]string{"reasons", "others", "silent", "phases", "amounts", "models", "ages", "alarms"}

// lists are those of listNames.
func (s *Status) lists() [len(listNames)]statusList {
	return [...]statusList{
		(*list[ReasonCount, *ReasonCount])(&s.Reasons), (*list[Other, *Other])(&s.Others), (*list[ReasonCount, *ReasonCount])(&s.Silent), (*list[Phase, *Phase])(&s.Phases),
		(*list[Amount, *Amount])(&s.Amounts), (*list[LoadedModel, *LoadedModel])(&s.Models), (*list[CounterAge, *CounterAge])(&s.Ages), (*list[Alarm, *Alarm])(&s.Reported),
	}
}

var noLists [len(listNames)]msgbin.Raw // of a status that is written

// Append appends the message to dst.
func (s *Status) Append(dst []byte) []byte {
	f, lists := s.fields(&noLists), s.lists()
	return msgbin.Append(dst, func(w *msgbin.Writer) {
		w.Map(len(f))
		next := 0 // list
		for i := range f {
			if next < len(lists) && f[i].Name == listNames[next] {
				lists[next].append(w, f[i].Name)
				next++
			} else {
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
	for i, l := range s.lists() {
		m[listNames[i]] = l.maps()
	}
	return m
}

// Decode reads a message into s. It returns an *Error if the message does not have
// the form that PROTOCOL.md describes; the content of s is then undefined.
func (s *Status) Decode(b []byte) error {
	var raw [len(listNames)]msgbin.Raw
	f := s.fields(&raw)
	r := msgbin.AcquireReader(b)
	defer r.Release()
	if err := message(r, f[:]); err != nil {
		return err
	}
	for i, l := range s.lists() {
		if err := l.read(r, raw[i], listNames[i]); err != nil {
			return err
		}
	}
	return nil
}

// statusList is a list of a status.
type statusList interface {
	append(w *msgbin.Writer, name string)
	read(r *msgbin.Reader, raw msgbin.Raw, name string) error
	maps() []map[string]any
}

type list[E any, P entry[E]] []E

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
		msgbin.OmitZero("sequence", &h.Sequence), msgbin.OmitZero("decision", &h.Decision),
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

// maps are the elements by the names of their fields.
func (l *list[E, P]) maps() []map[string]any {
	all := make([]map[string]any, len(*l))
	for i := range *l {
		all[i] = map[string]any{}
		_ = P(&(*l)[i]).code(nil, nil, all[i]) // this never fails
	}
	return all
}

func (l *list[E, P]) append(w *msgbin.Writer, name string) {
	w.String(name)
	w.Array(len(*l))
	for i := range *l {
		_ = P(&(*l)[i]).code(w, nil, nil) // writing never fails
	}
}

// read reads a list into the memory of l; an absent one gives none.
func (l *list[E, P]) read(r *msgbin.Reader, raw msgbin.Raw, name string) error {
	n := 0
	if len(raw.Bytes) > 0 {
		var err error
		r.ResetRaw(raw)
		if n, err = r.Array(maxList); err != nil {
			return refused(name, err)
		}
	}
	*l = msgbin.Resize(*l, n)
	for i := range *l {
		if err := P(&(*l)[i]).code(nil, r, nil); err != nil {
			return refused(name, err)
		}
	}
	return nil
}
