package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// Estimate is what the filter of a model makes of the measurements up to a state message, where nothing measures some of
// the states. K is len(Channels).
type Estimate struct {
	Vehicle    string
	Model      string    // ID of the model
	Instance   string    // of the estimator process, random
	Seq        uint64    // of the state message
	T          int64     // ns, of the estimate: of the state message, or of the newest one where that came late
	Sensor     string    // (optional) of the state message
	Channels   []string  // K names
	Units      []string  // K, "" = none
	X          []float64 // K, in state units
	P          []float64 // K×K row-major, covariance of X
	Settled    bool      // whether predictions start from it
	Innovation []float64 // K, measurement − its prediction; NaN = not measured
	Ratio      []float64 // K, test ratio: above 1 the measurement was an outlier and is not used; NaN = not measured
	NIS        float64   // mean of the normalised innovations squared of late: 1 in a filter that is right
	Rejected   uint64    // measurements that were outliers, so far
	Sensors    []string  // channels that were measured in this message
}

func (e *Estimate) fields() [17]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Required("vehicle", &e.Vehicle),
		msgbin.Required("model", &e.Model),
		msgbin.Required("instance", &e.Instance),
		msgbin.Required("seq", &e.Seq),
		msgbin.Required("t", &e.T),
		msgbin.Required("channels", &e.Channels).Limit(MaxChannels),
		msgbin.Required("units", &e.Units).Limit(MaxChannels),
		msgbin.Required("x", &e.X).Limit(MaxChannels),
		msgbin.Required("P", &e.P).Limit(MaxChannels * MaxChannels),
		msgbin.Required("settled", &e.Settled),
		msgbin.Required("innovation", &e.Innovation).Limit(MaxChannels),
		msgbin.Required("ratio", &e.Ratio).Limit(MaxChannels),
		msgbin.Required("nis", &e.NIS),
		msgbin.Required("rejected", &e.Rejected),
		msgbin.Required("sensors", &e.Sensors).Limit(MaxChannels),
		msgbin.OmitZero("sensor", &e.Sensor),
	}
}

// Append appends the message to dst.
func (e *Estimate) Append(dst []byte) []byte {
	f := e.fields()
	return encode(dst, f[:])
}

// Decode reads a message into the memory of e. It returns an *Error if the message does not have the form that PROTOCOL.md
// describes; the content of e is then undefined.
func (e *Estimate) Decode(b []byte) error {
	f := e.fields()
	if err := decode(b, f[:]); err != nil {
		return err
	}
	K := len(e.Channels)
	for _, v := range [...]struct {
		field   string
		n, want int
	}{{"units", len(e.Units), K}, {"x", len(e.X), K}, {"P", len(e.P), K * K}, {"innovation", len(e.Innovation), K}, {"ratio", len(e.Ratio), K}} {
		if v.n != v.want {
			return fail(WrongSize, v.field, "%d numbers, expected %d for %d channels", v.n, v.want, K)
		}
	}
	return nil
}
