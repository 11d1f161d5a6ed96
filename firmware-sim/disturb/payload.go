package disturb

import (
	"fmt"
	"strings"
)

// Payload is additional mass of a robot. Controllers do not model it.
type Payload struct {
	Mass float64 // over the robot's own; 0 = none
	Onset
}

// maxPayload is the largest payload, in the robot's own mass.
const maxPayload = 100

// ParsePayload reads MASS, MASS:AT or MASS:AT:OVER, for example "0.3" or
// "0.3:20s:5s".
func ParsePayload(text string) (p Payload, err error) {
	parts := strings.Split(text, ":")
	if p.Mass, err = fraction(parts[0], maxPayload); err == nil {
		p.Onset, err = onset(parts[1:])
	}
	if err != nil {
		return p, fmt.Errorf("payload=%s: %w; write payload=0.3, payload=0.3:20s or payload=0.3:20s:5s", text, err)
	}
	return p, nil
}
