package kinematics

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// usual lists the states of a vehicle by their usual names.
func usual(period float64) (all []channel.Channel) {
	for _, name := range []string{"x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"} {
		c := channel.Channel{Name: name, Role: channel.State}
		if len(name) > 2 {
			c.Period = period
		}
		all = append(all, c)
	}
	return all
}

// fly feeds a checker of what is declared with a noisy flight that follows the usual
// relation, as edit leaves it.
func fly(t *testing.T, k channel.Kinematics, seconds float64, edit func(x []float64)) *Checker {
	t.Helper()
	states := usual(channel.Angle)
	truth, err := Declare(channel.Quadrotor, &Body{}, states)
	if err != nil {
		t.Fatal(err)
	}
	body, err := priordynamics.NewBody(&truth, states)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	c := New(k, states)
	x, rate, seen := make([]float64, 12), make([]float64, 12), make([]float64, 12)
	const dt, fine = 0.01, 10
	for i := range int(seconds / dt) {
		copy(seen, x)
		for j := range seen {
			seen[j] += 0.003 * rng.NormFloat64()
		}
		seen[8] = math.Remainder(seen[8], channel.Angle) // an angle may be wrapped
		if edit != nil {
			edit(seen)
		}
		c.Add(int64(i)*1e7, seen)
		for s := range fine {
			at := dt * (float64(i) + float64(s)/fine)
			for j, of := range []int{3, 4, 5, 9, 10, 11} {
				x[of] = math.Sin((1.5+0.3*float64(j))*at + float64(j))
			}
			body.Derivative(rate, x)
			for _, of := range []int{0, 1, 2, 6, 7, 8} {
				x[of] += dt / fine * rate[of]
			}
		}
	}
	return c
}

// blurred adds a motion to p that is none of the robot's.
func blurred() func(x []float64) {
	i := 0
	return func(x []float64) {
		x[9] += 0.9 * math.Sin(0.01*float64(i))
		i++
	}
}

func TestCheckerComparesKinematicsWithData(t *testing.T) {
	usual := usual(channel.Angle)
	declare := func(b Body) channel.Kinematics {
		k, err := Declare(channel.Quadrotor, &b, usual)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, c := range []struct {
		name    string
		body    Body
		edit    func(x []float64)
		channel string // that contradicts; "" = none does
		slope   float64
		remedy  string
	}{
		{name: "as it is"},
		{name: "pitch turned", edit: func(x []float64) { x[7] = -x[7] }, channel: "pitch", slope: -1, remedy: `attitude = ["roll", "-pitch", "yaw"]`},
		{name: "pitch turned and declared so", edit: func(x []float64) { x[7] = -x[7] }, body: Body{Attitude: []string{"roll", "-pitch", "yaw"}}},
		{name: "declared turned", body: Body{Position: []string{"x", "y", "-z"}}, channel: "z", slope: -1, remedy: `position = ["x", "y", "z"]`},
		{name: "rates in degrees", edit: func(x []float64) { x[9] *= 180 / math.Pi; x[10] *= 180 / math.Pi; x[11] *= 180 / math.Pi },
			slope: math.Pi / 180, remedy: "one unit"},
		{name: "rates too slow to follow", edit: blurred(), channel: "roll", slope: 0.6, remedy: "too slowly"},
		{name: "in millimetres", edit: func(x []float64) { x[0] *= 1000 }, channel: "x", slope: 1000, remedy: "units"},
	} {
		wrong, remarks := fly(t, declare(c.body), 30, c.edit).Result(declare(c.body))
		if len(remarks) > 0 && wrong == nil {
			t.Errorf("%s: %v", c.name, remarks)
		}
		if (wrong != nil) != (c.remedy != "") {
			t.Errorf("%s: %+v", c.name, wrong)
			continue
		}
		if wrong != nil && (c.channel != "" && wrong.Channel != c.channel || math.Abs(wrong.Slope/c.slope-1) > 0.1 || !strings.Contains(wrong.Remedy, c.remedy)) {
			t.Errorf("%s: %+v", c.name, wrong)
		}
	}
	if wrong, remarks := fly(t, declare(Body{}), 30, func(x []float64) { x[5], x[2] = 0, 1 }).Result(declare(Body{})); wrong != nil || len(remarks) != 1 || !strings.Contains(remarks[0], "not confirmed by the data for z (") {
		t.Errorf("a height that does not vary: %+v, %q", wrong, remarks)
	}
	if wrong, remarks := fly(t, declare(Body{}), 0.02, nil).Result(declare(Body{})); wrong != nil || len(remarks) != 1 || strings.Count(remarks[0], "correlation") != 6 {
		t.Errorf("two samples: %+v, %q", wrong, remarks)
	}
}

// What is missing of a robot takes the relations with it that need it, and no others.
func TestRemaining(t *testing.T) {
	all := usual(channel.Angle)
	without := func(names ...string) []channel.Channel {
		return slices.DeleteFunc(slices.Clone(all), func(c channel.Channel) bool { return slices.Contains(names, c.Name) })
	}
	for _, c := range []struct {
		axes               string
		missing            []string
		position, attitude bool
	}{
		{"world", nil, true, true},
		{"body", nil, true, true},
		{"world", []string{"z"}, false, true},
		{"world", []string{"q"}, true, false},
		{"body", []string{"vz"}, false, true},
		{"body", []string{"roll"}, false, false},
		{"world", []string{"x", "p"}, false, false},
	} {
		k, err := Declare(channel.Quadrotor, &Body{Velocity: []string{"vx", "vy", "vz"}, Axes: c.axes}, all)
		if err != nil {
			t.Fatal(err)
		}
		states := without(c.missing...)
		k = Remaining(k, states)
		if len(k.Position) == 3 != c.position || len(k.Attitude) == 3 != c.attitude || (k.Relation == "") != (!c.position && !c.attitude) {
			t.Errorf("%s without %v: %+v", c.axes, c.missing, k)
		}
		if err := k.Check(states); err != nil {
			t.Errorf("%s without %v: %v", c.axes, c.missing, err)
		}
	}
}

// What was narrowed down is not judged by what fell.
func TestResultOfWhatIsLeft(t *testing.T) {
	all := usual(channel.Angle)
	k, err := Declare(channel.Quadrotor, &Body{}, all)
	if err != nil {
		t.Fatal(err)
	}
	c := fly(t, k, 30, func(x []float64) { x[0], x[2] = -x[0], 1 })
	if wrong, _ := c.Result(k); wrong == nil || wrong.Channel != "x" {
		t.Errorf("as it is: %+v", wrong)
	}
	left := Remaining(k, slices.Delete(slices.Clone(all), 2, 3))
	if wrong, remarks := c.Result(left); wrong != nil || len(remarks) != 0 {
		t.Errorf("without z: %+v, %q", wrong, remarks)
	}
}

func TestDeclare(t *testing.T) {
	all := usual(channel.Angle)
	for _, c := range []struct {
		relation string
		body     Body
		want     string // of the error; "" = none
	}{
		{"", Body{}, ""},
		{"", Body{Rates: []string{"p", "q", "r"}}, "without kinematics"},
		{"car", Body{}, `"car" is unknown`},
		{"quadrotor", Body{}, ""},
		{"quadrotor", Body{Axes: "wind"}, "neither world nor body"},
		{"quadrotor", Body{Axes: "body", Velocity: []string{"vx", "vy", "vz"}}, ""},
		{"quadrotor", Body{Attitude: []string{"phi", "theta", "psi"}}, `"phi" is not a state`},
	} {
		k, err := Declare(c.relation, &c.body, all)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q %+v: %v", c.relation, c.body, err)
		}
		if c.want == "" && c.relation != "" && (len(k.Position) != 3 || len(k.Rates) != 3) {
			t.Errorf("%+v declares %+v", c.body, k)
		}
	}
	// What is not there by its usual names is left out.
	if k, err := Declare("quadrotor", &Body{}, all[6:]); err != nil || k.Position != nil || len(k.Attitude) != 3 {
		t.Errorf("without a position: %+v, %v", k, err)
	}
	if _, err := Declare("quadrotor", &Body{}, all[:3]); err == nil {
		t.Error("three positions alone are a rigid body")
	}
}

// States in other axes than the others, or of a quaternion in another order, are found by how they move; noise, and states that fit, are not.
func TestMixedAxes(t *testing.T) {
	vector := func(at int, from, to frames.Frame) func(x []float64) {
		return func(x []float64) {
			v := frames.Vector([3]float64(x[at:at+3]), from, to)
			copy(x[at:], v[:])
		}
	}
	attitude := func(turn func(frames.Quaternion) frames.Quaternion) func(x []float64) {
		return func(x []float64) {
			e := turn(frames.FromEuler([3]float64(x[6:9]))).Euler()
			copy(x[6:], e[:])
		}
	}
	noise := rand.New(rand.NewPCG(1, 1))
	for want, edit := range map[string]func(x []float64){
		"":                      nil,
		"none":                  func(x []float64) { x[6], x[7], x[8] = noise.NormFloat64(), noise.NormFloat64(), noise.NormFloat64() },
		"pitch has the other":   func(x []float64) { x[7] = -x[7] },
		"x, y, z are in axes e": vector(0, frames.ENU, frames.NED),
		"roll, pitch, yaw are in axes enu-flu, not ned-frd; or roll, pitch, yaw are in axes ned-flu, not ned-frd; or p, q, r are in axes flu": attitude(func(q frames.Quaternion) frames.Quaternion { return frames.Attitude(q, "ned", "frd", "enu", "flu") }),
		"roll, pitch, yaw are the inverse":                                attitude(frames.Quaternion.Conj),
		"roll, pitch, yaw come from a quaternion in the order x, y, z, w": attitude(func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[1], q[2], q[3], q[0]} }),
		"roll, pitch, yaw come from a quaternion in the order w, x, y, z": attitude(func(q frames.Quaternion) frames.Quaternion { return frames.Quaternion{q[3], q[0], q[1], q[2]} }),
	} {
		states := usual(channel.Angle)
		for i := range states {
			states[i].Frame = [4]string{"ned", "ned", "ned-frd", "frd"}[i/3]
		}
		k, err := Declare(channel.Quadrotor, &Body{}, states)
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]float64
		c := fly(t, k, 15, func(x []float64) {
			if edit != nil {
				edit(x)
			}
			rows = append(rows, slices.Clone(x))
		})
		search := c.Search(states, func(string) bool { return true })
		if search == nil {
			if want != "" {
				t.Errorf("%s: nothing is looked for", want)
			}
			continue
		}
		for i, x := range rows {
			search.Add(int64(i)*1e7, x)
		}
		reason, remedy, ok := search.Found(true)
		if ok != (want != "none" && want != "") || ok && (!strings.HasPrefix(reason, want) || remedy == "") {
			t.Errorf("%s: %v %q %q", want, ok, reason, remedy)
		}
	}
}

// A body that flies accelerates to where it leans: by that the axes of its velocity and attitude are known. A car, whose
// acceleration is no matter of its tilt, shows nothing.
func TestAxesByThrust(t *testing.T) {
	for _, c := range []struct {
		velocity, world, body frames.Frame // of the samples
		lift                  float64      // of the weight
		want                  string
	}{
		{frames.ENU, frames.ENU, frames.FLU, 1, ""},
		{frames.NED, frames.NED, frames.FRD, 1, "roll, pitch, yaw are in axes ned-frd, not enu-flu, and x, y, z, vx, vy, vz are in axes ned, not enu"},
		{frames.NED, frames.ENU, frames.FLU, 1, "x, y, z, vx, vy, vz are in axes ned, not enu"},
		{frames.ENU, frames.NED, frames.FRD, 1, "roll, pitch, yaw are in axes ned-frd, not enu-flu"},
		{frames.NED, frames.NED, frames.FRD, 0, ""},
	} {
		states := usual(channel.Angle)
		for i := range states {
			states[i].Frame = [4]string{"enu", "enu", "enu-flu", "flu"}[i/3]
		}
		k, err := Declare(channel.Quadrotor, &Body{}, states)
		if err != nil {
			t.Fatal(err)
		}
		checker := New(k, states)
		var p, v [3]float64
		const step = 0.01
		for i := range 2000 {
			at := step * float64(i)
			q := frames.FromEuler([3]float64{0.15 * math.Cos(1.7*at), 0.2 * math.Sin(1.3*at), 0.8 * math.Sin(0.5*at)})
			push := q.Rotate([3]float64{0, 0, 9.81 * (1 + 0.1*math.Sin(3*at))})
			for k := range 2 {
				v[k] += step * (c.lift*push[k] + (1-c.lift)*math.Sin(2*at+float64(k)))
				p[k] += step * v[k]
			}
			var x []float64
			for _, group := range [][3]float64{frames.Vector(p, frames.ENU, c.velocity), frames.Vector(v, frames.ENU, c.velocity), frames.Attitude(q, frames.ENU, frames.FLU, c.world, c.body).Euler(), {}} {
				x = append(x, group[:]...)
			}
			checker.Add(int64(i)*1e7, x)
		}
		words := slices.Clone(states)
		for i := range words {
			words[i].Frame = "world"
		}
		if got, _ := checker.Leaning(words); got != "" {
			t.Errorf("of other words: %s", got)
		}
		if got, remedy := checker.Leaning(states); got != c.want || (remedy == "") != (got == "") {
			t.Errorf("%s %s %g: %q %q, want %q", c.velocity, c.world, c.lift, got, remedy, c.want)
		}
	}
}
