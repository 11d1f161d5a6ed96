package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

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
	statusFields
)

var statusNames = [statusFields]string{
	"v", "vehicle", "model", "instance", "t", "uptime", "input", "input_age", "received", "published",
	"late", "missed", "state_rate", "predict_rate", "latency_p50", "latency_p99", "latency_max",
	"allocs", "reconnects", "reasons", "others",
}

// Append appends the message to dst.
func (s *Status) Append(dst []byte) []byte {
	dst = msgbin.AppendMapHeader(dst, statusFields)
	for i, name := range statusNames {
		dst = msgbin.AppendString(dst, name)
		switch i {
		case statusV:
			dst = msgbin.AppendInt(dst, Version)
		case statusT:
			dst = msgbin.AppendInt(dst, s.T)
		case statusReasons:
			dst = msgbin.AppendArrayHeader(dst, len(s.Reasons))
			for _, r := range s.Reasons {
				dst = r.append(dst)
			}
		case statusOthers:
			dst = msgbin.AppendArrayHeader(dst, len(s.Others))
			for _, o := range s.Others {
				dst = o.append(dst)
			}
		default:
			switch v := s.field(i).(type) {
			case *string:
				dst = msgbin.AppendString(dst, *v)
			case *uint64:
				dst = msgbin.AppendUint(dst, *v)
			case *float64:
				dst = msgbin.AppendFloat64(dst, *v)
			}
		}
	}
	return dst
}

// field returns a pointer to the plain field i.
func (s *Status) field(i int) any {
	return [statusFields]any{
		statusVehicle: &s.Vehicle, statusModel: &s.Model, statusInstance: &s.Instance,
		statusUptime: &s.Uptime, statusInput: &s.Input, statusInputAge: &s.InputAge,
		statusReceived: &s.Received, statusPublished: &s.Published, statusLate: &s.Late, statusMissed: &s.Missed,
		statusStateRate: &s.StateRate, statusPredictRate: &s.PredictRate,
		statusLatencyP50: &s.LatencyP50, statusLatencyP99: &s.LatencyP99, statusLatencyMax: &s.LatencyMax,
		statusAllocs: &s.Allocs, statusReconnects: &s.Reconnects,
	}[i]
}

// Decode reads a message into s. It returns an *Error if the message has not the
// form that PROTOCOL.md describes; s then holds anything.
func (s *Status) Decode(b []byte) error {
	f, err := open(b)
	if err != nil {
		return err
	}
	for {
		key, ok, err := f.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := s.decodeField(&f, key); err != nil {
			return err
		}
	}
	for i, name := range statusNames {
		if err := f.need(i, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Status) decodeField(f *fields, key []byte) error {
	i := 0
	for i < statusFields && statusNames[i] != string(key) {
		i++
	}
	switch i {
	case statusFields:
		return f.skip(key)
	case statusV:
		return f.version(i)
	case statusT:
		return f.int(i, "t", &s.T)
	case statusReasons:
		n, err := f.list(i, "reasons")
		if err != nil {
			return err
		}
		s.Reasons = resize(s.Reasons, n)
		for j := range s.Reasons {
			if err := s.Reasons[j].decode(f); err != nil {
				return err
			}
		}
		return nil
	case statusOthers:
		n, err := f.list(i, "others")
		if err != nil {
			return err
		}
		s.Others = resize(s.Others, n)
		for j := range s.Others {
			if err := s.Others[j].decode(f); err != nil {
				return err
			}
		}
		return nil
	}
	switch v := s.field(i).(type) {
	case *string:
		return f.text(i, statusNames[i], v)
	case *uint64:
		return f.uint(i, statusNames[i], v)
	case *float64:
		return f.float(i, statusNames[i], v)
	}
	panic("wire: a status field has no type")
}
