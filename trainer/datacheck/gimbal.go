package datacheck

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	steep      = 80 * math.Pi / 180 // of pitch: beyond it roll and yaw turn about nearly one axis
	climbing   = 60 * math.Pi / 180 // beyond it they turn fast
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
				if v := s.col[k][i]; s.good(k, i) {
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
			if !s.good(k, i) || math.Abs(math.Cos(2*math.Pi/c.channels[k].Period*v)) >= limit {
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

// pitch returns the second angle of the attitude; −1 without one.
func (c *checker) pitch() int {
	if a := c.attitude(); a != nil {
		return a[1]
	}
	return -1
}

// attitude returns the channels that the log declares to be the angles of an attitude;
// else states called roll, pitch and yaw, if all are there; else nil.
func (c *checker) attitude() []int {
	if len(c.law.Attitude) == 3 {
		var out []int
		for _, signed := range c.law.Attitude {
			name, _ := channel.Signed(signed)
			out = append(out, channel.Index(c.channels, name))
		}
		return out
	}
	var out []int
	for _, name := range []string{"roll", "pitch", "yaw"} {
		k := slices.IndexFunc(c.channels, func(ch channel.Channel) bool {
			return strings.EqualFold(ch.Name, name) && ch.Role == channel.State && ch.Period > 0
		})
		if k < 0 {
			return nil
		}
		out = append(out, k)
	}
	return out
}

// overTheTop reports whether channel k is roll or yaw and the nose is steep at most
// samples around [first, last): these two change places there within a few samples. A
// spike of pitch alone does not make it steep.
func (c *checker) overTheTop(k int, s *segment, first, last int) bool {
	const around = 5 // samples on either side
	a := c.attitude()
	if a == nil || k != a[0] && k != a[2] {
		return false
	}
	pitch := a[1]
	limit, n, turned := math.Cos(climbing), 0, 0
	for i := max(0, first-around); i < min(last+around, s.n()); i++ {
		if v := s.col[pitch][i]; finite(v) {
			n++
			if math.Abs(math.Cos(2*math.Pi/c.channels[pitch].Period*v)) < limit {
				turned++
			}
		}
	}
	return 2*turned > n
}

// steepNear reports whether the nose points up or down within halfRow of samples
// [first, last] of a segment: the angles turn fast there, and nothing pushed the robot.
func (c *checker) steepNear(s *segment, first, last int) bool {
	for _, p := range c.problems {
		if p.Kind == Gimbal && p.Index == s.index && p.From <= s.t[last]+halfRow && p.To >= s.t[first]-halfRow {
			return true
		}
	}
	return false
}
