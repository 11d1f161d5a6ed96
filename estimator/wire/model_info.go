package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// ModelInfo is the answer to a Query for WantModel: the data that a planner needs to send states and plans to
// the model in use.
type ModelInfo struct {
	Vehicle       string    `msg:"vehicle"`
	Model         string    `msg:"model"`                        // ID of the model
	Instance      string    `msg:"instance"`                     // of the estimator process
	Channels      []string  `msg:"channels,most=channels"`       // K, states
	Units         []string  `msg:"units,most=channels"`          // K, "" = none
	InputChannels []string  `msg:"input_channels,most=channels"` // P
	InputUnits    []string  `msg:"input_units,most=channels"`    // P
	Layout        string    `msg:"layout"`                       // fingerprint of both, see Layout
	ModelHorizon  float64   `msg:"model_horizon"`                // s, over which the model predicts
	Points        int       `msg:"points"`                       // of it by default
	Horizon       []float64 `msg:"horizon,most=times"`           // s, the times that the estimator predicts at
	History       float64   `msg:"history"`                      // s before a state that the model reads; 0 = none
	MaxPayload    int64     `msg:"max_payload"`                  // bytes of a message that the server takes

	// The following fields are optional.
	DeadTime []float64 `msg:"dead_time,optional,most=channels"` // P, s from a command until its input begins to act; −1 = not known
	Lag      []float64 `msg:"lag,optional,most=channels"`       // P, s, time constant with which it then follows; −1 = not known
}

var modelInfoKeys = msgbin.KeysOf[ModelInfo](limits)

// Append appends the message to dst.
func (m *ModelInfo) Append(dst []byte) []byte { return encode(dst, modelInfoKeys, m) }

// Decode reads a message into the memory of m.
func (m *ModelInfo) Decode(b []byte) error { return decode(b, modelInfoKeys, m) }
