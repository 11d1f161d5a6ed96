package wire

import (
	"fmt"
	"strings"
)

// The subjects without their vehicle, and those of all vehicles.
const (
	statePrefix    = "dgm.state."
	predictPrefix  = "dgm.predict."
	statusPrefix   = "dgm.status."
	estimatePrefix = "dgm.estimate."
	queryPrefix    = "dgm.query."
	modelPrefix    = "dgm.model."
	swapPrefix     = "dgm.swap."

	AllStates      = statePrefix + "*"
	AllPredictions = predictPrefix + "*"
	AllStatuses    = statusPrefix + "*"
	AllEstimates   = estimatePrefix + "*"
)

// maxVehicle is the longest name of a vehicle, in bytes.
const maxVehicle = 64

// StateSubject returns the subject of a vehicle's states.
func StateSubject(vehicle string) string { return statePrefix + vehicle }

// PredictSubject returns the subject of a vehicle's predictions.
func PredictSubject(vehicle string) string { return predictPrefix + vehicle }

// StatusSubject returns the subject of a vehicle's status.
func StatusSubject(vehicle string) string { return statusPrefix + vehicle }

// EstimateSubject returns the subject of a filter's estimates of a vehicle's state.
func EstimateSubject(vehicle string) string { return estimatePrefix + vehicle }

// EstimatorInbox returns the prefix of the inboxes of programs on a vehicle.
func EstimatorInbox(vehicle string) string { return "_INBOX_estimator." + vehicle }

// IsInbox reports whether a subject is one on which a client waits for answers: _INBOX or a role's own prefix, _INBOX_<role>,
// with a dot behind it, or what a server makes of that between accounts (_R_). Services answer nowhere else.
func IsInbox(subject string) bool {
	rest, ok := strings.CutPrefix(subject, "_INBOX")
	dot := strings.IndexByte(rest, '.')
	return ok && dot >= 0 && (dot == 0 || rest[0] == '_') || strings.HasPrefix(subject, "_R_.")
}

// QuerySubject returns the subject of questions about a vehicle.
func QuerySubject(vehicle string) string { return queryPrefix + vehicle }

// ModelSubject returns the subject of commands about a vehicle's model.
func ModelSubject(vehicle string) string { return modelPrefix + vehicle }

// SwapSubject returns the subject on which a vehicle permits swaps of its model.
func SwapSubject(vehicle string) string { return swapPrefix + vehicle }

// CheckVehicle returns nil if the name is a valid token of a subject that needs no escaping: 1 to 64 letters,
// digits, '-' and '_' of ASCII.
func CheckVehicle(name string) error { return checkToken("vehicle", name) }

// CheckSensor returns nil if name is a valid name of a sensor: the same characters as for a vehicle.
func CheckSensor(name string) error { return checkToken("sensor", name) }

func checkToken(what, name string) error {
	if name == "" {
		return fmt.Errorf("the %s has no name; use letters, digits, - and _", what)
	}
	if len(name) > maxVehicle {
		return fmt.Errorf("%s %.16q…: the name has %d bytes, at most %d fit", what, name, len(name), maxVehicle)
	}
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return fmt.Errorf("%s %q: %q cannot be part of a subject; use letters, digits, - and _", what, name, c)
		}
	}
	return nil
}
