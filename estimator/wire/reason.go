package wire

import "fmt"

// Reason is the reason why a state, or at a fixed rate a tick, was not answered by a prediction. Every received
// state and every tick is counted.
type Reason uint8

// The reasons. Their names, not their numbers, are on the wire.
const (
	OK           Reason = iota
	Malformed           // not the msgpack map that PROTOCOL.md describes
	WrongVersion        // of an unsupported version of the protocol
	WrongLayout         // made for other channels or another order of them
	WrongSize           // a vector has another length than the channels of the model require
	NotANumber          // a number is NaN or infinite
	Covariance          // P0 is no covariance, or larger than plausible
	Future              // the state's time is ahead of the clock
	Old                 // the state's time is so long ago that no prediction would be left
	OutOfOrder          // older than the last accepted state
	Duplicate           // an accepted state, again
	Replaced            // superseded: a newer state arrived before the prediction
	NonFinite           // the prediction is not finite
	Disconnected        // the link was down, or failed after the state arrived
	Expired             // the prediction was no longer valid when it could be sent
	Unsent              // the link refused the message
	Flooded             // states arrive faster than they can be decoded
	NoInput             // a tick was due before the first state
	TooOld              // the newest state is beyond the age limit
	Overrun             // a tick was due during the prediction of the one before
	Jump                // seq or time is far ahead of the last state
	Magnitude           // a number so large that rounding hides the prediction
	SecondSender        // of another robot that uses the name of this vehicle
	Unsettled           // the filter has seen too few states since it began
	Reasons             // the number of reasons
)

var reasonText = [Reasons]struct{ name, description string }{
	OK:           {"ok", "the state was answered"},
	Malformed:    {"malformed", "the message is not a msgpack map as in PROTOCOL.md: correct the sender"},
	WrongVersion: {"version", "the message is of a version of the protocol that this estimator does not support: update the sender or the estimator"},
	WrongLayout:  {"layout", "the sender's channels are not the model's: other names, units or order; send those of the model (a query with want = model returns them), or load the model of this vehicle"},
	WrongSize:    {"size", "a vector does not have the length that the channels of the model require: send all states and inputs of the model (a query with want = model returns them)"},
	NotANumber:   {"nan", "a number is NaN or infinite"},
	Covariance:   {"covariance", "P0 is no covariance: not symmetric, negative, or implausibly large: check the filter that computes it"},
	Future:       {"future", "the state's time is ahead of this computer's clock: set the clocks, or set clock = \"robot\""},
	Old:          {"old", "the state's time is too long ago: set the clocks, remove a delay of the link, or set clock = \"robot\""},
	OutOfOrder:   {"order", "the state is older than an accepted one: reordered by the link, or two senders"},
	Duplicate:    {"duplicate", "the state was already accepted: sent twice, or two senders"},
	Replaced:     {"replaced", "a newer state arrived before the prediction from this one: states arrive faster than predictions are made"},
	NonFinite:    {"nonfinite", "the prediction was not finite and was withheld"},
	Disconnected: {"disconnected", "the link was down or failed after the state arrived; no prediction is sent late"},
	Expired:      {"expired", "the prediction was no longer valid when it could be sent"},
	Unsent:       {"unsent", "the link refused the message"},
	Flooded:      {"flooded", "states arrive faster than they can be decoded and are dropped: find the sender that floods the subject"},
	NoInput:      {"no_input", "no state has arrived yet"},
	TooOld:       {"stale", "the newest state is too old to predict from: check the robot and the link"},
	Overrun:      {"overrun", "the prediction before took so long that this one had no time: fewer points, a lower rate, a smaller model"},
	Jump:         {"jump", "seq or t is far ahead of the last accepted state: a corrupt message, or a restarted sender, which is accepted from its second state on"},
	Magnitude:    {"magnitude", "a state or an input is so large that rounding hides the prediction: check the sensor, the units and the origin"},
	SecondSender: {"second_sender", "a second robot sends states under the name of this vehicle: give each robot a name of its own"},
	Unsettled:    {"unsettled", "the filter has had too few states since its start: it needs eight in a row, and one of each sensor"},
}

func (r Reason) String() string {
	if r >= Reasons {
		return fmt.Sprintf("reason(%d)", uint8(r))
	}
	return reasonText[r].name
}

// Description returns the meaning of the reason and its remedy, if there is one.
func (r Reason) Description() string {
	if r >= Reasons {
		return ""
	}
	return reasonText[r].description
}

// Error is the reason why a message is refused.
type Error struct {
	Reason Reason
	Field  string // the field's name on the wire; empty = the message as a whole
	Text   string // what was found and what was expected
	Err    error  // (optional) the cause
}

func (e *Error) Error() string {
	text := e.Text
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Reason, text)
	}
	return fmt.Sprintf("%s: field %s: %s", e.Reason, e.Field, text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(r Reason, field, format string, args ...any) error {
	return &Error{Reason: r, Field: field, Text: fmt.Sprintf(format, args...)}
}
