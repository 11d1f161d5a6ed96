package msp_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/msp"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A reply that repeats itself is no measurement where that cannot be: rates never are, an attitude while the rates turn it.
func TestHeldValues(t *testing.T) {
	a := assembler(t, betaflight, "betaflight", nil)
	at := start
	state := func(noise, p, roll int) (x []float64, ok bool) {
		at += 10e6
		add(t, a, motor, shorts(1000, 1000, 1000, 1000, 0, 0, 0, 0), at)
		add(t, a, attitude, shorts(roll, 0, 0), at)
		add(t, a, rawIMU, shorts(noise, 0, 0, p, 0, 0), at)
		x, _, _, ok = a.State()
		return slices.Clone(x), ok
	}
	const quick = 1638 // 100 deg/s
	if _, ok := state(1, quick, 100); !ok {
		t.Fatal("no state")
	}
	if _, ok := state(1, quick, 110); ok {
		t.Error("rates and acceleration that repeat themselves made a state")
	}
	if x, ok := state(2, quick, 120); !ok || math.Abs(x[0]/degree-12) > 0.01 {
		t.Errorf("roll %v°", x[0]/degree)
	}
	for i := range 3 { // the attitude stands: it is turned by the rates
		if x, ok := state(3+i, quick, 120); !ok || math.Abs(x[0]/degree-13-float64(i)) > 0.01 {
			t.Errorf("roll %v° after %d that stand", x[0]/degree, i+1)
		}
	}
	for i := range 3 { // it may stand at rest
		if x, ok := state(i, 3, 120); !ok || i > 0 && math.Abs(x[0]/degree-12) > 0.0501 {
			t.Errorf("at rest roll %v°", x[0]/degree)
		}
	}
	at += 300e6 // without an attitude
	add(t, a, rawIMU, shorts(9, 0, 0, 3, 0, 0), at)
	if x, _, _, ok := a.State(); !ok || !math.IsNaN(x[0]) || math.IsNaN(x[3]) {
		t.Errorf("an attitude of 300 ms ago: %v", x)
	}
	if got := a.Missing(at); !slices.Equal(got, []string{"MSP_ATTITUDE", "MSP_MOTOR"}) {
		t.Error(got)
	}
}

// Between the steps of the heading the rates turn the attitude, and nowhere is it outside of what is reported.
func TestHeadingBetweenItsSteps(t *testing.T) {
	a := assembler(t, betaflight, "betaflight", nil)
	worst, slope, last := 0.0, 0.0, 0.0
	for i := range 2000 {
		s := 0.01 * float64(i)
		heading := 355 + 20*math.Sin(s)
		add(t, a, motor, shorts(0, 0, 0, 0, 0, 0, 0, 0), start+int64(i)*10e6)
		add(t, a, attitude, shorts(0, 0, int(math.Floor(heading+360))%360), start+int64(i)*10e6)
		add(t, a, rawIMU, shorts(i, 0, 0, 0, 0, int(math.Round(-(20*math.Cos(s)+0.3)*32768/2000))), start+int64(i)*10e6) // with an offset of 0.3 deg/s
		x, _, _, ok := a.State()
		off := math.Remainder(x[2]/degree+heading, 360)
		if !ok || math.Abs(off) > 1.001 {
			t.Fatalf("%v s: yaw %v°, heading %v°", s, x[2]/degree, heading)
		}
		if worst = max(worst, math.Abs(off)); i > 0 {
			d := math.Remainder(x[2]/degree-last, 360)/0.01 + 20*math.Cos(s)
			slope += d * d / 2000
		}
		last = x[2] / degree
	}
	if slope = math.Sqrt(slope); slope > 4 { // that of the steps is 33
		t.Errorf("up to %.2f° off, slope off by %.1f deg/s (RMS)", worst, slope)
	}
}

// A model with a filter gets NaN for what is estimated, or repeats itself.
func TestStatesWithGaps(t *testing.T) {
	m, err := importer.ParseMap("map.toml", []byte("like = \"betaflight\"\nvehicle = \"v\"\n[[channel]]\nname = \"z\"\ntopic = \"main\"\nfield = \"navPos[2]\"\nunit = \"m\"\nrole = \"state\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, channels, err := msp.NewAssembler(m, []channel.Channel{{Name: "z", Unit: "m", Role: channel.State}, {Name: "z_rate", Unit: "m/s", Role: channel.State, Estimated: true}, {Name: "r", Unit: "rad/s", Role: channel.State, Frame: "flu"}})
	if commands, ranged := a.Commands(); err != nil || len(channels) != 3 || !a.Partial() || ranged || !slices.Equal(commands, []uint16{altitude, rawIMU}) {
		t.Fatal(channels, commands, err)
	}
	c, err := asked(t, 0, -1, inav...)
	if err != nil {
		t.Fatal(err)
	}
	a.Begin(c)
	for i, z := range []int{-250, -250, 12345} {
		at := start + int64(i)*10e6
		p := binary.LittleEndian.AppendUint32(nil, uint32(int32(z)))
		add(t, a, altitude, append(p, 0, 0), at)
		add(t, a, rawIMU, shorts(i, 0, 0, 0, 0, 57), at)
		x, _, _, _ := a.State()
		if again := i == 1; math.IsNaN(x[0]) != again || !again && math.Abs(x[0]-float64(z)/100) > 1e-9 || !math.IsNaN(x[1]) || math.Abs(x[2]-57*degree) > 1e-9 {
			t.Errorf("%d: %v", i, x)
		}
	}
}

// Rates in another unit show against the attitude.
func TestDoubtfulRates(t *testing.T) {
	for _, step := range []float64{0, 0.07} {
		a, _, err := msp.NewAssembler(preset(t, "betaflight"), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := asked(t, step, -1, betaflight...)
		if err != nil {
			t.Fatal(err)
		}
		a.Begin(c)
		for i := range 3000 {
			s := 0.01 * float64(i)
			add(t, a, attitude, shorts(int(math.Round(300*math.Sin(2*s))), 0, 90), start+int64(i)*10e6)
			add(t, a, rawIMU, shorts(i, 0, 0, int(math.Round(60*math.Cos(2*s)*32768/2000)), 0, 0), start+int64(i)*10e6)
			a.State()
		}
		if doubt := a.Doubt(); (doubt != "") != (step > 0) || step > 0 && !strings.Contains(doubt, "about 0.061") {
			t.Errorf("step %v: %q", step, doubt)
		}
	}
}
