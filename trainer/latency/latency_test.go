package latency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// plant is a robot whose actuators are late.
type plant struct {
	name   string
	states []string // a name with a * is an angle
	inputs int
	start  []float64
	field  func(dst, x, v []float64)
	pilot  func(r *rand.Rand) func(t float64, x []float64) []float64
}

// steps returns a reference that jumps.
func jumps(r *rand.Rand, every, size float64) func(t float64) float64 {
	values := map[int]float64{}
	return func(t float64) float64 {
		i := int(t / every)
		if _, there := values[i]; !there {
			values[i] = size * r.NormFloat64()
		}
		return values[i]
	}
}

func clip(v, low, high float64) float64 { return math.Min(math.Max(v, low), high) }

var plants = []plant{
	{
		name: "pendulum", states: []string{"theta*", "omega"}, inputs: 1, start: []float64{0.3, 0},
		field: func(dst, x, v []float64) { dst[0], dst[1] = x[1], -9.81*math.Sin(x[0])-0.2*x[1]+2*v[0] },
		pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
			to := jumps(r, 0.8, 1)
			return func(t float64, x []float64) []float64 { return []float64{clip(6*(to(t)-x[0])-x[1], -8, 8)} }
		},
	},
	{
		name: "differential drive", states: []string{"v", "w"}, inputs: 2, start: []float64{0, 0},
		field: func(dst, x, v []float64) {
			dst[0] = 2*(v[0]+v[1]) - 0.8*x[0] - 0.3*math.Abs(x[0])*x[0]
			dst[1] = 6*(v[1]-v[0]) - 3*x[1]
		},
		pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
			a, b := jumps(r, 1.1, 0.6), jumps(r, 0.9, 0.6)
			return func(t float64, x []float64) []float64 {
				return []float64{clip(a(t)-b(t)-x[0]/4, -2, 2), clip(a(t)+b(t)-x[0]/4, -2, 2)}
			}
		},
	},
	{
		name: "planar quadrotor", states: []string{"x", "z", "pitch*", "vx", "vz", "q"}, inputs: 2, start: make([]float64, 6),
		field: func(dst, x, v []float64) {
			copy(dst, x[3:])
			dst[3], dst[4], dst[5] = -v[0]*math.Sin(x[2])-0.1*x[3], v[0]*math.Cos(x[2])-9.81-0.1*x[4], 10*v[1]
		},
		pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
			a, b := jumps(r, 2, 1), jumps(r, 1.5, 1)
			return func(t float64, x []float64) []float64 {
				to := -clip(0.25*(a(t)-x[0])-0.5*x[3], -3, 3) / 9.81
				return []float64{clip(9.81+0.5*(b(t)-x[1])-0.8*x[4], 4, 16), clip(0.35*(to-x[2])-0.2*x[5], -3, 3)}
			}
		},
	},
}

// fly records a plant: states with noise (a share of what each moves), the commands, each held for a step of the log.
func (p *plant) fly(seed uint64, seconds, dt float64, noise float64, truth []pair) []window.Flight {
	r := rand.New(rand.NewPCG(seed, 1))
	pilot := p.pilot(r)
	K, n := len(p.states), int(seconds/dt)
	const parts = 20
	h := dt / parts
	x, log := append([]float64(nil), p.start...), window.Series{Name: p.name}
	var sent [][]float64
	v := make([]float64, p.inputs)
	k := [4][]float64{make([]float64, K), make([]float64, K), make([]float64, K), make([]float64, K)}
	y := make([]float64, K)
	for i := range n {
		u := pilot(float64(i)*dt, x)
		if i == 0 {
			copy(v, u)
		}
		sent = append(sent, u)
		log.T, log.X, log.U = append(log.T, int64(math.Round(float64(i)*dt*1e9))), append(log.X, x...), append(log.U, u...)
		for s := range parts {
			from, mid, to := make([]float64, p.inputs), make([]float64, p.inputs), make([]float64, p.inputs)
			for j := range v {
				at := float64(i*parts+s)*h - truth[j][0]
				ud := sent[max(0, int(math.Floor(at/dt+1e-9)))][j]
				from[j], mid[j], to[j] = v[j], ud, ud
				if lag := truth[j][1]; lag > 0 {
					mid[j], to[j] = ud+(v[j]-ud)*math.Exp(-h/2/lag), ud+(v[j]-ud)*math.Exp(-h/lag)
				} else {
					from[j] = ud
				}
			}
			p.field(k[0], x, from)
			for c, w := range [...]float64{h / 2, h / 2, h} {
				for q := range y {
					y[q] = x[q] + w*k[c][q]
				}
				u := mid
				if c == 2 {
					u = to
				}
				p.field(k[c+1], y, u)
			}
			for q := range x {
				x[q] += h / 6 * (k[0][q] + 2*k[1][q] + 2*k[2][q] + k[3][q])
			}
			copy(v, to)
		}
	}
	for k := range K {
		var mean, square float64
		for i := range n {
			d := log.X[i*K+k] - mean
			mean += d / float64(i+1)
			square += d * (log.X[i*K+k] - mean)
		}
		std := math.Sqrt(square / float64(n))
		for i := range n {
			log.X[i*K+k] += noise * std * r.NormFloat64()
		}
	}
	return window.Prepare(0, log, p.channels()[:K], p.inputs, window.Options{})
}

func (p *plant) channels() (out []channel.Channel) {
	for _, s := range p.states {
		c := channel.Channel{Name: s, Role: channel.State}
		if s[len(s)-1] == '*' {
			c.Name, c.Period = s[:len(s)-1], 2*math.Pi
		}
		out = append(out, c)
	}
	for j := range p.inputs {
		out = append(out, channel.Channel{Name: fmt.Sprintf("u%d", j+1), Role: channel.Input})
	}
	return out
}

// skipWide skips a plant of six states, whose regression has four times as many products as the others together; they assert the same.
func skipWide(t *testing.T, p *plant) {
	t.Helper()
	if len(p.states) > 4 && os.Getenv("DGM_SLOW") == "" {
		t.Skip("a regression with all products of six states; DGM_SLOW=1 runs it")
	}
}

// Dead times of 0 to 150 ms and lags of 20 to 200 ms are found to a quarter of a sample, and their intervals hold.
func TestLatencyIsFound(t *testing.T) {
	seeds := 1
	if os.Getenv("DGM_SLOW") != "" {
		seeds = 6
	}
	for i := range plants {
		p := &plants[i]
		t.Run(p.name, func(t *testing.T) {
			skipWide(t, p)
			var square, lags float64
			n, held, lagHeld, far := 0, 0, 0, 0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				var truth []pair
				for range p.inputs {
					truth = append(truth, pair{0.0005 * float64(r.IntN(301)), 0.02 + 0.18*r.Float64()}) // the simulation's step divides it
				}
				res, err := Estimate(t.Context(), p.fly(seed, 60, 0.01, 0.003, truth), p.channels())
				if err != nil {
					t.Fatal(err)
				}
				if !(res.Gain < 0.9) {
					t.Errorf("seed %d: %.3f is left of what inputs that act at once leave", seed, res.Gain)
				}
				for j, l := range res.Inputs {
					e := l.Dead - truth[j][0]
					n++
					square, lags = square+e*e, lags+(l.Lag-truth[j][1])*(l.Lag-truth[j][1])
					if l.DeadLow <= truth[j][0] && truth[j][0] <= l.DeadHigh {
						held++
					}
					if l.LagLow <= truth[j][1] && truth[j][1] <= l.LagHigh {
						lagHeld++
					}
					if !l.Known || math.Abs(e) > 0.0025 {
						far++
						t.Logf("seed %d: %+v is %v", seed, l, truth[j])
					}
				}
			}
			t.Logf("%d inputs: dead time %.2f ms rms, %d off by more than 2.5 ms, 95 %% hold %.2f; lag %.2f ms, %.2f", n,
				1000*math.Sqrt(square/float64(n)), far, float64(held)/float64(n), 1000*math.Sqrt(lags/float64(n)), float64(lagHeld)/float64(n))
			if far > n/20 || float64(held) < 0.85*float64(n)-1 || float64(lagHeld) < 0.85*float64(n)-1 {
				t.Errorf("%d of %d dead times are off, %d and %d intervals hold", far, n, held, lagHeld)
			}
		})
	}
}

// A cart that sticks before it starts does not look late.
func TestDryFrictionIsNoLatency(t *testing.T) {
	cart := plant{
		states: []string{"x", "v"}, inputs: 1, start: []float64{0, 0},
		field: func(dst, x, v []float64) { dst[0], dst[1] = x[1], v[0]-0.5*x[1]-1.2*math.Tanh(x[1]/0.02) },
		pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
			to := jumps(r, 1.5, 0.4)
			return func(t float64, x []float64) []float64 { return []float64{clip(6*(to(t)-x[0])-3*x[1], -4, 4)} }
		},
	}
	states := cart.channels()
	states[0].Unit, states[0].Derivative, states[1].Unit = "m", "v", "m/s"
	const dead, lag = 0.01, 0.03
	res, err := Estimate(t.Context(), cart.fly(3, 60, 0.02, 0.003, []pair{{dead, lag}}), states)
	if err != nil {
		t.Fatal(err)
	}
	if l := res.Inputs[0]; !l.Known || math.Abs(l.Dead-dead) > 0.005 || math.Abs(l.Lag-lag) > 0.005 {
		t.Errorf("%+v, true are %v and %v s", l, dead, lag)
	}
	for k := range states {
		states[k].Unit, states[k].Derivative = "", ""
	}
	if res, err = Estimate(t.Context(), cart.fly(3, 60, 0.02, 0.003, []pair{{dead, lag}}), states); err != nil {
		t.Fatal(err)
	}
	if l := res.Inputs[0]; l.Known && math.Abs(l.Dead-dead) < 0.005 && math.Abs(l.Lag-lag) < 0.005 {
		t.Errorf("without a rate %+v is as good: the test shows nothing", l)
	}
}

// Inputs that act at once are known to, at 50 Hz, and with DGM_SLOW at 200 Hz.
func TestNoLatencyIsFound(t *testing.T) {
	periods := []float64{0.02}
	if os.Getenv("DGM_SLOW") != "" {
		periods = append(periods, 0.005)
	}
	for i := range plants {
		p := &plants[i]
		t.Run(p.name, func(t *testing.T) {
			skipWide(t, p)
			for _, dt := range periods {
				res, err := Estimate(t.Context(), p.fly(1, 60, dt, 0.003, make([]pair, p.inputs)), p.channels())
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range res.Inputs {
					if !l.Known || l.DeadLow > 0.0005 || l.LagLow > 0.0005 || l.DeadHigh > 0.02 || l.LagHigh > 0.02 {
						t.Errorf("every %v s: %+v", dt, l)
					}
				}
			}
		})
	}
}

// Of a long log only parts are read, from its begin to its end.
func TestPortions(t *testing.T) {
	p := &plants[0]
	short := p.fly(1, 10, 0.01, 0, []pair{{}})
	if got := portions(short); len(got) != 1 || got[0].N() != short[0].N() {
		t.Errorf("%d parts of a short log", len(got))
	}
	long := window.Series{T: make([]int64, 700_000), X: make([]float64, 1_400_000), U: make([]float64, 700_000)}
	for i := range long.T {
		long.T[i] = int64(i) * 1e7
	}
	flights := append(window.Prepare(0, long, p.channels()[:2], 1, window.Options{}), short...)
	n, last := 0, 0.0
	for _, f := range portions(flights) {
		n, last = n+f.N(), math.Max(last, f.T[0])
	}
	if n < samples*9/10 || n > samples*11/10 || last < 6500 {
		t.Errorf("%d samples, the last part from %v s on", n, last)
	}
}

// Inputs that do nothing, that follow from the states, that do not vary, and flights that are too short leave latencies open, with
// finite numbers.
func TestLatencyIsLeftOpen(t *testing.T) {
	p := &plants[0]
	truth := []pair{{0.05, 0.05}}
	for name, change := range map[string]func(f *window.Series){
		"constant": func(s *window.Series) {
			for i := range s.U {
				s.U[i] = 1
			}
		},
		"function of the state": func(s *window.Series) {
			for i := range s.U {
				s.U[i] = 2*s.X[2*i] - s.X[2*i+1]
			}
		},
		"noise": func(s *window.Series) {
			r := rand.New(rand.NewPCG(1, 1))
			for i := range s.U {
				s.U[i] = r.NormFloat64()
			}
		},
		"nothing measured": func(s *window.Series) {
			for i := range s.X {
				s.X[i] = math.NaN()
			}
		},
		"short": func(s *window.Series) { s.T, s.X, s.U = s.T[:30], s.X[:60], s.U[:30] },
	} {
		t.Run(name, func(t *testing.T) {
			flight := p.fly(1, 20, 0.01, 0.003, truth)[0]
			s := window.Series{X: append([]float64(nil), flight.X...), U: append([]float64(nil), flight.U...)}
			for _, v := range flight.T {
				s.T = append(s.T, int64(math.Round(v*1e9)))
			}
			change(&s)
			channels := p.channels()
			res, err := Estimate(t.Context(), window.Prepare(0, s, channels[:2], 1, window.Options{}), channels)
			if err != nil {
				t.Fatal(err)
			}
			if l := res.Inputs[0]; l.Known && l.DeadHigh < 0.04 || !finite(l.Dead, l.DeadLow, l.DeadHigh, l.Lag, l.LagLow, l.LagHigh, res.Gain) {
				t.Errorf("%+v, gain %v", l, res.Gain)
			}
		})
	}
	if res, err := Estimate(t.Context(), nil, p.channels()); err != nil || res.Inputs[0].Known {
		t.Errorf("%+v, %v", res, err)
	}
}

func finite(all ...float64) bool {
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// The angle that a wheel is steered to is measured as a state, too: what its command does later than at once is what the regression lacks.
func TestACommandThatFollowsFromTheStates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := window.Series{}
	rate, slip := 0.0, 0.0
	for i := range 6000 {
		at := 0.01 * float64(i)
		command := 0.25*math.Sin(2.9*at) + 0.15*math.Sin(4.7*at+1)
		s.T, s.U = append(s.T, int64(i)*1e7), append(s.U, command)
		s.X = append(s.X, rate+1e-3*rng.NormFloat64(), command+1e-4*rng.NormFloat64())
		for range 10 {
			slip += 1e-3 * 25 * (command - slip) // the tyres, which nothing measures
			rate += 1e-3 * (40*math.Tanh(3*slip) - 12*rate)
		}
	}
	channels := []channel.Channel{{Name: "yaw_rate", Role: channel.State, Unit: "rad/s"}, {Name: "steering", Role: channel.State, Unit: "rad"}, {Name: "steering_cmd", Role: channel.Input, Unit: "rad"}}
	res, err := Estimate(t.Context(), window.Prepare(0, s, channels[:2], 1, window.Options{}), channels)
	if err != nil || res.Inputs[0].Known || res.Actuators() != nil {
		t.Errorf("%+v, %v", res, err)
	}
}
