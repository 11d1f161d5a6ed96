package msp_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/blackbox"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/msp"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

const (
	degree = math.Pi / 180
	start  = int64(1.7e18)
)

var near = cmpopts.EquateApprox(0, 1e-9)

// Commands, as the protocol counts them.
const rawIMU, servo, motor, attitude, altitude, analog = 102, 103, 104, 108, 109, 110

// shorts is a payload of numbers of 16 bits.
func shorts(all ...int) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func preset(t testing.TB, name string) *importer.Map {
	t.Helper()
	m, err := importer.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked returns the controller that says what is given of it; api, variant, version and board come first.
func asked(t testing.TB, step, idle float64, replies ...[]byte) (*msp.Controller, error) {
	t.Helper()
	c := msp.NewController(step, idle)
	questions := msp.Identity
	for i := 0; i < len(replies); i++ {
		if i == len(msp.Identity) {
			questions = slices.Concat(questions, c.Motors())
		}
		f := msp.Frame{Command: questions[i].Command, Kind: msp.Reply, Payload: replies[i]}
		if replies[i] == nil {
			f.Kind = msp.Unknown
		}
		if err := questions[i].Read(c, &f); err != nil {
			return c, err
		}
	}
	return c, nil
}

var (
	betaflight = [][]byte{{0, 1, 47}, []byte("BTFL"), {4, 6, 0}, []byte("SITL\x00")}
	inav       = [][]byte{{0, 2, 5}, []byte("INAV"), {7, 1, 2}, []byte("F722")}
)

// assembler returns one whose controller has motors from 1,000 to 2,000 µs.
func assembler(t testing.TB, variant [][]byte, name string, channels []channel.Channel) *msp.Assembler {
	t.Helper()
	a, _, err := msp.NewAssembler(preset(t, name), channels)
	if err != nil {
		t.Fatal(err)
	}
	ranged := [][]byte{shorts(1000, 2000, 1000), {1, 1, 0, 0, 0, 0, 0, 0}}
	if string(variant[1]) == "INAV" {
		ranged = [][]byte{shorts(1500, 0, 2000, 1000), {0, 0, 0, 0}}
	}
	c, err := asked(t, 0, -1, slices.Concat(variant, ranged)...)
	if err != nil {
		t.Fatal(err)
	}
	a.Begin(c)
	return a
}

func add(t testing.TB, a *msp.Assembler, command uint16, p []byte, at int64) {
	t.Helper()
	if err := a.Add(command, p, at); err != nil {
		t.Fatal(err)
	}
}

// The channels of a link are those of an import of the blackbox of the same firmware: names, units, axes.
func TestChannelsAreThoseOfTheBlackbox(t *testing.T) {
	for name, log := range map[string]string{"betaflight": "sitl.bfl", "betaflight-plane": "wing.bfl"} {
		out := filepath.Join(t.TempDir(), "flight.msgpack")
		m := preset(t, name)
		if _, err := importer.Import(t.Context(), importer.Job{Format: "blackbox", Open: telemetry.Opens(blackbox.Open), Map: m, Inputs: []string{filepath.Join("..", "blackbox", "testdata", log)}, Out: out}); err != nil {
			t.Fatal(err)
		}
		f, err := flightlog.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, wanted := range [][]channel.Channel{f.Channels, nil} {
			_, got, err := msp.NewAssembler(preset(t, name), wanted)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(slices.Clone(f.Channels), func(c channel.Channel) bool { return c.Role == channel.Aux })
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(channel.Channel{}, "Derivative", "Invariant", "Noise")); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func TestChannelsThatAreNotMeasured(t *testing.T) {
	of := func(c channel.Channel) []channel.Channel {
		c.Role = channel.State
		return []channel.Channel{{Name: "p", Unit: "rad/s", Role: channel.State, Frame: "flu"}, c}
	}
	for want, c := range map[string]channel.Channel{
		"channel x: it is not among what the link measures: p, q, r": {Name: "x", Unit: "m"},
		`channel roll: its unit is "deg", that of the map "rad"`:     {Name: "roll", Unit: "deg"},
		`channel roll: its axes are "ned-frd", those of the map`:     {Name: "roll", Unit: "rad", Frame: "ned-frd"},
	} {
		if _, _, err := msp.NewAssembler(preset(t, "betaflight"), of(c)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, _, err := msp.NewAssembler(preset(t, "px4-quadrotor"), nil); err == nil {
		t.Error("channels of another robot's logs")
	}
}

// What a controller says of its motors is the range of its blackbox.
func TestRangeOfMotors(t *testing.T) {
	advanced := func(protocol byte, idle int) []byte {
		return slices.Concat([]byte{1, 1, 0, protocol, 0xe0, 1}, shorts(idle))
	}
	percent := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	for _, c := range []struct {
		name      string
		variant   [][]byte
		ranged    [][]byte
		idle      float64
		low, high float64 // µs: a motor at 0 and at 1
	}{
		{"4.6, analog", betaflight, [][]byte{shorts(0, 2000, 1000), advanced(1, 550)}, -1, 1055, 2000},
		{"4.6, digital", betaflight, [][]byte{shorts(0, 2000, 1000), advanced(6, 550)}, -1, 1001 + 999*0.055, 2000},
		{"4.5, analog", betaflight, [][]byte{shorts(1070, 1990, 1000), advanced(1, 550)}, -1, 1070, 1990},
		{"4.5, digital", betaflight, [][]byte{shorts(1070, 1990, 1000), advanced(7, 450)}, -1, 1001 + 999*0.045, 2000},
		{"dynamic idle", betaflight, [][]byte{shorts(0, 2000, 1000), advanced(6, 550)}, 0, 1001, 2000},
		{"4.5, another idle", betaflight, [][]byte{shorts(1070, 2000, 1000), advanced(1, 550)}, 4, 1040, 2000},
		{"INAV", inav, [][]byte{shorts(1500, 0, 1850, 1000), percent(8)}, -1, 1000 + 0.08*850, 1850},
	} {
		a, _, err := msp.NewAssembler(preset(t, "betaflight"), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctl, err := asked(t, 0, c.idle, slices.Concat(c.variant, c.ranged)...)
		if err != nil {
			t.Fatal(c.name, err)
		}
		a.Begin(ctl)
		add(t, a, motor, shorts(1200, 1300, 1400, 2000, 0, 0, 0, 0), start)
		add(t, a, attitude, shorts(0, 0, 0), start)
		add(t, a, rawIMU, shorts(1, 0, 0, 0, 0, 0, 0, 0, 0), start)
		_, u, _, _ := a.State()
		var want []float64
		for _, pulse := range []float64{1200, 1300, 1400, 2000} {
			want = append(want, (pulse-c.low)/(c.high-c.low))
		}
		if d := cmp.Diff(want, u, near); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for want, replies := range map[string][][]byte{
		"firmware \"MWII\" is not known":           {{0, 1, 47}, []byte("MWII")},
		"does not know request 4":                  {{0, 1, 47}, []byte("BTFL"), {4, 6, 0}, nil},
		"a reply of 2 bytes is too short":          {{0, 1}},
		"motors from 0 to 0 µs are no range":       slices.Concat(betaflight, [][]byte{shorts(0, 0, 0)}),
		"an idle of 655.35 % is none":              slices.Concat(betaflight, [][]byte{shorts(0, 2000, 1000), advanced(6, 0xffff)}),
		"request 4099: an idle of NaN % is none":   slices.Concat(inav, [][]byte{shorts(1500, 0, 1850, 1000), percent(float32(math.NaN()))}),
		"the controller does not know request 114": slices.Concat(inav, [][]byte{nil}),
	} {
		if _, err := asked(t, 0, -1, replies...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if c, err := asked(t, 0, -1, betaflight...); err != nil || c.String() != "Betaflight 4.6.0 on SITL, MSP 1.47" {
		t.Error(c, err)
	}
}

// The axes are forward, left and up: nose down and a turn to the left are positive. Rates have the steps of the firmware.
func TestUnitsAndAxes(t *testing.T) {
	for _, c := range []struct {
		variant [][]byte
		step    float64
	}{{betaflight, 2000. / 32768}, {inav, 1}} {
		a := assembler(t, c.variant, "betaflight", nil)
		if x, _, _, ok := a.State(); ok {
			t.Fatal("a state of nothing: ", x)
		}
		add(t, a, motor, shorts(1000, 1500, 2000, 1250, 0, 0, 0, 0), start)
		add(t, a, attitude, shorts(123, -45, 270), start)
		add(t, a, rawIMU, shorts(0, 0, 2048, 100, -200, 300, 0, 0, 0), start)
		x, u, at, ok := a.State()
		if !ok || at != start {
			t.Fatal(ok, at)
		}
		want := []float64{12.3 * degree, -4.5 * degree, (360 - 270.45) * degree, 100 * c.step * degree, -200 * c.step * degree, 300 * c.step * degree}
		if d := cmp.Diff(want, x, near); d != "" {
			t.Errorf("%s: %s", c.variant[1], d)
		}
		if d := cmp.Diff([]float64{0, 0.5, 1, 0.25}, u, near); d != "" {
			t.Error(d)
		}
		if _, _, _, ok := a.State(); ok {
			t.Error("the same rates made two states")
		}
	}
	a := assembler(t, betaflight, "betaflight-plane", nil)
	add(t, a, servo, shorts(1500, 1500, 1500, 1000, 1500, 1750, 2000, 1500), start)
	add(t, a, motor, shorts(1400, 0, 0, 0, 0, 0, 0, 0), start)
	add(t, a, attitude, shorts(0, 0, 0), start)
	add(t, a, rawIMU, shorts(1, 0, 0, 0, 0, 0), start)
	if _, u, _, _ := a.State(); cmp.Diff([]float64{-1, 1, 0.5, 0.4}, u, near) != "" {
		t.Errorf("aileron, elevator, rudder, throttle: %v", u)
	}
}

// Of a hexacopter there are more motors than the map names.
func TestFurtherMotors(t *testing.T) {
	all := []channel.Channel{{Name: "p", Unit: "rad/s", Role: channel.State}, {Name: "m1", Role: channel.Input}, {Name: "m6", Role: channel.Input}}
	a := assembler(t, betaflight, "betaflight", all)
	add(t, a, motor, shorts(1100, 0, 0, 0, 0, 1600, 0, 0), start)
	add(t, a, rawIMU, shorts(1, 0, 0, 0, 0, 0), start)
	if _, u, _, _ := a.State(); cmp.Diff([]float64{0.1, 0.6}, u, near) != "" {
		t.Error(u)
	}
}

func TestArmed(t *testing.T) {
	a := assembler(t, betaflight, "betaflight", nil)
	for _, armed := range []byte{1, 0, 3, 2} {
		add(t, a, msp.Status, []byte{0xf4, 1, 0, 0, 0x23, 0, armed, 0, 0, 0, 0}, start)
		if a.Armed != (armed&1 == 1) {
			t.Errorf("flags %d: %v", armed, a.Armed)
		}
	}
	for _, command := range []uint16{rawIMU, servo, motor, attitude, altitude, analog, msp.Status} {
		if err := a.Add(command, []byte{1, 2, 3}, start); err == nil {
			t.Errorf("%d: three bytes are enough", command)
		}
	}
}

func TestSeveralInOne(t *testing.T) {
	f := msp.Multiple([]uint16{108, 104, 103, 110, 102})
	if got := f.Append(nil); !bytes.Equal(got, fromHex(t, "244d3c05e66c68676e6688")) {
		t.Errorf("%x", got)
	}
	b := fromHex(t, "06000000000000"+"10e803e803e803e8030000000000000000"+"00"+"09000000000000000000"+"12000000000000000000000000000000000000") // of Betaflight 4.6 without servos
	var sizes []int
	for _, p := range msp.Split(b) {
		sizes = append(sizes, len(p))
	}
	if !slices.Equal(sizes, []int{6, 16, 0, 9, 18}) || len(msp.Split(append(bytes.Repeat([]byte{1}, 256), 200))) != 128 {
		t.Error(sizes)
	}
}

// Whatever a controller replies: no panic, and what a state has is finite or NaN.
func FuzzAssembler(f *testing.F) {
	f.Add([]byte{rawIMU, 18}, []byte("0123456789abcdefgh"), true)
	f.Add([]byte{attitude, 6, rawIMU, 18, msp.Status, 11}, []byte{255, 127, 0, 128, 255, 255}, false)
	f.Fuzz(func(t *testing.T, order, payload []byte, plane bool) {
		a := assembler(t, betaflight, map[bool]string{true: "betaflight-plane", false: "betaflight"}[plane], nil)
		for i := 0; i+1 < len(order); i += 2 {
			n := min(int(order[i+1]), len(payload))
			_ = a.Add(uint16(order[i]), payload[:n], start+int64(i)*5e6) // too short
			payload = payload[n:]
			x, u, _, _ := a.State()
			for _, v := range slices.Concat(x, u) {
				if math.IsInf(v, 0) {
					t.Fatal(x, u)
				}
			}
		}
		_ = a.Doubt()
	})
}
