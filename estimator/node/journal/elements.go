package journal

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// The elements of each payload, in their order, for writer and reader. All but
// those of the header begin with the number of the record.

func (h *Header) elements(magic *string) [17]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("magic", magic), msgbin.Required("version", version),
		msgbin.Required("vehicle", &h.Vehicle), msgbin.Required("instance", &h.Instance), msgbin.Required("platform", &h.Platform),
		msgbin.Required("times", &h.Times).Limit(maxTimes), msgbin.Required("rate", &h.Rate), msgbin.Required("robot clock", &h.RobotClock),
		msgbin.Required("validity", &h.Validity), msgbin.Required("deadline", &h.Deadline), msgbin.Required("age limit", &h.AgeLimit),
		msgbin.Required("false alarms", &h.FalseAlarms), msgbin.Required("trust off", &h.NoTrust), msgbin.Required("chain", &h.Chain),
		msgbin.Optional("fast predictor", &h.Fast), msgbin.Optional("timed plans", &h.TimedPlans),
		msgbin.Optional("adapt", &h.Adapt),
	}
}

func (m *Model) elements(number *uint64) [5]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("number", number),
		msgbin.Required("model", &m.File).Limit(maxBytes), msgbin.Required("trust", &m.Trust).Limit(maxBytes),
		msgbin.Optional("adaptation", &m.Adaptation).Limit(maxBytes), msgbin.Optional("unix", &m.Unix),
	}
}

func (s *State) elements(number *uint64) [5]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("number", number),
		msgbin.Required("arrival", &s.At), msgbin.Required("age", &s.Age), msgbin.Required("time between states", &s.Period),
		msgbin.Required("message", &s.Message).Limit(maxBytes),
	}
}

// silent is the number of elements of a prediction that became no message.
const silent = 9

func (p *Prediction) elements(number *uint64) [silent + 5 + len(Digested)]msgbin.Field {
	f := [silent + 5 + len(Digested)]msgbin.Field{
		msgbin.Required("number", number), msgbin.Required("tick", &p.Tick),
		msgbin.Required("due", &p.Due), msgbin.Required("end", &p.End), msgbin.Required("unix", &p.Unix),
		msgbin.Required("step", &p.Level), msgbin.Required("fresh", &p.Fresh), msgbin.Required("contested", &p.Contested),
		msgbin.Required("outcome", &p.Outcome),

		msgbin.Required("seq", &p.Seq), msgbin.Required("t", &p.T), msgbin.Required("valid_until", &p.ValidUntil),
		msgbin.Required("flags", &p.Flags), msgbin.Required("points", &p.Points),
	}
	for i := range p.Digests {
		f[silent+5+i] = msgbin.Required(Digested[i], &p.Digests[i])
	}
	return f
}

func (p *Prediction) read(r *msgbin.Reader, payload []byte) error {
	*p = Prediction{Outcome: p.Outcome} // memory of its text
	var number uint64
	f := p.elements(&number)
	err := r.Elements(f[:silent])
	if err == nil && p.Outcome == OK {
		r.Reset(payload)
		err = r.Elements(f[:])
	}
	return err
}

// encode replaces the content of dst by an array of the elements.
func encode(dst []byte, elements []msgbin.Field) []byte {
	return msgbin.Append(dst[:0], func(w *msgbin.Writer) { w.Elements(elements) })
}

func appendRecord(dst []byte, k Kind, payload []byte) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) { w.Record(uint8(k), payload) })
}
