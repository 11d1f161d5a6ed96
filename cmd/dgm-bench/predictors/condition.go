package predictors

import (
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// condition is what of a recording was measured.
type condition struct {
	name, title string
	share       float64 // (optional) of each training segment, from its beginning
	rate        float64 // (optional) of the training samples, Hz: every n-th is kept
	irregular   bool    // a random half of the training samples is left out
	positions   bool    // no velocity is measured, in training and test
}

// conditions of the second table. The windows that are scored have all samples.
var conditions = []condition{
	{name: "all", title: "all data"},
	{name: "half", title: "half of the data", share: 0.5},
	{name: "quarter", title: "a quarter of the data", share: 0.25},
	{name: "20hz", title: "20 Hz", rate: 20},
	{name: "irregular", title: "a random half of the samples", irregular: true},
	{name: "positions", title: "positions only", positions: true},
}

// velocities are the names of the channels that positions only leave out.
var velocities = []string{"omega", "omega1", "omega2", "w1", "w2", "vx", "vy", "vz", "p", "q", "r"}

// apply changes the logs of a recording.
func (c *condition) apply(train, test *flightlog.Log, seed uint64) {
	if c.positions {
		dropStates(train, velocities)
		dropStates(test, velocities)
	}
	rng := rand.New(rand.NewPCG(seed, 0x68616c66))
	for i := range train.Segments {
		seg := &train.Segments[i]
		n, every := len(seg.T), 1
		if c.share > 0 {
			n = int(c.share * float64(n))
		}
		if c.rate > 0 && n > 1 {
			seconds := float64(seg.T[n-1]-seg.T[0]) / 1e9 / float64(n-1)
			every = max(1, int(1/(c.rate*seconds)+0.5))
		}
		var kept []int
		for at := range n {
			if at%every == 0 && !(c.irregular && rng.IntN(2) == 0) {
				kept = append(kept, at)
			}
		}
		if len(kept) < len(seg.T) {
			*seg = samples(seg, kept)
		}
	}
}

// samples returns a segment of some of the samples of another.
func samples(seg *flightlog.Segment, kept []int) flightlog.Segment {
	out := flightlog.Segment{Name: seg.Name}
	rows := func(v []float64) (some []float64) {
		width := len(v) / len(seg.T)
		for _, at := range kept {
			some = append(some, v[at*width:(at+1)*width]...)
		}
		return some
	}
	for _, at := range kept {
		out.T = append(out.T, seg.T[at])
	}
	out.X, out.U, out.Aux = rows(seg.X), rows(seg.U), rows(seg.Aux)
	return out
}

// dropStates leaves states out of a log, and the kinematics that declare relations of them.
func dropStates(log *flightlog.Log, names []string) {
	states := channel.Select(log.Channels, channel.State)
	dropped := func(c channel.Channel) bool { return c.Role == channel.State && slices.Contains(names, c.Name) }
	for i := range log.Segments {
		seg := &log.Segments[i]
		var x []float64
		for j, v := range seg.X {
			if !dropped(states[j%len(states)]) {
				x = append(x, v)
			}
		}
		seg.X, seg.X0 = x, nil
	}
	log.Channels = slices.DeleteFunc(slices.Clone(log.Channels), dropped)
	for i, c := range log.Channels {
		if slices.Contains(names, c.Derivative) {
			log.Channels[i].Derivative = ""
		}
	}
	log.Kinematics = channel.Kinematics{}
}
