package datacheck

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Damaged is a synthesised log in which some things are wrong.
type Damaged struct {
	Name    string
	Horizon float64 // s
	Log     *flightlog.Log
}

// DamagedLogs returns logs that hold every kind of problem, for the pin of all
// findings: single damages of a driven pendulum and of a vehicle of 13 states, then
// logs that combine them.
func DamagedLogs() []Damaged {
	var out []Damaged
	add := func(name string, l *flightlog.Log) { out = append(out, Damaged{name, 0.5, l}) }
	add("pendulum, clean", swing(even(20, 100), 0.01, 1))
	add("vehicle, clean", vehicle(18, 100, 1))
	for n, d := range damages {
		l := swing(even(20, 200), 0.01, uint64(40+n))
		d.spoil(l, 0, "omega", 4.2, rand.New(rand.NewPCG(1, uint64(n))))
		add("pendulum, omega: "+d.name, l)
		l = vehicle(18, 100, uint64(40+n))
		r := rand.New(rand.NewPCG(2, uint64(n)))
		d.spoil(l, 0, "x", 6.1, r)
		d.spoil(l, 0, "q", 12.3, r)
		d.spoil(l, 0, "m2", 15.4, r)
		d.spoil(l, 0, "battery", 9, r)
		add("vehicle, x, q, m2, battery: "+d.name, l)
	}
	out = append(out, timeLogs()...)
	out = append(out, valueLogs()...)
	out = append(out, relationLogs()...)
	return append(out, Damaged{"everything", 0.5, everything()})
}

// spoil applies the damage to one channel from a time on, or at the end that it is of.
func (d damage) spoil(l *flightlog.Log, seg int, name string, from float64, r *rand.Rand) {
	c := columnOf(l, seg, name)
	s := &l.Segments[seg]
	dt := float64(s.T[len(s.T)-1]-s.T[0]) / 1e9 / float64(len(s.T)-1)
	m := max(1, int(math.Round(d.seconds/dt)))
	if d.seconds < 0 {
		m = int(-d.seconds)
	}
	i := int(from / dt)
	switch d.where {
	case "end":
		i = len(s.T) - m
	case "start":
		i = 0
	}
	d.do(c, i, i+m, r)
}

// vehicle synthesises a rigid body: position, velocity, attitude and rates, four motors, a
// battery and an accelerometer that are only carried along.
func vehicle(seconds, rate float64, seed uint64) *flightlog.Log {
	r := rand.New(rand.NewPCG(seed, 8))
	var channels []channel.Channel
	state := func(unit string, c channel.Channel, names ...string) {
		for _, n := range names {
			c.Name, c.Unit, c.Role = n, unit, channel.State
			channels = append(channels, c)
		}
	}
	for _, n := range []string{"x", "y", "z"} {
		state("m", channel.Channel{Derivative: "v" + n, Invariant: true}, n)
	}
	state("m/s", channel.Channel{}, "vx", "vy", "vz")
	state("rad", channel.Channel{Period: channel.Angle}, "roll", "pitch", "yaw")
	state("rad/s", channel.Channel{}, "p", "q", "r")
	state("m", channel.Channel{}, "height")
	for _, n := range []string{"m1", "m2", "m3", "m4"} {
		channels = append(channels, channel.Channel{Name: n, Role: channel.Input})
	}
	channels = append(channels, channel.Channel{Name: "battery", Unit: "V", Role: channel.Aux}, channel.Channel{Name: "az", Unit: "g", Role: channel.Aux})
	stamps := even(seconds, rate)
	cols := make([][]float64, len(channels))
	for _, at := range stamps {
		s := at - 100
		var v []float64
		for a := range 3 {
			w := 0.7 + 0.4*float64(a)
			v = append(v, 2*math.Sin(w*s)+0.3*math.Sin(2.9*w*s))
		}
		for a := range 3 {
			w := 0.7 + 0.4*float64(a)
			v = append(v, 2*w*math.Cos(w*s)+0.87*w*math.Cos(2.9*w*s))
		}
		for a := range 3 {
			v = append(v, (0.3+0.9*float64(a/2))*math.Sin((1.1+0.3*float64(a))*s+1))
		}
		for a := range 3 {
			w := 1.1 + 0.3*float64(a)
			v = append(v, (0.3+0.9*float64(a/2))*w*math.Cos(w*s+1))
		}
		v = append(v, 2*math.Sin(1.5*s)+0.3*math.Sin(4.35*s)+1)
		for m := range 4 {
			v = append(v, 0.5+0.1*math.Sin((1.3+0.5*float64(m))*s)+0.05*math.Sin(3.7*s+float64(m)))
		}
		v = append(v, 16-0.01*s, 1+0.2*math.Sin(3*s))
		for k := range v {
			noise := 0.003
			if k < 3 {
				noise = 0.001
			}
			cols[k] = append(cols[k], v[k]+noise*r.NormFloat64())
		}
	}
	return build(channels, stamps, nil, cols)
}

// drop removes samples [i, j) of a segment of a pendulum.
func drop(s *flightlog.Segment, i, j int) {
	s.T = slices.Delete(s.T, i, j)
	s.X = slices.Delete(s.X, 2*i, 2*j)
	s.U = slices.Delete(s.U, i, j)
}

// shift moves the stamps of samples [i, j) of a segment.
func shift(s *flightlog.Segment, i, j int, ms int64) {
	for ; i < j; i++ {
		s.T[i] += ms * 1_000_000
	}
}

// timeLogs returns logs whose stamps, rates or lengths are wrong.
func timeLogs() []Damaged {
	pendulum := func(name string, do func(s *flightlog.Segment)) Damaged {
		l := swing(even(30, 100), 0.01, 11)
		do(&l.Segments[0])
		return Damaged{name, 0.5, l}
	}
	jittered := even(20, 200)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range jittered {
		jittered[i] += 3.6e-3 * r.Float64()
	}
	slices.Sort(jittered)
	mixed := join([]string{"a", "b", "c", "d"}, swing(even(10, 100), 0.01, 1), swing(even(10, 400), 0.01, 2), swing(even(1, 100), 0.01, 3), swing(even(0.3, 400), 0.01, 4))
	empty := swing(even(1, 100), 0, 1)
	empty.Segments = nil
	return []Damaged{
		pendulum("two records exchanged", func(s *flightlog.Segment) { s.T[500], s.T[501] = s.T[501], s.T[500] }),
		pendulum("many records exchanged, stamps again", func(s *flightlog.Segment) {
			for i := range 40 {
				a := 100 + 50*i
				s.T[a], s.T[a+1] = s.T[a+1], s.T[a]
			}
			s.T[2901] = s.T[2900]
			s.T[2951], s.T[2952] = s.T[2950], s.T[2950]
			copy(s.X[2*2901:2*2902], s.X[2*2900:])
			s.U[2901] = s.U[2900]
		}),
		pendulum("clock: late block, stamp ahead, an hour ahead, five seconds back", func(s *flightlog.Segment) {
			shift(s, 700, 710, -150)
			shift(s, 800, 801, 10_000)
			shift(s, 1000, len(s.T), 3_600_000)
			shift(s, 2000, len(s.T), -5_000)
			s.T[901], s.T[902] = s.T[900], s.T[900]
		}),
		pendulum("gaps", func(s *flightlog.Segment) {
			drop(s, 1200, 1250)
			for i := range 30 {
				drop(s, 1400+20*i, 1407+20*i)
			}
		}),
		pendulum("few samples lost", func(s *flightlog.Segment) {
			for i := range 70 {
				drop(s, 100+30*i, 101+30*i)
			}
		}),
		pendulum("samples lost one by one", func(s *flightlog.Segment) {
			for i := range 200 {
				drop(s, 100+9*i, 101+9*i)
			}
		}),
		pendulum("stamps in another unit", func(s *flightlog.Segment) {
			for i := range s.T {
				s.T[i] /= 1000
			}
		}),
		{"jitter", 0.5, swing(jittered, 0.01, 6)},
		{"rates and short segments", 0.5, mixed},
		{"too short", 1, swing(even(0.5, 100), 0.01, 20)},
		{"a single sample", 1, swing(even(0.01, 100), 0.01, 20)},
		{"empty", 1, empty},
	}
}

// valueLogs returns logs in which single channels are wrong.
func valueLogs() []Damaged {
	const K = 2
	pendulum := func(name string, noise float64, do func(s *flightlog.Segment, r *rand.Rand)) Damaged {
		l := swing(even(30, 100), noise, 16)
		do(&l.Segments[0], rand.New(rand.NewPCG(9, 9)))
		return Damaged{name, 0.5, l}
	}
	turns := swing(even(40, 100), 0.01, 13)
	turns.Channels[0].Period, turns.Channels[0].Derivative = 0, ""
	for i := range turns.Segments[0].T {
		turns.Segments[0].X[K*i] = math.Mod(6*float64(i)/100+20*math.Pi, 2*math.Pi) - math.Pi
	}
	slow := driftless("slow coarse states of a robot", 0.002)
	coarse := driftless("coarser states of a robot", 0.02)
	constant := vehicle(18, 50, 27)
	for i := range constant.Segments[0].T {
		constant.Segments[0].X[13*i+12] = 1
		constant.Segments[0].Aux[2*i] = 16
	}
	return []Damaged{
		slow, coarse,
		{"constant height and battery", 0.5, constant},
		{"long", 0.5, long()},
		pendulum("lone values missing", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := range s.T {
				for k := range K {
					if r.Float64() < 0.03 {
						s.X[K*i+k] = math.NaN()
					}
				}
				if r.Float64() < 0.03 {
					s.U[i] = math.Inf(1)
				}
			}
		}),
		pendulum("many stretches missing", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := 50; i < 2900; i += 90 {
				for j := range 7 {
					s.X[K*(i+j)] = math.NaN()
				}
			}
		}),
		pendulum("omega measured at every fifth sample", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.T {
				if i%5 != 0 || i > 900 && i < 1000 {
					s.X[K*i+1] = math.NaN()
				}
			}
		}),
		pendulum("omega held for four samples", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.T {
				s.X[K*i+1] = s.X[K*(i-i%4)+1]
			}
		}),
		pendulum("omega held now and then, often", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := 1; i < len(s.T); i++ {
				if i%97 > 40 && i%97 < 60 {
					s.X[K*i+1] = s.X[K*(i-1)+1]
				}
			}
		}),
		pendulum("no theta at all", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.T {
				s.X[K*i] = math.NaN()
			}
		}),
		pendulum("clipped omega and torque", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.T {
				s.X[K*i+1] = math.Max(-2, math.Min(2, s.X[K*i+1]))
				s.U[i] = math.Max(-2, math.Min(1.5, s.U[i]))
			}
		}),
		pendulum("coarse sensors, one frozen", 0.0005, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.T {
				s.X[K*i] = math.Round(s.X[K*i]*100) / 100
				s.X[K*i+1] = math.Round(s.X[K*i+1]*20) / 20
			}
			for i := 1000; i < 1060; i++ {
				s.X[K*i] = s.X[K*1000]
			}
			for i := 2000; i < 2080; i++ {
				w := float64(i-1999) / 81
				s.X[K*i+1] = s.X[K*1999+1] + w*(s.X[K*2080+1]-s.X[K*1999+1])
			}
		}),
		pendulum("coarse noisy sensors, frozen", 0.02, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.X {
				s.X[i] = math.Round(s.X[i]*50) / 50
			}
			for _, r := range [][2]int{{600, 612}, {1000, 1060}, {1500, 1530}, {2400, 2410}} {
				for i := r[0]; i < r[1]; i++ {
					s.X[K*i+r[0]/600%2] = s.X[K*r[0]+r[0]/600%2]
				}
			}
		}),
		pendulum("a tail, then a stretch of its own", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := 2600; i < len(s.T); i++ {
				switch {
				case i < 2700:
					s.X[K*i+1] = s.X[K*2599+1] + 0.01*float64(i-2599)
				case i < 2850:
					s.X[K*i+1] = math.NaN()
				}
			}
		}),
		pendulum("torque stands still", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := 700; i < 800; i++ {
				s.U[i] = s.U[700]
			}
		}),
		pendulum("torque constant", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			for i := range s.U {
				s.U[i] = 1.5
			}
		}),
		pendulum("lost packets filled in", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := 5; i < len(s.T)-10; i += 30 {
				m := 3 + r.IntN(4)
				for k := range K {
					a, b := s.X[K*(i-1)+k], s.X[K*(i+m)+k]
					for j := range m {
						s.X[K*(i+j)+k] = a + (b-a)*float64(j+1)/float64(m+1)
					}
				}
			}
		}),
		pendulum("cubic tail of theta, exponential one of omega", 0.01, func(s *flightlog.Segment, _ *rand.Rand) {
			n := len(s.T)
			for i := n - 60; i < n; i++ {
				f := float64(i-n+60) / 60
				s.X[K*i] = s.X[K*(n-61)] + 0.2*f - 0.3*f*f + 0.4*f*f*f
				s.X[K*i+1] = s.X[K*(n-61)+1] + math.Exp(2*f) - 1
			}
		}),
		pendulum("spikes that come often", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := 5; i < len(s.T)-5; i++ {
				if r.Float64() < 0.02 {
					s.X[K*i] += 0.25 * float64(1-2*r.IntN(2))
				}
			}
		}),
		pendulum("at rest", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := 400; i < len(s.T); i++ {
				s.X[K*i], s.X[K*i+1] = 0.001*r.NormFloat64(), 0.001*r.NormFloat64()
			}
		}),
		pendulum("at rest at both ends", 0.01, func(s *flightlog.Segment, r *rand.Rand) {
			for i := range s.T {
				if i < 350 || i > 2500 {
					s.X[K*i], s.X[K*i+1] = 0.001*r.NormFloat64(), 0.001*r.NormFloat64()
				}
			}
		}),
		{"an angle that is not declared", 0.5, turns},
	}
}
