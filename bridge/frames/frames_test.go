package frames_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// exact is what rounding leaves of numbers around 1 after a few products.
const exact = 1e-12

func near(a, b [3]float64) bool {
	return math.Abs(a[0]-b[0]) < exact && math.Abs(a[1]-b[1]) < exact && math.Abs(a[2]-b[2]) < exact
}

func deg(r, p, y float64) [3]float64 {
	return [3]float64{r * math.Pi / 180, p * math.Pi / 180, y * math.Pi / 180}
}

func TestVectors(t *testing.T) {
	for _, c := range []struct {
		name     string
		v        [3]float64
		from, to frames.Frame
		want     [3]float64
	}{
		{"one metre north", [3]float64{1, 0, 0}, frames.NED, frames.ENU, [3]float64{0, 1, 0}},
		{"two metres east", [3]float64{0, 2, 0}, frames.NED, frames.ENU, [3]float64{2, 0, 0}},
		{"three metres up", [3]float64{0, 0, -3}, frames.NED, frames.ENU, [3]float64{0, 0, 3}},
		{"back", [3]float64{1, 2, 3}, frames.ENU, frames.NED, [3]float64{2, 1, -3}},
		{"forward", [3]float64{1, 0, 0}, frames.FRD, frames.FLU, [3]float64{1, 0, 0}},
		{"to the right", [3]float64{0, 1, 0}, frames.FRD, frames.FLU, [3]float64{0, -1, 0}},
		{"down", [3]float64{0, 0, 1}, frames.FRD, frames.FLU, [3]float64{0, 0, -1}},
		{"up, with y up", [3]float64{0, 1, 0}, frames.EUS, frames.ENU, [3]float64{0, 0, 1}},
		{"south", [3]float64{0, 0, 1}, frames.EUS, frames.NED, [3]float64{-1, 0, 0}},
		{"to the right, with y up", [3]float64{0, 0, 1}, frames.FUR, frames.FLU, [3]float64{0, -1, 0}},
		{"down, with y up", [3]float64{0, 0, 1}, frames.FRD, frames.FUR, [3]float64{0, -1, 0}},
		{"the same", [3]float64{1, 2, 3}, frames.FLU, frames.FLU, [3]float64{1, 2, 3}},
	} {
		if got := frames.Vector(c.v, c.from, c.to); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// An attitude with y up turns a vector of the body as that with z up does.
func TestAttitudesWithYUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := func(name string) (v [3]float64) {
			for i := range v {
				v[i] = rapid.Float64Range(-3, 3).Draw(t, name)
			}
			return v
		}
		q, body := frames.FromEuler(v("angle")), v("body")
		for _, to := range [][2]frames.Frame{{frames.ENU, frames.FLU}, {frames.NED, frames.FRD}} {
			got := frames.Attitude(q, frames.EUS, frames.FUR, to[0], to[1]).Rotate(frames.Vector(body, frames.FUR, to[1]))
			if want := frames.Vector(q.Rotate(body), frames.EUS, to[0]); !near(got, want) {
				t.Errorf("%v: %v, want %v", to, got, want)
			}
		}
	})
}

// Attitudes whose Euler angles in both conventions follow from the words: a nose
// up is a positive pitch in FRD and a negative one in FLU; north is yaw 0 in NED
// and 90° in ENU; the right wing down is a positive roll in both.
func TestAttitudes(t *testing.T) {
	for _, c := range []struct {
		name     string
		ned, enu [3]float64 // degrees
	}{
		{"level, to the north", [3]float64{0, 0, 0}, [3]float64{0, 0, 90}},
		{"level, to the east", [3]float64{0, 0, 90}, [3]float64{0, 0, 0}},
		{"level, to the south-west", [3]float64{0, 0, -135}, [3]float64{0, 0, -135}},
		{"nose 20 up, to the north", [3]float64{0, 20, 0}, [3]float64{0, -20, 90}},
		{"right wing 30 down, to the east", [3]float64{30, 0, 90}, [3]float64{30, 0, 0}},
		{"all of it", [3]float64{10, -25, 40}, [3]float64{10, 25, 50}},
	} {
		q := frames.FromEuler(deg(c.ned[0], c.ned[1], c.ned[2]))
		got := frames.Attitude(q, frames.NED, frames.FRD, frames.ENU, frames.FLU)
		if want := deg(c.enu[0], c.enu[1], c.enu[2]); !near(got.Euler(), want) {
			t.Errorf("%s: %v, want %v", c.name, got.Euler(), want)
		}
		back := frames.Attitude(got, frames.ENU, frames.FLU, frames.NED, frames.FRD)
		if !near(back.Euler(), q.Euler()) {
			t.Errorf("%s: and back %v, want %v", c.name, back.Euler(), q.Euler())
		}
	}
}

// Numbers of PX4's convention: its quaternion (0.7071, 0, 0, 0.7071) looks east,
// so that what is ahead of the robot is east of it.
func TestQuaternionTurnsTheBodyIntoTheWorld(t *testing.T) {
	east := frames.Quaternion{math.Sqrt(0.5), 0, 0, math.Sqrt(0.5)}
	if v := east.Rotate([3]float64{1, 0, 0}); !near(v, [3]float64{0, 1, 0}) {
		t.Errorf("ahead is %v in NED", v)
	}
	if v := east.Rotate([3]float64{0, 1, 0}); !near(v, [3]float64{-1, 0, 0}) {
		t.Errorf("to the right is %v in NED", v)
	}
	if e := east.Euler(); !near(e, deg(0, 0, 90)) {
		t.Errorf("Euler angles %v", e)
	}
}

// A vector and an attitude that are converted give the same place: whatever the
// attitude is, q'·v' is the conversion of q·v.
func TestAttitudesAndVectorsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		angle := rapid.Float64Range(-math.Pi, math.Pi)
		q := frames.FromEuler([3]float64{angle.Draw(t, "roll"), angle.Draw(t, "pitch"), angle.Draw(t, "yaw")})
		x := rapid.Float64Range(-1, 1)
		v := [3]float64{x.Draw(t, "x"), x.Draw(t, "y"), x.Draw(t, "z")}
		want := frames.Vector(q.Rotate(v), frames.NED, frames.ENU)
		got := frames.Attitude(q, frames.NED, frames.FRD, frames.ENU, frames.FLU).Rotate(frames.Vector(v, frames.FRD, frames.FLU))
		if !near(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Euler angles give back the attitude, and at a nose straight up, too.
func TestEulerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := [3]float64{
			rapid.Float64Range(-3.1, 3.1).Draw(t, "roll"),
			rapid.Float64Range(-1.5, 1.5).Draw(t, "pitch"),
			rapid.Float64Range(-3.1, 3.1).Draw(t, "yaw"),
		}
		got := frames.FromEuler(e).Euler()
		for i := range e {
			if math.Abs(got[i]-e[i]) > 1e-9 { // the sine of a pitch near 90° loses half of the digits
				t.Fatalf("%v, want %v", got, e)
			}
		}
	})
	up := frames.FromEuler(deg(0, 90, 0)).Euler()
	if math.Abs(up[1]-math.Pi/2) > 1e-7 || math.IsNaN(up[0]+up[2]) {
		t.Errorf("nose straight up: %v", up)
	}
}

func TestSlerp(t *testing.T) {
	a, b := frames.FromEuler(deg(0, 0, 170)), frames.FromEuler(deg(0, 0, -160))
	for _, c := range []struct{ share, yaw float64 }{{0, 170}, {0.5, -175}, {1, -160}, {1. / 3, 180}} {
		got := frames.Slerp(a, b, c.share).Euler()
		if d := math.Mod(got[2]*180/math.Pi-c.yaw+540, 360) - 180; math.Abs(d) > 1e-9 {
			t.Errorf("share %v: yaw %v, want %v", c.share, got[2]*180/math.Pi, c.yaw)
		}
	}
	minus := frames.Quaternion{-b[0], -b[1], -b[2], -b[3]}
	if x, y := frames.Slerp(a, b, 0.3), frames.Slerp(a, minus, 0.3); !near(x.Euler(), y.Euler()) {
		t.Errorf("the sign of a quaternion matters: %v, %v", x, y)
	}
	if got := frames.Slerp(a, a, 0.5); !near(got.Euler(), a.Euler()) {
		t.Errorf("between equal attitudes: %v, want %v", got, a)
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		value    float64
		from, to string
		want     float64
	}{
		{180, "deg", "rad", math.Pi},
		{180, "Degrees/s", "mrad/s", 1000 * math.Pi},
		{math.Pi, "rad", "deg", 180},
		{-9000, "cdeg", "rad", -math.Pi / 2},
		{473977420, "degE7", "deg", 47.397742},
		{60, "rpm", "rad/s", 2 * math.Pi},
		{250, "cm/s", "m/s", 2.5},
		{1, "g", "m/s/s", 9.80665},
		{-1000, "mG", "m/s^2", -9.80665},
		{25, "degC", "K", 298.15},
		{2500, "cdegC", "degC", 25},
		{300, "K", "degC", 26.85},
		{16800, "mV", "V", 16.8},
		{50, "%", "1", 0.5},
		{70, "0.1 s", "ms", 7000},
		{7, "furlong", "furlong", 7},
	} {
		scale, offset, ok := frames.Unit(c.from, c.to)
		if got := scale*c.value + offset; !ok || math.Abs(got-c.want) > 1e-9*max(1, math.Abs(c.want)) {
			t.Errorf("%v %s is %v %s, want %v (%v)", c.value, c.from, got, c.to, c.want, ok)
		}
	}
	for _, c := range [][2]string{{"deg", "m"}, {"furlong", "m"}, {"rad", "rad/s"}, {"g", "kg"}, {"-1 s", "s"}} {
		if _, _, ok := frames.Unit(c[0], c[1]); ok {
			t.Errorf("%s was turned into %s", c[0], c[1])
		}
	}
}

func TestUnitQuaternion(t *testing.T) {
	if q, ok := (frames.Quaternion{0.99, 0, 0, 0}).Unit(); !ok || q != (frames.Quaternion{1, 0, 0, 0}) {
		t.Errorf("%v, %v", q, ok)
	}
	for _, q := range []frames.Quaternion{{}, {2, 0, 0, 0}, {math.NaN(), 0, 0, 1}, {math.Inf(1), 0, 0, 0}} {
		if _, ok := q.Unit(); ok {
			t.Errorf("%v was taken for an attitude", q)
		}
	}
}

// The period of an angle is by the jumps of its values: a whole turn, in radians, degrees or hundredths of them, or a half one, of a line
// without direction. A value between the ends of a whole turn makes no half one.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		turn, from float64
		between    bool
		unit       string
		period     float64
		of         string
		perStep    float64
	}{
		"radians": {turn: 2 * math.Pi, from: -math.Pi, period: 2 * math.Pi, of: "rad", perStep: 0.05}, "degrees": {turn: 360, period: 360, of: "deg", perStep: 3},
		"hundredths": {turn: 36000, period: 36000, of: "cdeg", perStep: 300}, "a line": {turn: math.Pi, from: -math.Pi / 2, period: math.Pi, of: "rad", perStep: 0.05},
		"a line in degrees": {turn: 180, unit: "deg", period: 180, of: "deg", perStep: 3}, "a value between": {turn: 360, from: -180, between: true, unit: "deg", of: "deg", perStep: 3},
	} {
		var turns frames.Turns
		for i := range 2000 {
			v := c.from + math.Mod(c.perStep*float64(i), c.turn)
			if c.between && v < c.from+c.perStep {
				v = c.from + c.turn/2
			}
			turns.Add(v)
		}
		if period, of := turns.Period(c.unit); period != c.period || of != c.of {
			t.Errorf("%s: %v %q", name, period, of)
		}
	}
}
