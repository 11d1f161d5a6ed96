package estimation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// plant is a robot of which some states are recorded.
type plant struct {
	field func(dst, x []float64, v float64)
	start []float64
	shown []int // states
	low   float64
	high  float64
	rest  float64 // s, of a command at most
	noise float64 // of a sensor
	rate  float64 // Hz
	dead  float64 // s
	lag   float64 // s
}

// fly records commands that jump, and what the plant does 3 times for n samples.
func (p *plant) fly(n int) (flights []window.Flight) {
	const parts = 10
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 4))
		x, dx := slices.Clone(p.start), make([]float64, len(p.start))
		var log window.Series
		var sent []float64
		command, until, v := 0., 0., 0.
		h := 1 / p.rate / parts
		for i := range n {
			now := float64(i) / p.rate
			if now >= until {
				command, until = p.low+(p.high-p.low)*r.Float64(), now+p.rest*(0.2+0.8*r.Float64())
			}
			sent = append(sent, command)
			log.T, log.U = append(log.T, int64(math.Round(now*1e9))), append(log.U, command)
			for _, k := range p.shown {
				log.X = append(log.X, x[k]+p.noise*r.NormFloat64())
			}
			for range parts {
				acting := sent[max(0, i-int(p.dead*p.rate+0.5))]
				v += (acting - v) * -math.Expm1(-h/p.lag)
				p.field(dx, x, v)
				for k := range x {
					x[k] += h * dx[k]
				}
			}
		}
		flights = append(flights, window.Prepare(int(seed), log, p.states(), 1, window.Options{})...)
	}
	return flights
}

// states are those that are recorded, without a unit.
func (p *plant) states() (out []channel.Channel) {
	for _, k := range p.shown {
		out = append(out, channel.Channel{Name: string(rune('a' + k)), Role: channel.State})
	}
	return out
}

func cart(dst, x []float64, v float64) {
	dst[0], dst[1] = x[1], 1.2*v-1.5*x[1]-0.8*math.Tanh(x[1]/0.02)-4*x[0]
}

func tank(dst, x []float64, v float64) { dst[0] = 0.4*v - 0.25*math.Sqrt(math.Max(x[0], 0)) }

func shaft(dst, x []float64, v float64) { dst[0] = 40*v - 5*x[0] - 2*math.Tanh(x[0]) }

func motor(dst, x []float64, v float64) {
	dst[0], dst[1] = x[1], 20000*v-10*x[1]-1500*math.Tanh(x[1]/20)
}

func unicycle(dst, x []float64, v float64) {
	dst[0], dst[1], dst[2] = v*math.Cos(x[2]), v*math.Sin(x[2]), v
}

// States without a unit are positions where the data say so, whatever their names.
func TestPositionsWithoutUnits(t *testing.T) {
	pendulum := func(dst, x []float64, v float64) { dst[0], dst[1] = x[1], -9.81*math.Sin(x[0])-0.3*x[1]+3*v }
	servo := func(dst, x []float64, v float64) { dst[0], dst[1] = x[1], 30*(v-x[0])-2*x[1]-8*x[0]*x[0]*x[0] }
	for name, c := range map[string]struct {
		plant
		want []int
	}{
		"a cart":                     {plant{cart, []float64{0, 0}, []int{0}, -10, 10, 1.5, 5e-4, 100, 0.04, 0.03}, []int{0}},
		"a cart and its speed":       {plant{cart, []float64{0, 0}, []int{0, 1}, -10, 10, 1.5, 5e-4, 100, 0.04, 0.03}, nil},
		"a pendulum, noise":          {plant{pendulum, []float64{0.2, 0}, []int{0}, -2, 2, 1.2, 0.01, 200, 0.001, 0.02}, []int{0}},
		"a mass behind a slow servo": {plant{servo, []float64{0, 0}, []int{0}, -1, 1, 2, 0.003, 50, 0.02, 0.2}, []int{0}},
		"a tank":                     {plant{tank, []float64{1}, []int{0}, 0, 1.2, 8, 0.004, 10, 0.15, 0.2}, nil},
		"a tank, exact":              {plant{tank, []float64{1}, []int{0}, 0, 1.2, 8, 0, 10, 0.15, 0.2}, nil},
		"the counts of an encoder":   {plant{motor, []float64{0, 0}, []int{0}, -1, 1, 0.8, 0.3, 500, 0.006, 0.02}, []int{0}},
		"a unicycle":                 {plant{unicycle, []float64{0, 0, 0}, []int{0, 1, 2}, -0.6, 0.9, 3, 0.003, 20, 0.1, 0.08}, nil},
		"the speed of a shaft":       {plant{shaft, []float64{0}, []int{0}, -1, 1, 1.5, 0.03, 100, 0.02, 0.05}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			flights := c.fly(3000)
			if at := estimation.Positions(flights, c.states(), &channel.Kinematics{}); !slices.Equal(at, c.want) {
				t.Errorf("positions %v, expected %v", at, c.want)
			}
			states := c.states()
			for k := range states {
				states[k].Unit = "V"
			}
			if at := estimation.Positions(flights, states, &channel.Kinematics{}); len(at) > 0 {
				t.Errorf("positions %v in V", at)
			}
		})
	}
}
