// Package journal is the recording of an estimator: the states that it consumed,
// with the clocks' readings, the models, and a digest of every prediction. FORMAT.md
// is the normative page.
//
// A [Writer] does not block its caller: records go through a bounded buffer to a
// goroutine that writes, and those that do not fit are dropped and counted. A
// [Reader] reads record by record in bounded memory.
package journal

import (
	"fmt"
	"math"
)

const (
	magic   = "dgm-journal"
	version = 1

	maxBytes = 80 << 20 // of one payload: a model with all its members
	maxTimes = 10000
)

// Kind is the kind of a record.
type Kind uint8

// The kinds. Their numbers are in files and never change.
const (
	KindHeader     Kind = 1
	KindModel      Kind = 2
	KindState      Kind = 3
	KindPrediction Kind = 4
	KindLost       Kind = 5
	KindEnd        Kind = 6
	KindReset      Kind = 7
)

// Header names the program that recorded and its settings.
type Header struct {
	Platform string
	Settings
}

// Settings are all that a prediction depends on beside the model and the states.
type Settings struct {
	Vehicle, Instance string

	Times       []float64 // s; empty = the model's
	Rate        float64   // Hz; 0 = an answer to each state
	RobotClock  bool
	Validity    int64 // ns
	Deadline    int64 // ns
	AgeLimit    int64 // ns
	FalseAlarms int64 // ns
	NoTrust     bool
	Chain       bool
	Fast        bool   // predicted by estimator.Fast; false where the header lacks it
	Adapt       string // learning in flight: off, watch or on; off where the header lacks it
	TimedPlans  bool   // plans without plan_dt count only where the sender has shown the horizon; false where the header lacks it
}

// Model is a model that is used from here on.
type Model struct {
	File  []byte
	Trust []byte // state of the monitor of its intervals; empty = none

	Adaptation []byte // what was learned before, of which Unix is the present; empty = nothing
	Unix       int64  // ns
}

// State is a state that was consumed.
type State struct {
	At      int64 // ns, steady
	Age     int64 // ns
	Period  int64 // ns
	Message []byte
}

// Prediction is the outcome of a prediction and its times.
type Prediction struct {
	Tick      uint64
	Due, End  int64 // ns, steady
	Unix      int64 // ns
	Level     int
	Fresh     bool
	Contested bool
	Outcome   string // as in reasons; OK = a message was made

	// Where Outcome is OK:
	Seq           uint64
	T, ValidUntil int64
	Flags         uint64
	Points        int
	Digests       [len(Digested)]uint64
}

// OK is the outcome of a prediction that became a message.
const OK = "ok"

// Digested are the parts of a prediction that have a digest.
var Digested = [...]string{"mean", "std", "obs_std", "factor", "ood"}

// Digest returns the digest of numbers.
func Digest(v []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range v {
		h = (h ^ math.Float64bits(x)) * 1099511628211
	}
	return h
}

// Error is why a journal cannot be read further, with the place.
type Error struct {
	Name   string // of the file
	Record int    // counted from 0
	Offset int64  // byte at which the record begins
	Text   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: record %d at byte %d: %s", e.Name, e.Record, e.Offset, e.Text)
}
