package datacheck

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// driftless returns four coarse states that do not repeat each other, without declared
// derivatives, that freeze for a while.
func driftless(name string, step float64) Damaged {
	l := vehicle(30, 100, 26)
	s := &l.Segments[0]
	for k := range l.Channels {
		l.Channels[k].Derivative = ""
	}
	for i := range s.T {
		for k := range 13 {
			s.X[13*i+k] = step * math.Round(s.X[13*i+k]/step)
		}
	}
	for k, r := range [][2]int{{400, 440}, {700, 716}, {1000, 1100}, {1300, 1310}, {1600, 1660}, {1900, 1920}} {
		for i := r[0]; i < r[1]; i++ {
			s.X[13*i+2*k] = s.X[13*r[0]+2*k]
		}
	}
	return Damaged{name, 0.5, l}
}

// long returns a log of more samples than a quantile is taken of.
func long() *flightlog.Log {
	l := swing(even(90, 1000), 0.01, 90)
	s := &l.Segments[0]
	for i := 40_000; i < 40_300; i++ {
		s.X[2*i+1] = s.X[2*40_000+1]
	}
	s.X[2*60_000] += 1
	return l
}

// relationLogs returns logs in which channels contradict each other.
func relationLogs() []Damaged {
	scaled := func(name string, theta, omega float64, from, to int) Damaged {
		l := swing(even(40, 100), 0.01, 12)
		s := &l.Segments[0]
		for i := from; i < to; i++ {
			s.X[2*i] *= theta
			s.X[2*i+1] *= omega
		}
		return Damaged{name, 0.5, l}
	}
	sine := func(name string, theta, omega float64) Damaged {
		r := rand.New(rand.NewPCG(4, 4))
		stamps := even(50, 100)
		cols := make([][]float64, 2)
		for i := range stamps {
			s := float64(i) / 100
			a, w := 0.9*math.Sin(2.1*s)+0.3*math.Sin(0.7*s), 1.89*math.Cos(2.1*s)+0.21*math.Cos(0.7*s)
			if i >= 2200 && i < 3500 {
				a, w = theta*a, omega*w
			}
			cols[0] = append(cols[0], math.Remainder(a+0.002*r.NormFloat64(), channel.Angle))
			cols[1] = append(cols[1], w+0.01*r.NormFloat64())
		}
		l := swing(even(1, 10), 0, 1)
		return Damaged{name, 0.5, build(l.Channels[:2], stamps, nil, cols)}
	}
	traded := func(name string, commanded bool, spans ...[2]int) Damaged {
		channels := []channel.Channel{
			{Name: "left", Unit: "rad/s", Role: channel.State}, {Name: "right", Unit: "rad/s", Role: channel.State},
			{Name: "force", Unit: "N", Role: channel.State}, {Name: "u", Role: channel.Input},
		}
		r := rand.New(rand.NewPCG(5, 5))
		stamps := even(40, 100)
		cols := make([][]float64, len(channels))
		for i := range stamps {
			s := float64(i) / 100
			v := []float64{2*math.Sin(1.3*s) + 1 + 0.01*r.NormFloat64(), 1.5*math.Cos(0.9*s+1) - 0.4 + 0.01*r.NormFloat64(), 3*math.Sin(0.5*s+2) + 0.01*r.NormFloat64(), math.Sin(2 * s)}
			for _, p := range spans {
				if i >= p[0] && i < p[1] {
					v[0], v[1] = v[1], v[0]
					if commanded {
						v[3] += 2
					}
				}
			}
			for k := range cols {
				cols[k] = append(cols[k], v[k])
			}
		}
		return Damaged{name, 0.5, build(channels, stamps, nil, cols)}
	}
	pushed := swing(even(30, 100), 0.01, 30)
	pushed.Channels[0].Derivative = ""
	for i := 1500; i < len(pushed.Segments[0].T); i++ {
		pushed.Segments[0].X[2*i+1] += 12 * math.Exp(-float64(i-1500)/100) * (1 - math.Exp(-float64(i-1500)/4))
	}
	parted := swing(even(30, 100), 0.01, 31)
	for i := 1800; i < len(parted.Segments[0].T); i++ {
		parted.Segments[0].X[2*i] += 1.2 / (1 + math.Exp(-float64(i-1815)/4))
	}
	unrelated := swing(even(30, 100), 0.01, 32)
	for i := range unrelated.Segments[0].T {
		unrelated.Segments[0].X[2*i+1] = math.Sin(7.7*float64(i)/100) + 0.01*math.Cos(float64(i*i))
	}
	scales := vehicle(50, 50, 22)
	for i := 1100; i < len(scales.Segments[0].T); i++ {
		scales.Segments[0].X[13*i+10] *= 180 / math.Pi
	}
	steep := vehicle(30, 100, 23)
	for i := range steep.Segments[0].T {
		for _, at := range []float64{10, 10.4, 20} {
			s := float64(i)/100 - at
			steep.Segments[0].X[13*i+7] += 1.55 * math.Exp(-s*s/0.05)
		}
	}
	loop := vehicle(30, 100, 24)
	for i := range loop.Segments[0].T {
		s := float64(i)/100 - 15
		if s > 0 && s < 2 {
			loop.Segments[0].X[13*i+7] = math.Remainder(math.Pi*s+loop.Segments[0].X[13*i+7], 2*math.Pi)
			if s > 0.5 && s < 1.5 {
				loop.Segments[0].X[13*i+6] += math.Pi
				loop.Segments[0].X[13*i+8] -= math.Pi
			}
		}
	}
	declared := vehicle(30, 100, 25)
	declared.Kinematics = channel.Kinematics{Relation: channel.Quadrotor, Attitude: []string{"roll", "-pitch", "yaw"}, Rates: []string{"p", "q", "r"}}
	copy(declared.Segments[0].X, loop.Segments[0].X)
	return []Damaged{
		{"over the top, attitude declared", 0.5, declared},
		scaled("omega in degrees throughout", 1, 180/math.Pi, 0, 4000),
		scaled("omega of the wrong sign throughout", 1, -1, 0, 4000),
		scaled("omega in degrees at the beginning", 1, 180/math.Pi, 0, 1400),
		sine("omega in revolutions in the middle", 1, 1/(2*math.Pi)),
		sine("theta in degrees in the middle", 180/math.Pi, 1),
		scaled("omega by 6.3 at the end", 1, 2*math.Pi, 2700, 4000),
		traded("left and right trade places to the end", false, [2]int{2700, 4000}),
		traded("left and right trade places twice", false, [2]int{1100, 1300}, [2]int{2500, 2900}),
		traded("left and right trade places, u leaps", true, [2]int{2700, 4000}),
		{"a push", 0.5, pushed},
		{"theta and omega part", 0.5, parted},
		{"omega unrelated to theta", 0.5, unrelated},
		{"q in degrees from 22 s on", 0.5, scales},
		{"steep", 0.5, steep},
		{"over the top", 0.5, loop},
	}
}

// everything returns a log of several segments and rates with damages of every kind at
// random places.
func everything() *flightlog.Log {
	var names []string
	var logs []*flightlog.Log
	for n, rate := range []float64{100, 100, 200, 50} {
		names = append(names, fmt.Sprint("flight ", n+1))
		logs = append(logs, vehicle(25, rate, uint64(60+n)))
	}
	for n := range 6 {
		names = append(names, fmt.Sprint("hop ", n+1))
		logs = append(logs, vehicle(1+0.3*float64(n), 100, uint64(70+n)))
	}
	l := join(names, logs...)
	r := rand.New(rand.NewPCG(77, 77))
	for n, d := range damages {
		seg := n % 4
		d.spoil(l, seg, l.Channels[(5*n)%17].Name, 2+20*r.Float64(), r)
	}
	for n := range 4 {
		s := &l.Segments[n]
		i := 300 + r.IntN(400)
		s.T[i], s.T[i+1] = s.T[i+1], s.T[i]
		s.T[i+20] = s.T[i+19]
		shift(s, i+100, len(s.T), []int64{700, -300, 60_000, 0}[n])
	}
	damages[0].spoil(l, 5, "vx", 0.5, r)
	damages[9].spoil(l, 6, "vy", 0.4, r)
	return l
}
