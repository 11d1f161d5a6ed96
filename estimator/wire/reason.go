package wire

import "fmt"

// Reason says why a state, or at a fixed rate a tick, gave no prediction. Every
// state that an estimator receives, and every tick, is accounted for.
type Reason uint8

// The reasons. Their names, not their numbers, are on the wire.
const (
	OK           Reason = iota
	Malformed           // not the msgpack map that PROTOCOL.md describes
	WrongVersion        // of a version of the protocol that this program does not speak
	WrongLayout         // made for other channels or another order of them
	WrongSize           // a vector has another length than the model's channels ask for
	NotANumber          // a number is NaN or infinite
	Covariance          // P0 is no covariance, or larger than anything plausible
	Future              // the state's time is ahead of the clock
	Old                 // the state's time is so long ago that no prediction would be left
	OutOfOrder          // older than the last state taken
	Duplicate           // the last state taken, again
	Replaced            // a newer state came before this one was predicted from
	NonFinite           // the prediction from it was not finite
	Disconnected        // the link was down, or was lost since the state came
	Expired             // the prediction was over before it could be sent
	Unsent              // the link refused the message
	Flooded             // more states came than could be looked at
	NoInput             // a tick was due and no state had come
	TooOld              // the newest state is beyond the age limit
	Overrun             // a tick was due while the one before it was still at work
	Jump                // seq or time far ahead of where the last state was
	Magnitude           // a number so large that what the model knows is lost in rounding
	Reasons             // the number of reasons
)

var reasonText = [Reasons]struct{ name, sentence string }{
	OK:           {"ok", "the state was answered"},
	Malformed:    {"malformed", "the message is not a msgpack map as PROTOCOL.md describes it"},
	WrongVersion: {"version", "the message is of a version of the protocol that this estimator does not speak"},
	WrongLayout:  {"layout", "the sender's channels are not the model's: other names, units or order"},
	WrongSize:    {"size", "a vector does not have the length that the model's channels ask for"},
	NotANumber:   {"nan", "a number is NaN or infinite"},
	Covariance:   {"covariance", "P0 is no covariance: not symmetric, negative, or larger than plausible"},
	Future:       {"future", "the state's time is ahead of this computer's clock: set the clocks, or clock = \"robot\""},
	Old:          {"old", "the state's time is too long ago: set the clocks, look for a delay, or clock = \"robot\""},
	OutOfOrder:   {"order", "the state is older than one already taken: reordered on the way, or two senders"},
	Duplicate:    {"duplicate", "the state was already taken: sent twice, or two senders"},
	Replaced:     {"replaced", "a newer state came before this one was predicted from: states come faster than predictions can be made"},
	NonFinite:    {"nonfinite", "the prediction was not finite and was withheld"},
	Disconnected: {"disconnected", "the link was down or was lost after the state came; nothing is sent later"},
	Expired:      {"expired", "the prediction was over before it could be sent"},
	Unsent:       {"unsent", "the link refused the message"},
	Flooded:      {"flooded", "states come faster than they can be looked at, and were dropped unread: look for a sender gone mad"},
	NoInput:      {"no_input", "no state has come yet"},
	TooOld:       {"stale", "the newest state is too old for anything to be said from it: look at the robot and at the link"},
	Overrun:      {"overrun", "the prediction before took so long that this one had no time: fewer points, a lower rate, a smaller model"},
	Jump:         {"jump", "seq or t is far ahead of the last state taken: a corrupt message, or a sender that started again, which is taken from its second state on"},
	Magnitude:    {"magnitude", "a state is so large that rounding hides what the model predicts: look at the sensor, the units and the origin"},
}

// String returns the reason's name on the wire.
func (r Reason) String() string {
	if r >= Reasons {
		return fmt.Sprintf("reason(%d)", uint8(r))
	}
	return reasonText[r].name
}

// Sentence says what the reason means and, where there is something to do, what.
func (r Reason) Sentence() string {
	if r >= Reasons {
		return ""
	}
	return reasonText[r].sentence
}

// Error says what is wrong with a message.
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

// fail returns an *Error.
func fail(r Reason, field, format string, args ...any) error {
	return &Error{Reason: r, Field: field, Text: fmt.Sprintf(format, args...)}
}
