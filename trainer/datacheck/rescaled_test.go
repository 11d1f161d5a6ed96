package datacheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// rescaledIn returns what the detector finds by itself.
func rescaledIn(l *flightlog.Log) []Problem {
	r := newRecording(l, Options{})
	usual := medianInterval(r.segs...)
	for _, s := range r.segs {
		r.stamps(s, usual)
	}
	r.found.problems = nil
	r.rescaled()
	return r.found.problems
}

// inAnotherUnit multiplies a channel by a factor from a share of the first segment on.
func inAnotherUnit(l *flightlog.Log, name string, factor, share float64) (*flightlog.Log, int) {
	c := copyLog(l)
	col := columnOf(c, 0, name)
	first := int(share * float64(col.n))
	for i := first; i < col.n; i++ {
		col.set(i, factor*col.get(i))
	}
	return c, first
}

// Of every channel of a real flight a change from radians to degrees, or back, is found at the sample
// at which it happens, but for channels that rest just then.
func TestUnitThatChangesWithinARealFlight(t *testing.T) {
	t.Parallel()
	for _, l := range []*flightlog.Log{flight(t, "B3_figure8_medium_rep3", 5, 35.5), flight(t, "B5_helix_fast_rep3", 5, 35.5)} {
		all, found := 0, 0
		for _, ch := range l.Channels {
			for _, factor := range []float64{180 / math.Pi, math.Pi / 180} {
				for _, share := range []float64{0.3, 0.6} {
					damaged, first := inAnotherUnit(l, ch.Name, factor, share)
					all++
					p := rescaledIn(damaged)
					if len(p) == 0 {
						continue
					}
					found++
					s := &damaged.Segments[0]
					at := float64(s.T[first]-s.T[0]) / 1e9
					if len(p) != 1 || p[0].Channel != ch.Name || math.Min(math.Abs(p[0].From-at), math.Abs(p[0].To-at)) > 0.1 {
						t.Errorf("%s times %.3f from %.2f s on: %+v", ch.Name, factor, at, p)
					}
				}
			}
		}
		if 10*found < 9*all {
			t.Errorf("of %d changes %d are found", all, found)
		}
	}
}

// A log of two channels shows it too.
func TestUnitThatChangesOfAPendulum(t *testing.T) {
	l := swing(even(40, 100), 0.01, 1)
	for _, name := range []string{"theta", "omega"} {
		damaged, _ := inAnotherUnit(l, name, 180/math.Pi, 0.52)
		if p := find(Check(damaged, Options{Horizon: 0.5}), Unit); len(p) != 1 || p[0].Channel != name || p[0].Severity != Exclude {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Whole flights, with take-off and landing, and pendulums in no other unit than before.
func TestUnitsOfRealLogsDoNotChange(t *testing.T) {
	t.Parallel()
	logs := map[string]*flightlog.Log{"single": pendulum(t, 1), "double": pendulum(t, 2)}
	for _, name := range []string{"ddp", "direct_collocation", "pd_system_identification", "energy_shaping"} {
		logs[name] = torque(t, name, 999)
	}
	files, err := filepath.Glob(shared + "nanobench/dev/*.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".csv")
		logs[name] = flight(t, name, 0, 999)
	}
	for name, l := range logs {
		if p := rescaledIn(l); len(p) != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// The input of a pendulum, whose two states swing meanwhile, in degrees or thousandths from a sample on.
func TestUnitOfAnInputThatChangesWhileStatesSwing(t *testing.T) {
	for _, factor := range []float64{180 / math.Pi, math.Pi / 180, 1000, 1e-3, 1, 3} {
		x := &flightlog.Segment{}
		for i := range 6000 {
			u := 0.5*math.Sin(0.031*float64(i)) + 0.3*math.Sin(0.0123*float64(i)) + 0.1
			if i >= 3013 {
				u *= factor
			}
			swing := math.Exp(-math.Mod(float64(i)+50, 150)/30) + 0.01 // by more and less every 1.5 s
			x.T, x.U = append(x.T, int64(i)*1e7), append(x.U, u)
			x.X = append(x.X, swing*math.Sin(0.07*float64(i)), swing*math.Cos(0.07*float64(i)))
		}
		l := &flightlog.Log{Segments: []flightlog.Segment{*x}}
		l.Channels = []channel.Channel{{Name: "a", Role: channel.State}, {Name: "b", Role: channel.State}, {Name: "u", Role: channel.Input}}
		p := rescaledIn(l)
		if unit := factor != 1 && factor != 3; unit != (len(p) == 1 && p[0].Channel == "u") || !unit && len(p) > 0 {
			t.Errorf("times %v: %+v", factor, p)
		}
	}
}

// Joints that move one after another, of which each rests between its motions: what is noise for seconds and swings then is in no
// other unit.
func TestUnitsOfJointsThatRestDoNotChange(t *testing.T) {
	t.Parallel()
	const joints, duration = 6, 120.0
	for _, rate := range []float64{10, 50} {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, uint64(rate)))
			l := &flightlog.Log{Segments: []flightlog.Segment{{}}}
			s := &l.Segments[0]
			n := int(duration * rate)
			x := make([]float64, n*2*joints)
			for k := range joints {
				q := 0.0
				for at := 0.0; at < duration; {
					at += 0.3 + 2.7*rng.Float64()
					took, to := 0.8+1.7*rng.Float64(), 2.4*rng.Float64()-1.2
					for i := int(math.Ceil(at * rate)); i < n; i++ {
						p := min((float64(i)/rate-at)/took, 1)
						x[i*2*joints+k], x[i*2*joints+joints+k] = q+(to-q)*p*p*(3-2*p), (to-q)*6*p*(1-p)/took
					}
					at, q = at+took, to
				}
				l.Channels = append(l.Channels, channel.Channel{Name: fmt.Sprint("q", k), Role: channel.State})
			}
			for k := range joints {
				l.Channels = append(l.Channels, channel.Channel{Name: fmt.Sprint("dq", k), Role: channel.State})
			}
			for i := range x {
				x[i] += []float64{1e-4, 2e-3}[i/joints%2] * rng.NormFloat64()
			}
			for i := range n {
				s.T = append(s.T, int64(float64(i)/rate*1e9))
			}
			s.X = x
			if p := rescaledIn(l); len(p) != 0 {
				t.Errorf("at %g Hz, seed %d: %+v", rate, seed, p)
			}
		}
	}
}
