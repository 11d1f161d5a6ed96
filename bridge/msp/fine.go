package msp

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// fine follows an attitude between the steps in which it is reported: the rates turn it, and it stays within what was reported. The slope of the
// steps themselves would be wrong by a step in each sample.
type fine struct {
	q     frames.Quaternion
	rates [3]float64
	t     int64 // ns; 0 = nothing is known
}

const (
	longest = 100e6 // ns without rates, beyond which the attitude is the reported one
	steep   = 80    // degrees of pitch, beyond which roll and yaw are not bounded by themselves
)

// halves are half of the steps of roll, pitch and heading, rad.
var halves = [3]float64{0.05 * math.Pi / 180, 0.05 * math.Pi / 180, 0.5 * math.Pi / 180}

// add takes what is reported at time t, ns, with the rates, rad/s, and returns the attitude. Where it is not new it bounds nothing.
func (f *fine) add(reported frames.Quaternion, rates [3]float64, t int64, isNew bool) frames.Quaternion {
	dt := t - f.t
	if f.t == 0 || dt > longest {
		f.q = reported
	} else {
		var mean [3]float64
		for i := range mean {
			mean[i] = (f.rates[i] + rates[i]) / 2
		}
		f.q = frames.Mul(f.q, turn(mean, 1e-9*float64(dt)))
		if isNew {
			f.bound(reported)
		}
	}
	f.rates, f.t = rates, t
	return f.q
}

// bound moves the attitude into the steps of what is reported.
func (f *fine) bound(reported frames.Quaternion) {
	e, at := f.q.Euler(), reported.Euler()
	if math.Abs(at[1]) > steep*math.Pi/180 {
		f.q = reported
		return
	}
	for i, half := range halves {
		e[i] = at[i] + max(-half, min(half, wrapped(e[i]-at[i])))
	}
	f.q = frames.FromEuler(e)
}

// wrapped returns an angle within half a turn.
func wrapped(v float64) float64 { return v - 2*math.Pi*math.Round(v/(2*math.Pi)) }
