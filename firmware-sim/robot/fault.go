package robot

import (
	"fmt"

	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
)

// AddFault adds a fault in the notation of package fault, of the robot or of its sensors. It
// returns an error where the text is none, or the plant cannot have it.
func (c *Config) AddFault(text string) error {
	p := &c.Plant
	got, err := fault.Parse(text, p.States, p.Inputs)
	if err != nil {
		return err
	}
	v := got.Values
	onset := func(at int) disturb.Onset { return disturb.Onset{At: v[at], Over: v[at+1]} }
	lacks := ""
	switch got.Kind {
	case fault.Wind:
		c.Gusts = disturb.Gusts{Std: v[0], Time: v[1], Onset: onset(2)}
		if p.Push == nil {
			lacks = "has no disturbance for wind"
		}
	case fault.Payload:
		c.Payload = disturb.Payload{Mass: v[0], Onset: onset(1)}
		if p.Mass == "" {
			lacks = "cannot carry a payload"
		}
	case fault.Wear:
		c.Worn = append(c.Worn, disturb.Wear{Loss: v[0], Inputs: got.Channels, Onset: onset(1)})
		if len(p.Inputs) == 0 {
			lacks = "has no inputs that can wear"
		}
	case fault.Late:
		c.Late = append(c.Late, disturb.Lateness{Dead: v[0], Lag: v[1], Inputs: got.Channels, Onset: onset(2)})
		if len(p.Inputs) == 0 {
			lacks = "has no inputs that can be late"
		}
	default:
		c.Faults = append(c.Faults, got)
	}
	if lacks != "" {
		return fmt.Errorf("%s: system %s %s", text, p.Name, lacks)
	}
	return nil
}

// Onset returns when the robot begins to change, s: the first onset of its payload, wear and lateness,
// false where it has none.
func (c *Config) Onset() (at float64, ok bool) {
	if c.Payload.Mass != 0 {
		at, ok = c.Payload.At, true
	}
	first := func(o disturb.Onset) {
		if !ok || o.At < at {
			at, ok = o.At, true
		}
	}
	for _, w := range c.Worn {
		first(w.Onset)
	}
	for _, l := range c.Late {
		first(l.Onset)
	}
	return at, ok
}
