// Package report is the last stage of a training: it turns plain values into a verdict
// (Judge), the selection of the model (SelectionOf), one HTML page and the same content
// as JSON.
//
// The page fetches nothing and runs nothing: it can be mailed, archived beside the model
// and read offline. Its first line is the verdict. Numbers must be finite; unknown
// numbers are left out, never written as NaN.
package report

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// Report is the content of a report.
type Report struct {
	Title      string            `json:"title"`
	Verdict                      // its fields are those of the document
	Warnings   []string          `json:"warnings"`
	HeldOut    []*evaluate.Table `json:"held_out"` // scores on data that was not trained on, one table per readout; the first is drawn
	Examples   []Example         `json:"examples"`
	Curve      []CurvePoint      `json:"curve"`
	Candidates []Candidate       `json:"candidates"`
	Selection  Selection         `json:"decided"`
	CPUSeconds float64           `json:"cpu_seconds,omitempty"` // processor time of the training
	Latency    []Latency         `json:"latency"`               // of the inputs, in their order
	// LatencyGain is the rms of what a regression on inputs that act when they do leaves, over that on inputs that act at once.
	LatencyGain float64             `json:"latency_gain,omitempty"`
	Equation    *Equation           `json:"equation,omitempty"` // of motion; nil = none
	Problems    []datacheck.Problem `json:"problems"`
	Provenance  []Item              `json:"provenance"` // data, hashes, seed, versions, time, machine
	Settings    []Item              `json:"settings"`
	Files       []Item              `json:"files"` // written: name and what it is
}

// Item is a name with a value.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Example is one predicted channel of one held-out window; times are s after its start.
type Example struct {
	Window string `json:"window"` // which: segment and time
	plot.Prediction
}

// CurvePoint is the objective at one step of training.
type CurvePoint struct {
	Step  int     `json:"step"`
	Loss  float64 `json:"loss"`
	Data  float64 `json:"data"`
	Match float64 `json:"match"`
}

// Latency is when an input acts after a command: a dead time, then a first-order lag. Times are in s, intervals of 95 %.
type Latency struct {
	Input    string  `json:"input"`
	Text     string  `json:"text"`
	Known    bool    `json:"known"` // else the flights leave it open, or its effect is not that of a dead time and a lag
	Used     bool    `json:"used"`  // the model's equations read the input so
	DeadTime float64 `json:"dead_time_s"`
	Low      float64 `json:"low"` // of the dead time
	High     float64 `json:"high"`
	Lag      float64 `json:"lag_s"`
	LagLow   float64 `json:"lag_low"`
	LagHigh  float64 `json:"lag_high"`
}

// Equation is an equation of motion with its physical parameters.
type Equation struct {
	Kind       string             `json:"kind"`
	Text       string             `json:"text"` // kind, axes of the velocities, how the inputs act
	Used       bool               `json:"used"` // it is part of the model
	Parameters []motion.Parameter `json:"parameters"`
	// Errors on what folds hold out, over that of holding, geometric mean over channels and horizons: of its roll-outs alone, and of
	// all other components together without it and with it; 0 = not known.
	Alone   float64 `json:"error_alone,omitempty"`
	Without float64 `json:"error_without,omitempty"`
	With    float64 `json:"error_with,omitempty"`

	Diverged bool `json:"diverged,omitempty"` // its roll-outs diverge under inputs that did not follow their starts
}

// EquationOf returns what is shown of an equation; nil of none.
func EquationOf(e *motion.Equation) *Equation {
	if e == nil {
		return nil
	}
	return &Equation{Kind: e.Kind, Text: e.String(), Parameters: e.Parameters}
}

// Line returns kind and worth in one line.
func (e *Equation) Line() string {
	text := e.Text
	if e.With > 0 {
		text += fmt.Sprintf("; on held-out folds, over that of holding the last value, the error without it is %.3g, with it %.3g, of it alone %.3g", e.Without, e.With, e.Alone)
	}
	if e.Diverged {
		text += "; its roll-outs diverge with the inputs of other windows"
	}
	if !e.Used {
		text += "; it is not part of the model"
	}
	return text
}

// Selection is the outcome of cross-validation.
type Selection struct {
	Rules    []Item             `json:"laws"` // of all channels
	Horizons []SelectionHorizon `json:"horizons"`
}

// SelectionHorizon is the selection at one time of the horizon.
type SelectionHorizon struct {
	T        float64            `json:"t"` // s
	Channels []SelectionChannel `json:"channels"`
}

// SelectionChannel is the selection of one channel.
type SelectionChannel struct {
	Name            string    `json:"name"`
	Unit            string    `json:"unit"`
	SensorStd       float64   `json:"sensor_std"`            // of the sensor noise, in Unit
	StackWeights    []float64 `json:"stack"`                 // weight of each component of the prior dynamics near the training data, the inputs as planned, 0…1; they sum to 1
	NetworkWeight   float64   `json:"nets"`                  // network weight, 0…1
	ScaleFactor     float64   `json:"factor"`                // of the intervals, inputs as planned
	ScaleFactorHold float64   `json:"factor_hold,omitempty"` // of the intervals, the last input held; 0 without inputs
}

// StackWeight is the weight of a component of the prior dynamics in the prediction of a channel near the training data, at each
// horizon; those of all components sum to 1.
type StackWeight struct {
	Channel   string    `json:"channel"`
	Component string    `json:"component"`
	Weight    []float64 `json:"weight"`
}

// Candidate is a setting that was tried, or chosen without a trial. Only scores of one measure can be compared.
type Candidate struct {
	Name    string  `json:"name"`
	Measure string  `json:"measure,omitempty"` // what Score is; empty = held-out log likelihood per value
	Score   float64 `json:"score,omitempty"`   // larger is better; none where Untried
	Chosen  bool    `json:"chosen"`
	Untried bool    `json:"untried,omitempty"` // chosen without a trial, for lack of time
	Why     string  `json:"why,omitempty"`     // why it was not chosen although it scores higher
}
