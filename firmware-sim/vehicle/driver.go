package vehicle

import (
	"github.com/dgm-robotics/dgm/firmware-sim/drive"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// driver returns the driver of a segment, for ticks of tick seconds.
func driver(c *Config, tick float64, from uint64, segment int) (d drive.Driver, feedback bool) {
	d, feedback = drive.For(&c.Plant, tick, seed.New(from, seed.Drive, segment, 0))
	if c.Shake != nil {
		d = drive.NewShaken(d, c.Shake, tick, seed.New(from, seed.Drive, segment, 1))
	}
	return d, feedback
}
