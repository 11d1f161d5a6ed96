// Package inspect describes a flight log: its channels and segments, its sampling,
// its damage. It reads the log as a stream; its memory depends on the number of
// segments and notes, not on that of samples.
//
// Whether a model can be trained on the log is the question of the data check.
package inspect

// Report describes a log. It is the document of `dgm-bridge info --json`: all
// numbers are finite, and unknown ones are left out.
type Report struct {
	Log        string    `json:"log"`
	Version    int       `json:"version"`
	Vehicle    string    `json:"vehicle"`
	Source     string    `json:"source,omitempty"`
	Kinematics string    `json:"kinematics,omitempty"` // in words
	Bytes      int64     `json:"bytes"`
	States     int       `json:"states"`
	Inputs     int       `json:"inputs"`
	Aux        int       `json:"aux"`
	Samples    int       `json:"samples"`
	Duration   float64   `json:"duration_s"` // of all segments together, s
	Rate       float64   `json:"rate_hz"`    // 1 / median step over all segments, Hz; 0 = unknown
	Channels   []Channel `json:"channels"`
	Segments   []Segment `json:"segments"`
	Notes      []Note    `json:"notes"`
	Damage     []Damage  `json:"damage"`
	Invalid    []string  `json:"invalid"`         // records that are intact and have impossible content
	Unknown    int       `json:"unknown_records"` // records of unknown kinds
	Counted    bool      `json:"counted"`         // the log counts its records
}

// Channel describes one channel.
type Channel struct {
	Name       string   `json:"name"`
	Unit       string   `json:"unit"`
	Role       string   `json:"role"`
	Derivative string   `json:"derivative,omitempty"`
	Period     float64  `json:"period,omitempty"`
	Invariant  bool     `json:"invariant,omitempty"`
	Noise      float64  `json:"noise,omitempty"`
	Frame      string   `json:"frame,omitempty"`
	Measured   int      `json:"measured"`       // samples with a finite value
	Rate       float64  `json:"rate_hz"`        // of these samples, Hz; 0 = unknown
	Missing    int      `json:"missing"`        // samples with NaN
	Infinite   int      `json:"infinite"`       // samples with an infinity
	Min        *float64 `json:"min,omitempty"`  // of the finite values
	Max        *float64 `json:"max,omitempty"`  //
	Mean       *float64 `json:"mean,omitempty"` //
	Constant   bool     `json:"constant"`       // one value throughout
}

// Segment describes one segment that holds a sample or more.
type Segment struct {
	Name       string  `json:"name"`
	Start      int64   `json:"start_ns"`   // time of the first sample
	Duration   float64 `json:"duration_s"` // last stamp less first, s; without what a clock was set back, more than 3 median steps
	Samples    int     `json:"samples"`
	Rate       float64 `json:"rate_hz"`       // 1 / median step; 0 = unknown
	Gaps       int     `json:"gaps"`          // steps longer than 3 median steps
	LongestGap float64 `json:"longest_gap_s"` // 0 = none
	Duplicates int     `json:"duplicates"`    // samples with the time of the one before
	Backwards  int     `json:"backwards"`     // samples with a time before that of the one before
	Exact      bool    `json:"exact_x0"`      // the log has the exact state at the start
	Plans      int     `json:"plans"`
}

// Note is a remark for people.
type Note struct {
	T    int64  `json:"t_ns"`
	Text string `json:"text"`
}

// Damage is a stretch of bytes that could not be read.
type Damage struct {
	Offset int64  `json:"offset"`
	End    int64  `json:"end"`
	Record int    `json:"record"` // whole records before it
	Tail   bool   `json:"tail"`   // nothing readable follows
	Reason string `json:"reason"`
}
