package datacheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// copyLog copies what a test is going to damage.
func copyLog(l *flightlog.Log) *flightlog.Log {
	c := *l
	c.Segments = slices.Clone(l.Segments)
	for i := range c.Segments {
		s := &c.Segments[i]
		s.T, s.X, s.U, s.Aux = slices.Clone(s.T), slices.Clone(s.X), slices.Clone(s.U), slices.Clone(s.Aux)
	}
	return &c
}

// column is one channel of one segment, to be written to.
type column struct {
	x      []float64
	width  int
	at     int
	n      int
	period float64
}

func (c column) get(i int) float64    { return c.x[i*c.width+c.at] }
func (c column) set(i int, v float64) { c.x[i*c.width+c.at] = v }

func columnOf(l *flightlog.Log, seg int, name string) column {
	s := &l.Segments[seg]
	for role, x := range map[channel.Role][]float64{channel.State: s.X, channel.Input: s.U, channel.Aux: s.Aux} {
		all := channel.Select(l.Channels, role)
		if i := channel.Index(all, name); i >= 0 {
			return column{x, len(all), i, len(s.T), all[i].Period}
		}
	}
	panic("no channel " + name)
}

// spread is what the channel does: the middle 90 % of the column, of an angle at
// most a third of a turn, of a noisy channel at least 30 times its roughness.
func (c column) spread() float64 {
	var v, rough []float64
	for i := range c.n {
		v = append(v, c.get(i))
		if i >= 2 {
			rough = append(rough, math.Abs(c.get(i)-2*c.get(i-1)+c.get(i-2)))
		}
	}
	s := sorted(v)
	w := math.Max(quantile(s, 0.95)-quantile(s, 0.05), 15*median(rough))
	if c.period > 0 {
		w = math.Min(w, c.period/3)
	}
	return w
}

// damage is one way to damage samples [i, j) of a channel.
type damage struct {
	name    string
	seconds float64 // how long
	kinds   []Kind  // that it may be reported as
	do      func(c column, i, j int, r *rand.Rand)
	where   string // "", "end", "start"
}

var damages = []damage{
	{"spike of one range", 0, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) { c.set(i, c.get(i)+c.spread()) }, ""},
	{"spike of half a range down", 0, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) { c.set(i, c.get(i)-0.6*c.spread()) }, ""},
	{"two samples off", -2, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		d := 0.8 * c.spread()
		c.set(i, c.get(i)+d)
		c.set(i+1, c.get(i+1)+1.1*d)
	}, ""},
	{"beyond full scale", 0.05, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		for ; i < j; i++ {
			c.set(i, (r.Float64()-0.5)*60*c.spread())
		}
	}, ""},
	{"absurd number", 0, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) { c.set(i, 3.4e38) }, ""},
	{"burst", 0.4, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		s := c.spread()
		for ; i < j; i++ {
			c.set(i, 2*s*r.NormFloat64())
		}
	}, ""},
	{"burst within range", 0.4, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		s, m := c.spread(), c.get(i)
		for ; i < j; i++ {
			c.set(i, m+s*(r.Float64()-0.5))
		}
	}, ""},
	{"long burst", 2.2, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		s := c.spread()
		for ; i < j; i++ {
			c.set(i, 3*s*r.NormFloat64())
		}
	}, ""},
	{"offset for a while", 0.3, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		s := c.spread()
		for ; i < j; i++ {
			c.set(i, c.get(i)+1.2*s)
		}
	}, ""},
	{"freeze", 0.3, []Kind{Frozen}, func(c column, i, j int, r *rand.Rand) {
		for k := i + 1; k < j; k++ {
			c.set(k, c.get(i))
		}
	}, ""},
	{"long freeze", 1.2, []Kind{Frozen}, func(c column, i, j int, r *rand.Rand) {
		for k := i + 1; k < j; k++ {
			c.set(k, c.get(i))
		}
	}, ""},
	{"freeze to the end", 0.6, []Kind{Frozen}, func(c column, i, j int, r *rand.Rand) {
		for k := i + 1; k < j; k++ {
			c.set(k, c.get(i))
		}
	}, "end"},
	{"zero for a while", 0.2, []Kind{Frozen, Outlier}, func(c column, i, j int, r *rand.Rand) {
		for ; i < j; i++ {
			c.set(i, 0)
		}
	}, ""},
	{"NaN burst", 0.2, []Kind{NonFinite}, func(c column, i, j int, r *rand.Rand) {
		for ; i < j; i++ {
			c.set(i, math.NaN())
		}
	}, ""},
	{"Inf", 0, []Kind{NonFinite}, func(c column, i, j int, r *rand.Rand) { c.set(i, math.Inf(-1)) }, ""},
	{"straight tail", 0.5, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		d := c.get(i-1) - c.get(i-2)
		if math.Abs(d) < 1e-3*c.spread() {
			d = 1e-3 * c.spread()
		}
		for ; i < j; i++ {
			c.set(i, c.get(i-1)+d)
		}
	}, "end"},
	{"straight diverging tail", 0.5, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		d := 0.3 * c.spread()
		for ; i < j; i++ {
			c.set(i, c.get(i-1)+d)
		}
	}, "end"},
	{"straight head", 0.3, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		d := c.get(j) - c.get(j+1)
		if math.Abs(d) < 1e-3*c.spread() {
			d = 1e-3 * c.spread()
		}
		for k := j - 1; k >= i; k-- {
			c.set(k, c.get(k+1)+d)
		}
	}, "start"},
	{"exponential tail", 0.5, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		x0, s := c.get(i-1), c.spread()
		for k := i; k < j; k++ {
			f := float64(k-i+1) / float64(j-i)
			c.set(k, x0+0.05*s*(math.Exp(6*f)-1))
		}
	}, "end"},
	{"noisy diverging tail", 0.5, []Kind{Outlier}, func(c column, i, j int, r *rand.Rand) {
		x0, s := c.get(i-1), c.spread()
		for k := i; k < j; k++ {
			f := float64(k-i+1) / float64(j-i)
			c.set(k, x0-0.05*s*(math.Exp(6*f)-1)*(1+0.05*r.NormFloat64()))
		}
	}, "end"},
	{"filled gap", 0.6, []Kind{Gap}, func(c column, i, j int, r *rand.Rand) {
		a, b := c.get(i-1), c.get(j)
		for k := i; k < j; k++ {
			c.set(k, a+(b-a)*float64(k-i+1)/float64(j-i+1))
		}
	}, ""},
}

type base struct {
	name     string
	log      *flightlog.Log
	channels []string
}

// moves reports whether a channel does enough in samples [i, j) for damage there
// to matter.
func (b base) moves(seg int, name string, i, j int) bool {
	c := columnOf(b.log, seg, name)
	var v []float64
	for k := i; k < min(j, c.n); k++ {
		v = append(v, c.get(k))
	}
	return extent(v) > 0.1*c.spread()
}

func bases(t testing.TB) []base {
	return []base{
		{"single", pendulum(t, 1), []string{"theta1", "omega1"}},
		{"torque", torque(t, "energy_shaping", 15), []string{"position", "velocity"}},
		{"circle", flight(t, "B2_circle_fast_rep3", 5, 20), []string{"x", "z", "pitch", "vx", "gyro_x"}},
	}
}

// verdict is whether a check found one damage.
type verdict struct {
	found bool
	stray int // samples left out that were not damaged
}

// within returns the samples [first, last) stamped from a to b, s after the first one.
func within(t []int64, a, b float64) (first, last int) {
	for i := range t {
		s := float64(t[i]-t[0]) / 1e9
		if s < a-1e-6 {
			first = i + 1
		}
		if s <= b+1e-6 {
			last = i + 1
		}
	}
	return first, last
}

func judge(res Result, d damage, t []int64, seg, i, j int, name string) verdict {
	covered := 0
	for _, p := range res.Problems {
		if p.Channel == name && p.Index == seg && slices.Contains(d.kinds, p.Kind) {
			first, last := within(t, p.From, p.To)
			covered += max(0, min(last, j)-max(first, i))
		}
	}
	v := verdict{found: covered > 0 && 2*covered >= j-i-1}
	for s := range res.Masks {
		for _, e := range leftOut(res, s) {
			for m := e[0]; m < e[1]; m++ {
				if s != seg || m < i-3 || m >= j+3 {
					v.stray++
				}
			}
		}
	}
	return v
}

// TestDamageIsFound damages real telemetry in every way and expects channel, span and
// kind, and the rest of the log left alone.
func TestDamageIsFound(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("does every damage to every channel of three robots; DGM_SLOW=1 runs it")
	}
	all := bases(t)
	totals := make([]score, len(damages))
	var running sync.WaitGroup
	for n, d := range damages {
		running.Go(func() { totals[n] = try(all, n, d) })
	}
	running.Wait()
	var sum score
	for n, d := range damages {
		s := totals[n]
		if 3*s.found < 2*s.tried {
			t.Errorf("%s: found %d of %d; missed%s", d.name, s.found, s.tried, s.missed)
		}
		if s.most > 60 {
			t.Errorf("%s: %d undamaged samples are left out", d.name, s.most)
		}
		sum.tried, sum.found, sum.stray = sum.tried+s.tried, sum.found+s.found, sum.stray+s.stray
	}
	t.Logf("found %d of %d; %.1f undamaged samples left out per damage", sum.found, sum.tried, float64(sum.stray)/float64(sum.tried))
	if float64(sum.found) < 0.95*float64(sum.tried) {
		t.Errorf("found %d of %d damages, want 95 %%", sum.found, sum.tried)
	}
	if sum.stray > 5*sum.tried {
		t.Errorf("%d undamaged samples left out in %d trials", sum.stray, sum.tried)
	}
}

// score counts what became of one damage on all channels of all robots.
type score struct {
	tried, found int
	stray, most  int // undamaged samples left out, in all and at most in one trial
	missed       string
}

// try does damage number n to one channel after the other.
func try(all []base, n int, d damage) (s score) {
	for bn, b := range all {
		for cn, name := range b.channels {
			r := rand.New(rand.NewPCG(uint64(n), uint64(100*bn+cn)))
			seg, i, j, ok := b.place(d, name, r)
			if !ok {
				continue
			}
			l := copyLog(b.log)
			d.do(columnOf(l, seg, name), i, j, r)
			v := judge(Check(l, Options{Horizon: 0.5}), d, l.Segments[seg].T, seg, i, j, name)
			s.tried++
			s.stray, s.most = s.stray+v.stray, max(s.most, v.stray)
			if v.found {
				s.found++
			} else {
				s.missed += fmt.Sprintf(" %s/%s[%d:%d]", b.name, name, i, j)
			}
		}
	}
	return s
}

// place chooses where to damage a channel: where it moves, and long enough.
func (b base) place(d damage, name string, r *rand.Rand) (seg, i, j int, ok bool) {
	for range 100 {
		seg = r.IntN(len(b.log.Segments))
		s := &b.log.Segments[seg]
		n := len(s.T)
		dt := float64(s.T[n-1]-s.T[0]) / 1e9 / float64(n-1)
		m := max(1, int(math.Round(d.seconds/dt)))
		if d.seconds < 0 {
			m = int(-d.seconds)
		}
		if 3*m > n {
			return 0, 0, 0, false
		}
		switch d.where {
		case "end":
			return seg, n - m, n, true
		case "start":
			return seg, 0, m, true
		}
		i = 30 + r.IntN(n-m-60)
		if b.moves(seg, name, i, i+max(m, 40)) {
			return seg, i, i + m, true
		}
	}
	return 0, 0, 0, false
}
