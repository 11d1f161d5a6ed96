package wire

import (
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

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
