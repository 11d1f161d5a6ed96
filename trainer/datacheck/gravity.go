package datacheck

import (
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// gravity finds an accelerometer that contradicts the attitude. In the mean over half a second most of what it measures is the specific
// force of gravity,
//
//	f = ±g (−sin θ, sin φ cos θ, cos φ cos θ)
//
// with roll φ and pitch θ, in axes that point forward, left and up (+) as in those that point forward, right and down (−). Where a vehicle tilts and
// the horizontal part follows it against this, or in the place of the other axis, the two have other axes. Thrust along the body's own axis, as a copter's,
// and forces to the side hide gravity: they do not turn it round.
func (r *recording) gravity() {
	roll, pitch := r.tilt("roll"), r.tilt("pitch")
	accelerometer := r.accelerometer()
	if roll == nil || pitch == nil || accelerometer == nil {
		return
	}
	var f, d [3][]float64 // by axis, means of blocks: what is measured, and the share of gravity
	for _, s := range r.segs {
		for _, b := range s.blocks(restBlock) {
			if force, share, ok := tilted(b, roll, pitch, accelerometer); ok {
				for i := range f {
					f[i], d[i] = append(f[i], force[i]), append(d[i], share[i])
				}
			}
		}
	}
	if len(f[0]) < gravityBlocks {
		return
	}
	size := make([]float64, len(f[0]))
	up := 0.0
	for i := range size {
		size[i] = math.Sqrt(f[0][i]*f[0][i] + f[1][i]*f[1][i] + f[2][i]*f[2][i])
		up += f[2][i] * d[2][i]
	}
	g := math.Copysign(median(size), up)
	if width(sorted(size)) > gravityWidth*math.Abs(g) {
		return // it has no gravity in it, or little beside the motion
	}
	for i, along := range []string{"pitch", "roll"} {
		other := 1 - i
		slope, own := followed(f[i], d[i], g)
		across, cross := followed(f[i], d[other], g)
		k, name := accelerometer[i], r.channels[accelerometer[i]].Name
		switch tied := math.Abs(stat.Correlation(d[0], d[1], nil)) > gravityFree; {
		case own < -gravityFollows && math.Abs(slope+1) < gravityNear:
			r.addLog(Axes, Note, k, len(size),
				"%s has the opposite sign to %s: its slope over the gravity component along its axis is %.2f, the correlation %.2f; both should be 1. Accelerometer and attitude have different axes: give both the same in the map (axes, or a minus before the field).",
				name, along, slope, own)
		case !tied && math.Abs(own) < gravityFree && math.Abs(cross) > gravityFollows && math.Abs(math.Abs(across)-1) < gravityNear:
			r.addLog(Axes, Note, k, len(size),
				"%s follows %s, not %s: its correlation is %.2f with the gravity component along the other axis, and %.2f with that along its own. Two axes of the accelerometer, or roll and pitch, are swapped: correct the fields in the map.",
				name, []string{"roll", "pitch"}[i], along, cross, own)
		}
	}
}

// followed returns the slope of what is measured by the share of gravity, over g, and their correlation; 0 where that hardly varies.
func followed(f, share []float64, g float64) (slope, correlation float64) {
	if stat.StdDev(share, nil) < gravityTilt {
		return 0, 0
	}
	_, slope = stat.LinearRegression(share, f, nil, false)
	return slope / g, math.Copysign(1, g) * stat.Correlation(share, f, nil)
}

// angle is a channel that is an angle.
type angle struct {
	k      int
	radian float64 // radians in its unit, with the sign that the kinematics gives it
}

// tilt returns the angle that the kinematics has in the place of roll or pitch, else the channel of that name; nil without one whose unit is known.
func (r *recording) tilt(name string) *angle {
	sign := 1.0
	if attitude := r.kinematics.Attitude; len(attitude) == 3 {
		name, sign = channel.Signed(attitude[map[string]int{"roll": 0, "pitch": 1}[name]])
	}
	for k, c := range r.channels {
		if !strings.EqualFold(c.Name, name) {
			continue
		}
		switch turn := channel.Turn(c.Unit); {
		case c.Period > 0:
			return &angle{k, sign * 2 * math.Pi / c.Period}
		case turn > 0:
			return &angle{k, sign * 2 * math.Pi / turn}
		}
	}
	return nil
}

// accelerometer returns the channels of three axes whose unit or name is that of an acceleration, x first; nil without them.
func (r *recording) accelerometer() []int {
	for k, c := range r.channels {
		stem, ok := strings.CutSuffix(strings.ToLower(c.Name), "x")
		if unit := channel.CanonicalUnit(c.Unit); !ok || unit != "m/s²" && unit != "g" && !strings.Contains(stem, "acc") {
			continue
		}
		out := []int{k}
		for _, axis := range []string{"y", "z"} {
			for j, o := range r.channels {
				if strings.ToLower(o.Name) == stem+axis && o.Unit == c.Unit {
					out = append(out, j)
				}
			}
		}
		if len(out) == 3 {
			return out
		}
	}
	return nil
}

// tilted returns the means of the accelerometer and of the shares of gravity in a block; ok is false where too little is known.
func tilted(b span, roll, pitch *angle, accelerometer []int) (force, share [3]float64, ok bool) {
	s, n := b.seg, 0.0
	for i := b.first; i < b.last; i++ {
		known := s.good(roll.k, i) && s.good(pitch.k, i)
		for _, k := range accelerometer {
			known = known && s.good(k, i)
		}
		if !known {
			continue
		}
		sinRoll, cosRoll := math.Sincos(roll.radian * s.col[roll.k][i])
		sinPitch, cosPitch := math.Sincos(pitch.radian * s.col[pitch.k][i])
		n++
		for axis, v := range [...]float64{-sinPitch, sinRoll * cosPitch, cosRoll * cosPitch} {
			force[axis] += (s.col[accelerometer[axis]][i] - force[axis]) / n
			share[axis] += (v - share[axis]) / n
		}
	}
	return force, share, 2*n > float64(b.n())
}
