package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// The field: discs around the straight line along x from hovering to fieldEnd.
const (
	discs      = 8
	fieldEnd   = 6.0    // m
	fieldSpeed = 1.5    // m/s, of the reference
	tooLong    = 20.0   // s, a flight that is not there by then has failed
	payload    = 0.1    // of the vehicle's mass
	body       = 0.06   // m, radius of the vehicle
	slack      = 0.0035 // m, that every planner keeps free: how far the way between two times of a prediction cuts into a disc at 2 m/s, and what the penalty lets in
	narrowest  = 0.10   // m, free to either side in the middle of the narrowest gap: no planner keeps more
)

// promised is the probability of a collision in a flight that planners with intervals keep to.
const promised = 0.05

// field returns the discs of a flight: two across the line every 0.65 m, with a gap to fly
// through whose middle and width are random.
func field(seed uint64) (all []planning.Obstacle) {
	rng := rand.New(rand.NewPCG(seed, 70))
	for i := range discs {
		x := 0.9 + 0.65*float64(i)
		middle, half := 1+0.3*(2*rng.Float64()-1), narrowest+0.10*rng.Float64()
		for _, side := range []float64{-1, 1} {
			r := 0.1 + 0.05*rng.Float64()
			all = append(all, planning.Obstacle{
				Channels: [2]int{0, 2}, Centre: [2]float64{x, middle + side*(half+body+r)}, Radius: r + body,
			})
		}
	}
	return all
}

// factor is the number of standard deviations that planners with intervals keep free of each disc:
// a flight passes all of them, and the probabilities of their half-planes add up to what is promised.
var factor = distuv.UnitNormal.Quantile(1 - promised/(2*discs))

// passage is how a flight through a field went.
type passage struct {
	collided bool
	arrived  bool
	seconds  float64
	solves   []time.Duration
}

// through flies a field until it collides, arrives or has taken too long. At loadAt, s, a
// payload is put on; negative = none is.
func through(obstacles []planning.Obstacle, c *planner, seed uint64, loadAt float64) (out passage) {
	p, f := &vehicle, newFlight(seed)
	mass := slices.IndexFunc(p.Params, func(q plant.Param) bool { return q.Name == p.Mass })
	K := len(f.x)
	ahead := make([]float64, rows*K)
	defer func() { out.solves = f.solves }()
	for {
		now := float64(f.steps) * tick
		if loadAt >= 0 && now >= loadAt {
			f.params[mass] = p.Params[mass].Value * (1 + payload)
		}
		for r := range rows {
			at := ahead[r*K : (r+1)*K]
			copy(at, p.X0)
			at[0], at[1] = f.seen[0]+fieldSpeed*float64(r+1)*row, fieldSpeed
		}
		f.under(c, ahead)
		out.seconds = float64(f.steps) * tick
		for i := range obstacles {
			o := &obstacles[i]
			if math.Hypot(f.x[0]-o.Centre[0], f.x[2]-o.Centre[1]) < o.Radius {
				out.collided = true
				return out
			}
		}
		if out.arrived = f.x[0] >= fieldEnd; out.arrived || out.seconds >= tooLong || f.tumbles() {
			return out
		}
	}
}
