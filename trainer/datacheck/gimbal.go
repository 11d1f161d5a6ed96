package datacheck

import (
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	steep      = 80 * math.Pi / 180 // of pitch: beyond it roll and yaw turn about nearly one axis
	steepApart = 0.5                // s, steep stretches closer than this are told as one
)

// gimbal tells where the nose of a vehicle points nearly straight up or down: roll
// and yaw cannot be told apart there, move fast or jump, and so do the errors that
// are made of them.
func (c *checker) gimbal() {
	k := c.pitch()
	if k < 0 {
		return
	}
	limit := math.Cos(steep)
	for _, s := range c.segs {
		from, last := -1, -1
		tell := func() {
			if from < 0 {
				return
			}
			most := 0.0
			for i := from; i <= last; i++ {
				if v := s.col[k][i]; finite(v) && !s.bad[k][i] {
					most = math.Max(most, math.Abs(math.Asin(math.Sin(2*math.Pi/c.channels[k].Period*v))))
				}
			}
			c.add(Gimbal, Note, k, s, from, last+1,
				"%s comes within 10° of ±90°, up to %.0f°, %s: roll and yaw turn about nearly the same axis there, and their predictions and errors mean little. Judge such flight by rates and velocities.",
				c.channels[k].Name, most*180/math.Pi, span(s.t[from], s.t[last]))
			from = -1
		}
		for _, i := range s.keep {
			v := s.col[k][i]
			if !finite(v) || s.bad[k][i] || math.Abs(math.Cos(2*math.Pi/c.channels[k].Period*v)) >= limit {
				continue
			}
			if from >= 0 && s.t[i]-s.t[last] > steepApart {
				tell()
			}
			if from < 0 {
				from = i
			}
			last = i
		}
		tell()
	}
}

// pitch returns the channel that the log declares to be the second angle of an
// attitude; else the one of that name beside a roll and a yaw; else −1.
func (c *checker) pitch() int {
	if len(c.law.Attitude) == 3 {
		name, _ := channel.Signed(c.law.Attitude[1])
		return channel.Index(c.channels, name)
	}
	found := map[string]int{"roll": -1, "pitch": -1, "yaw": -1}
	for i, ch := range c.channels {
		for name := range found {
			if strings.EqualFold(ch.Name, name) && ch.Role == channel.State && ch.Period > 0 {
				found[name] = i
			}
		}
	}
	if found["roll"] < 0 || found["yaw"] < 0 {
		return -1
	}
	return found["pitch"]
}
