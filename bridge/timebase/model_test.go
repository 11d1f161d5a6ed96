package timebase_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// stored is one message as a log holds it.
type stored struct {
	topic     int
	clock     string
	stamped   bool
	t, logged int64
}

// placed is where a message belongs.
type placed struct {
	epoch int
	t     int64
	ok    bool
}

// place puts messages on the clock of topic 0.
func place(all []stored, topics ...int) (out []placed, m *timebase.Model, tl *timebase.Timeline) {
	m = &timebase.Model{}
	for _, s := range all {
		m.Add(s.topic, timebase.Sender{Name: s.clock}, s.stamped, s.t, s.logged)
	}
	tl = m.Timeline(0, append([]int{0}, topics...))
	for _, s := range all {
		epoch, t, ok := tl.Place(s.topic, s.stamped, s.t, s.logged)
		out = append(out, placed{epoch, t, ok})
	}
	return out, m, tl
}

const ms = int64(1e6)

// plain is a topic without stamps, at times in ms.
func plain(times ...int64) (out []stored) {
	for _, t := range times {
		out = append(out, stored{t: t * ms, logged: t * ms})
	}
	return out
}

// steady returns n times from a first one in steps.
func steady(first, step int64, n int) (out []int64) {
	for i := range n {
		out = append(out, first+step*int64(i))
	}
	return out
}

// counted returns the epochs of what counts, with the number of messages of each.
func counted(all []placed) (n []int) {
	for _, p := range all {
		if !p.ok {
			continue
		}
		for p.epoch >= len(n) {
			n = append(n, 0)
		}
		n[p.epoch]++
	}
	return n
}

// A wild time is left out, a late message is put in its place, a clock that is set begins an
// epoch, and none of the messages behind it is lost.
func TestEpochs(t *testing.T) {
	for name, c := range map[string]struct {
		times  []int64
		want   []int
		sorted bool
	}{
		"in order":              {steady(0, 50, 100), []int{100}, false},
		"wild":                  {slices.Concat(steady(0, 50, 20), []int64{9e6}, steady(1000, 50, 20), []int64{-9e6}, steady(2000, 50, 5)), []int{45}, false},
		"first is wild":         {slices.Concat([]int64{9e6}, steady(0, 50, 20)), []int{20}, true},
		"late by 5 s":           {slices.Concat(steady(0, 50, 200), []int64{5001}, steady(10_000, 50, 20)), []int{221}, true},
		"set back by 2 s":       {slices.Concat(steady(0, 50, 200), steady(8000, 50, 200)), []int{200, 200}, true},
		"set back by 4 steps":   {slices.Concat(steady(0, 50, 200), steady(9800, 50, 200)), []int{200, 200}, true},
		"set back by an hour":   {slices.Concat(steady(4e6, 50, 200), steady(0, 50, 200)), []int{200, 200}, true},
		"set ahead by an hour":  {slices.Concat(steady(0, 50, 200), steady(4e6, 50, 200)), []int{200, 200}, true},
		"begins anew, twice":    {slices.Concat(steady(0, 50, 100), steady(0, 50, 80), steady(0, 50, 60)), []int{100, 80, 60}, true},
		"halves the wrong way":  {slices.Concat(steady(5000, 50, 100), steady(0, 50, 100)), []int{200}, true},
		"a pause of 10 s":       {slices.Concat(steady(0, 50, 100), steady(15_000, 50, 100)), []int{200}, false},
		"neighbours are turned": {[]int64{0, 50, 100, 200, 150, 250, 300, 400, 350, 450, 500, 550, 600, 650}, []int{14}, false},
	} {
		out, _, tl := place(plain(c.times...))
		if d := cmp.Diff(c.want, counted(out)); d != "" || tl.Sorted != c.sorted {
			t.Errorf("%s: sorted %v, %s", name, tl.Sorted, d)
		}
	}
}

// Messages in no order are all there, and are to be sorted.
func TestNoOrder(t *testing.T) {
	times := steady(0, 20, 2000)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(times), func(i, k int) { times[i], times[k] = times[k], times[i] })
	out, m, tl := place(plain(times...))
	if d := cmp.Diff([]int{2000}, counted(out)); d != "" || !tl.Sorted || !m.Of(0).Unordered {
		t.Error(tl.Sorted, d)
	}
}

// Clocks of senders, seen by a recorder with delays of 1 ms and more.
func TestClocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	delay := func() int64 { return ms + int64(5e6*rng.ExpFloat64()) }
	for name, c := range map[string]struct {
		stamp  func(true int64) int64
		within int64 // ns: how well what has no stamp is brought to the clock
		want   func(timebase.Clock) bool
	}{
		"the recorder's": {func(t int64) int64 { return t }, 2 * ms, func(c timebase.Clock) bool { return c.Same && c.Rate == 1 }},
		"behind":         {func(t int64) int64 { return t - 40e9 }, 2 * ms, func(c timebase.Clock) bool { return c.Rate == 1 && abs(c.Offset-40e9) < 3*ms }},
		"ahead":          {func(t int64) int64 { return t + 300*ms }, 2 * ms, func(c timebase.Clock) bool { return !c.Same && abs(c.Offset+300*ms) < 3*ms }},
		"drifts":         {func(t int64) int64 { return t - 40e9 - t/20_000 }, 15 * ms, func(c timebase.Clock) bool { return c.Rate == 1 && math.Abs(c.Drift-50e-6) < 3e-6 }},
		"slow":           {func(t int64) int64 { return t * 8 / 10 }, 10 * ms, func(c timebase.Clock) bool { return math.Abs(c.Rate-0.8) < 1e-3 && !c.Varies }},
		"fast":           {func(t int64) int64 { return t*3 + 7e9 }, 10 * ms, func(c timebase.Clock) bool { return math.Abs(c.Rate-3) < 1e-2 && !c.Varies }},
		"fast and short": {func(t int64) int64 { return t*3 + 7e9 }, 20 * ms, func(c timebase.Clock) bool { return math.Abs(c.Rate-3) < 1e-2 && !c.Varies }},
		"of a rate that varies": {
			func(t int64) int64 { return t*8/10 + int64(3e9*math.Sin(2e-10*float64(t))) }, 150 * ms,
			func(c timebase.Clock) bool { return c.Varies },
		},
	} {
		var all []stored
		var truth []int64
		n := int64(4000)
		if name == "fast and short" {
			n = 450
		}
		for i := range n {
			now := 100e9 + i*20*ms
			all = append(all, stored{0, "robot", true, c.stamp(now), now + delay()}, stored{1, "", false, now + ms, now + ms})
			truth = append(truth, c.stamp(now), c.stamp(now))
		}
		out, m, _ := place(all, 1)
		worst := int64(0)
		for i, p := range out {
			if !p.ok || p.epoch != 0 {
				t.Fatalf("%s: message %d: %+v", name, i, p)
			}
			worst = max(worst, abs(p.t-truth[i]))
		}
		if k := m.Clocks(); len(k) != 1 || !c.want(k[0]) || worst > c.within {
			t.Errorf("%s: %+v, off by %d ns", name, k, worst)
		}
	}
}

// A robot starts again while the recorder goes on.
func TestRestart(t *testing.T) {
	var all []stored
	for i := range int64(600) {
		now := 1e18 + i*20*ms
		stamp := 50e9 + i*20*ms
		if i >= 300 {
			now += 9e9
			stamp = (i - 300) * 20 * ms
		}
		all = append(all, stored{0, "1/1", true, stamp, now}, stored{1, "1/1", true, stamp + ms, now + ms}, stored{2, "", false, now + 2*ms, now + 2*ms})
	}
	out, m, tl := place(all, 1, 2)
	if d := cmp.Diff([]int{900, 900}, counted(out)); d != "" || !tl.Sorted {
		t.Error(d)
	}
	for i, p := range out {
		// The recorder saw the second start 9 s after the end of the first: times go on so.
		want := all[i-i%3].t
		if i >= 900 {
			want += 50e9 + 6e9 + 9e9
		}
		if abs(p.t-want) > 3*ms {
			t.Fatalf("message %d at %d, want %d", i, p.t, want)
		}
	}
	if k := m.Clocks(); k[0].Jumps != 1 {
		t.Errorf("%+v", k)
	}
}

// What has no stamp and is recorded just ahead of the second start belongs to it, as a heartbeat does.
func TestNoStampBeforeARestart(t *testing.T) {
	var all []stored
	for k := range int64(2) {
		for i := range int64(200) {
			now := 1e18 + k*25e9 + i*20*ms
			if i%50 == 0 {
				all = append(all, stored{1, "", false, now - 2*ms, now - 2*ms})
			}
			all = append(all, stored{0, "1/1", true, 500e9*(1-k) + i*20*ms, now})
		}
	}
	out, _, _ := place(all, 1)
	if d := cmp.Diff([]int{204, 204}, counted(out)); d != "" {
		t.Error(d)
	}
}

// A topic of few messages belongs to the second start that other topics show behind it.
func TestFewMessagesBeforeARestart(t *testing.T) {
	var all []stored
	for range 2 {
		all = append(all, stored{topic: 1, t: 10e9, logged: 10e9})
		for i := range int64(100) {
			at := 10e9 + i*50*ms + ms
			all = append(all, stored{t: at, logged: at})
		}
		all = append(all, stored{topic: 1, t: 15e9, logged: 15e9})
	}
	out, _, _ := place(all, 1)
	if d := cmp.Diff([]int{102, 102}, counted(out)); d != "" {
		t.Error(d)
	}
}

// The recorder's clock is set back, the robot's is not.
func TestRecorderIsSetBack(t *testing.T) {
	var all []stored
	for i := range int64(600) {
		now := 1e18 + i*50*ms
		logged := now
		if i >= 300 {
			logged -= 7e9
		}
		all = append(all, stored{0, "robot", true, now, logged + 2*ms}, stored{1, "", false, logged + 3*ms, logged + 3*ms})
	}
	out, m, _ := place(all, 1)
	if d := cmp.Diff([]int{600, 600}, counted(out)); d != "" {
		t.Error(d)
	}
	for i, p := range out {
		if want := all[i-i%2].t; abs(p.t-want) > 4*ms {
			t.Fatalf("message %d at %d, want %d; %+v", i, p.t-1e18, want-1e18, m.Clocks())
		}
	}
}

// Stamps of whole milliseconds at 2 kHz are spread; those that never change are not used.
func TestCoarseAndConstant(t *testing.T) {
	var coarse, constant []stored
	for i := range int64(2000) {
		now := i * ms / 2
		coarse = append(coarse, stored{0, "imu", true, now / ms * ms, now + ms})
		constant = append(constant, stored{0, "imu", true, 7, now})
	}
	_, m, tl := place(coarse)
	if d := tl.Step(0); abs(d-ms/2) > 1000 {
		t.Errorf("a step of %d ns", d)
	}
	if m.Of(0).Coarse == 0 {
		t.Error("stamps are not found coarse")
	}
	out, m, _ := place(constant)
	if !m.Of(0).Unused || out[100].t != 50*ms {
		t.Errorf("%+v %+v", m.Of(0), out[100])
	}
}

// Stamps that run a thousand times slower or faster than the recorder's clock are in another unit and not used. A
// simulation at a hundredth of the rate has a clock.
func TestMisreadStamps(t *testing.T) {
	for _, c := range []struct {
		by     float64
		unused bool
	}{{1e-6, true}, {1e-3, true}, {0.01, false}, {1, false}, {100, false}, {1e3, true}} {
		var all []stored
		for i := range int64(2000) {
			all = append(all, stored{0, "imu", true, int64(c.by * float64(i*10*ms)), 5e18 + i*10*ms})
		}
		out, m, _ := place(all)
		if got := m.Of(0); got.Unused != c.unused || (got.Misread > 0) != c.unused {
			t.Errorf("%g: %+v", c.by, got)
		}
		if d := out[1000].t - out[500].t; c.unused && d != 5000*ms {
			t.Errorf("%g: 500 messages in %d ns", c.by, d)
		}
	}
	var parts []stored // whole seconds, and a fraction of ns that counts µs; and stamps of whole seconds
	for i := range int64(1000) {
		now := 5e18 + i*20*ms
		parts = append(parts, stored{0, "imu", true, now/1e9*1e9 + now%1e9/1000, now}, stored{1, "odom", true, now / 1e9 * 1e9, now})
	}
	if _, m, _ := place(parts); m.Of(0).Misread == 0 || m.Of(1).Unused || m.Of(1).Coarse != 20*ms {
		t.Errorf("%+v %+v", m.Of(0), m.Of(1))
	}
	var paused []stored
	for i := range int64(40) {
		now := 5e18 + i*ms + i/20*1000_000*ms
		paused = append(paused, stored{0, "imu", true, now, now})
	}
	if _, m, _ := place(paused); m.Of(0).Unused {
		t.Errorf("%+v", m.Of(0))
	}
}

// Times of recording that are in another unit are known by it: since 1970, or by stamps.
func TestUnitOfTheRecorder(t *testing.T) {
	for _, c := range []struct {
		since, step, unit, want int64
		stamped                 bool
	}{
		{1_700_000_000 * 1e9, 20 * ms, 1, 1, true}, {1_700_000_000 * 1e9, 20 * ms, 1e3, 1e3, true}, {1_700_000_000 * 1e9, 20 * ms, 1e6, 1e6, false}, {0, 20 * ms, 1e3, 1e3, true},
		{0, 20 * ms, 1, 1, true}, {0, 20 * ms, 1, 1, false}, {1_700_000 * 1e9, 20 * ms, 1, 1, false},
	} {
		m := &timebase.Model{}
		for i := range int64(1000) {
			now := c.since + i*c.step
			m.Add(0, timebase.Sender{Name: "imu"}, c.stamped, map[bool]int64{true: now, false: now / c.unit}[c.stamped], now/c.unit)
		}
		if m.Finish(); m.Unit() != c.want {
			t.Errorf("%+v: %d", c, m.Unit())
		}
	}
}

// A log without times of recording has those of the stamps, and messages without a stamp
// have none.
func TestNoRecordedTimes(t *testing.T) {
	var all []stored
	for i := range int64(100) {
		all = append(all, stored{0, "/odom", true, 1e18 + i*50*ms, 0}, stored{topic: 1})
	}
	out, m, _ := place(all, 1)
	if !out[10].ok || out[10].t != 1e18+5*50*ms || out[11].ok || m.Of(1).Untimed != 100 {
		t.Errorf("%+v %+v %+v", out[10], out[11], m.Of(1))
	}
}

func TestBursts(t *testing.T) {
	var times []int64
	for i := range int64(400) {
		times = append(times, i/10*500_000+i%10*200)
	}
	m := &timebase.Model{}
	for _, us := range times {
		m.Add(0, timebase.Sender{}, false, us*1000, us*1000)
	}
	if b := m.Of(0).Bursts; b == nil || b.Messages != 10 || b.Every < 0.49 || b.Every > 0.52 {
		t.Errorf("%+v", b)
	}
	_, m, _ = place(plain(slices.Concat(steady(0, 50, 100), steady(15_000, 50, 100))...))
	if b := m.Of(0).Bursts; b != nil {
		t.Errorf("a pause is taken for a burst: %+v", b)
	}
}

func abs(v int64) int64 { return max(v, -v) }

// A topic that pauses for minutes, as commands do, shows no clock that was set while another
// one goes on; where all pause an epoch begins.
func TestPauseOfOneTopic(t *testing.T) {
	for _, c := range []struct {
		until  int64  // s, that topic 0 runs at least
		clock  string // of its stamps
		epochs int
	}{{400, "", 0}, {100, "", 1}, {400, "robot", 0}, {100, "robot", 1}} {
		var all []stored
		for at := int64(0); at < 400_000; at += 100 {
			if at < 1000*c.until || at > 300_000 {
				all = append(all, stored{clock: c.clock, stamped: c.clock != "", t: at * ms, logged: at * ms})
			}
			if at < 50_000 && at%500 == 0 || at > 302_000 && at%500 == 0 {
				all = append(all, stored{topic: 1, t: at * ms, logged: at * ms})
			}
		}
		out, _, tl := place(all, 1)
		if n, _, _ := tl.Jumps(); n != c.epochs {
			t.Errorf("until %d s: %d epochs", c.until, n)
		}
		for i, p := range out {
			if !p.ok || p.t != all[i].t || c.epochs == 0 && p.epoch != 0 {
				t.Fatalf("until %d s: message %d: %+v of %+v", c.until, i, p, all[i])
			}
		}
	}
}
