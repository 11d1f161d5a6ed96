package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// gimbal finds where the nose of a vehicle points nearly straight up or down: roll and yaw
// cannot be distinguished there, move fast or jump, and so do the errors that are made of
// them.
func (r *recording) gimbal() {
	a := r.attitude()
	if a == nil {
		return
	}
	k := a[1]
	for _, s := range r.segs {
		var near []int
		for _, i := range s.keep {
			if s.good(k, i) && r.steeper(s, k, i, steep) {
				near = append(near, i)
			}
		}
		for i, j := range runs(len(near), func(_, i int) bool { return s.t[near[i]]-s.t[near[i-1]] <= steepApart }) {
			at := span{s, near[i], near[j-1] + 1}
			most := 0.0
			for i := at.first; i < at.last; i++ {
				if s.good(k, i) {
					most = math.Max(most, math.Abs(math.Asin(math.Sin(2*math.Pi/r.channels[k].Period*s.col[k][i]))))
				}
			}
			r.add(Gimbal, Note, k, at,
				"%s comes within 10° of ±90°, up to %.0f°, %s: roll and yaw are ambiguous there (gimbal lock), and their errors mean little. Evaluate such flight by rates and velocities.",
				r.channels[k].Name, most*180/math.Pi, at)
		}
	}
}

// steeper reports whether pitch k at a sample is nearer to ±90° than the limit, radians.
func (r *recording) steeper(s *segment, k, i int, limit float64) bool {
	return math.Abs(math.Cos(2*math.Pi/r.channels[k].Period*s.col[k][i])) < math.Cos(limit)
}

// attitude returns the channels that the log declares to be the angles of an attitude;
// else states called roll, pitch and yaw, if all are there; else nil.
func (r *recording) attitude() []int {
	var out []int
	if len(r.kinematics.Attitude) == 3 {
		for _, signed := range r.kinematics.Attitude {
			name, _ := channel.Signed(signed)
			out = append(out, channel.Index(r.channels, name))
		}
		return out
	}
	return channel.NamedAttitude(r.channels)
}

// overTheTop reports whether channel k is roll or yaw and the nose is steep at most samples
// around [first, last): these two trade places there within a few samples. A spike of
// pitch alone does not make it steep.
func (r *recording) overTheTop(k int, s *segment, first, last int) bool {
	const around = 5 // samples on either side
	a := r.attitude()
	if a == nil || k != a[0] && k != a[2] {
		return false
	}
	n, turned := 0, 0
	for i := max(0, first-around); i < min(last+around, s.n()); i++ {
		if finite(s.col[a[1]][i]) {
			n++
			if r.steeper(s, a[1], i, climbing) {
				turned++
			}
		}
	}
	return 2*turned > n
}

// steepNear reports whether the nose points up or down within halfRow of samples
// [first, last] of a segment: the angles turn fast there without an outside force.
func (r *recording) steepNear(s *segment, first, last int) bool {
	return slices.ContainsFunc(r.found.problems, func(p Problem) bool {
		return p.Kind == Gimbal && p.Index == s.index && p.From <= s.t[last]+halfRow && p.To >= s.t[first]-halfRow
	})
}
