package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// Estimate is the estimate of a model's filter after a state message, if some states are not measured. K is
// len(Channels).
type Estimate struct {
	Vehicle    string    `msg:"vehicle"`
	Model      string    `msg:"model"`                    // ID of the model
	Instance   string    `msg:"instance"`                 // of the estimator process, random
	Seq        uint64    `msg:"seq"`                      // of the state message
	T          int64     `msg:"t"`                        // ns, of the estimate: of the state message, or of the newest one where that came late
	Channels   []string  `msg:"channels,most=channels"`   // K names
	Units      []string  `msg:"units,most=channels"`      // K, "" = none
	X          []float64 `msg:"x,most=channels"`          // K, in state units
	P          []float64 `msg:"P,most=covariance"`        // K×K row-major, covariance of X
	Settled    bool      `msg:"settled"`                  // whether predictions start from it
	Innovation []float64 `msg:"innovation,most=channels"` // K, measurement − its prediction; NaN = not measured
	Ratio      []float64 `msg:"ratio,most=channels"`      // K, test ratio: above 1 the measurement was an outlier and is not used; NaN = not measured
	NIS        float64   `msg:"nis"`                      // mean of the normalised innovations squared of late: 1 in a consistent filter
	Rejected   uint64    `msg:"rejected"`                 // measurements that were outliers, so far
	Sensors    []string  `msg:"sensors,most=channels"`    // channels that were measured in this message
	Sensor     string    `msg:"sensor,omitzero"`          // (optional) of the state message
}

var estimateKeys = msgbin.KeysOf[Estimate](limits)

// Append appends the message to dst.
func (e *Estimate) Append(dst []byte) []byte { return encode(dst, estimateKeys, e) }

// Decode reads a message into the memory of e. It returns an *Error if the message does not have the form that PROTOCOL.md
// describes; the content of e is then undefined.
func (e *Estimate) Decode(b []byte) error {
	if err := decode(b, estimateKeys, e); err != nil {
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
