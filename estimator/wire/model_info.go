package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// ModelInfo is the answer to a Query for WantModel: what a planner must know to make states
// and plans for the model in use.
type ModelInfo struct {
	Vehicle       string
	Model         string    // ID of the model
	Instance      string    // of the estimator process
	Channels      []string  // K, states
	Units         []string  // K, "" = none
	InputChannels []string  // P
	InputUnits    []string  // P
	Layout        string    // fingerprint of both, see Layout
	ModelHorizon  float64   // s, over which the model predicts
	Points        int       // of it by default
	Horizon       []float64 // s, the times that the estimator predicts at
	History       float64   // s before a state that the model reads; 0 = none
	MaxPayload    int64     // bytes of a message that the server takes

	// The following fields are optional.
	DeadTime []float64 // P, s from a command until its input begins to act; −1 = not known
	Lag      []float64 // P, s, time constant with which it then follows; −1 = not known
}

func (m *ModelInfo) fields() [16]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version),
		msgbin.Required("vehicle", &m.Vehicle),
		msgbin.Required("model", &m.Model),
		msgbin.Required("instance", &m.Instance),
		msgbin.Required("channels", &m.Channels).Limit(MaxChannels),
		msgbin.Required("units", &m.Units).Limit(MaxChannels),
		msgbin.Required("input_channels", &m.InputChannels).Limit(MaxChannels),
		msgbin.Required("input_units", &m.InputUnits).Limit(MaxChannels),
		msgbin.Required("layout", &m.Layout),
		msgbin.Required("model_horizon", &m.ModelHorizon),
		msgbin.Required("points", &m.Points),
		msgbin.Required("horizon", &m.Horizon).Limit(MaxTimes),
		msgbin.Required("history", &m.History),
		msgbin.Required("max_payload", &m.MaxPayload),
		msgbin.Optional("dead_time", &m.DeadTime).Limit(MaxChannels),
		msgbin.Optional("lag", &m.Lag).Limit(MaxChannels),
	}
}

// Append appends the message to dst.
func (m *ModelInfo) Append(dst []byte) []byte {
	f := m.fields()
	return encode(dst, f[:])
}

// Decode reads a message into the memory of m.
func (m *ModelInfo) Decode(b []byte) error {
	f := m.fields()
	return decode(b, f[:])
}
