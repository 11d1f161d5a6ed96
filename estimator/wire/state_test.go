package wire_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// message encodes a map with another library, as a sender in another language does.
func message(t testing.TB, fields map[string]any) []byte {
	t.Helper()
	b, err := msgpack.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bin returns the bytes of a vector, bin32 of one rounded to float32.
func bin(v ...float64) []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Floats(v) })[2:]
}

func bin32(v ...float64) []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Floats32(v) })[2:]
}

func state(more map[string]any) map[string]any {
	m := map[string]any{"v": 1, "seq": 3, "t": int64(1e18), "x": bin(0.5, -2)}
	for k, v := range more {
		if v == "absent" {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	return m
}

func TestStateFromOtherSenders(t *testing.T) {
	x, plan := []float64{0.5, -2}, []float64{1, 2, 3, 4}
	for name, m := range map[string]map[string]any{
		"float64 bins":           {"x": bin(x...), "P0": bin(1, 0, 0, 1), "u": bin(4), "plan": bin(plan...)},
		"float32 bins":           {"dtype": "f4", "x": bin32(x...), "P0": bin32(1, 0, 0, 1), "u": bin32(4), "plan": bin32(plan...)},
		"arrays":                 {"x": x, "P0": []int{1, 0, 0, 1}, "u": []float32{4}, "plan": plan},
		"array x, float32 plan":  {"dtype": "f4", "x": x, "P0": bin32(1, 0, 0, 1), "u": []int{4}, "plan": bin32(plan...)},
		"array x, float64 plan":  {"dtype": "f8", "x": x, "P0": []float64{1, 0, 0, 1}, "u": []int8{4}, "plan": bin(plan...)},
		"unknown fields, floats": {"seq": 3.0, "t": 1e18, "P0": bin(1, 0, 0, 1), "u": bin(4), "plan": bin(plan...), "extra": map[string]any{"a": []int{1}}},
	} {
		var s wire.State
		if err := s.Decode(message(t, state(m)), 2, 1); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Seq != 3 || s.T != 1e18 || s.X[0] != 0.5 || s.X[1] != -2 || len(s.P0) != 4 || s.P0[3] != 1 ||
			len(s.U) != 1 || s.U[0] != 4 || len(s.Plan) != 4 || s.Plan[3] != 4 {
			t.Errorf("%s: read %+v", name, s)
		}
	}
	var s wire.State
	if err := s.Decode(message(t, state(map[string]any{"P0": nil, "u": nil, "plan": []float64{}})), 2, 1); err != nil || len(s.P0)+len(s.U)+len(s.Plan) > 0 {
		t.Errorf("nil for what is optional: %v, %+v", err, s)
	}
	if err := s.Decode(message(t, state(map[string]any{"plan": nil})), 2, 0); err != nil {
		t.Errorf("a vehicle without inputs: %v", err)
	}
}

func TestStateRefused(t *testing.T) {
	long := make([]float64, wire.MaxPlan+1)
	for name, c := range map[string]struct {
		b    []byte
		want wire.Reason
		text string
	}{
		"empty":            {nil, wire.Malformed, "the data ends"},
		"text":             {[]byte("hello"), wire.Malformed, "expected a map"},
		"array":            {[]byte{0x91, 1}, wire.Malformed, "expected a map, found an array"},
		"claims gigabytes": {[]byte{0x84, 0xa1, 'x', 0xc6, 0x7f, 0xff, 0xff, 0xff}, wire.Malformed, ""},
		"many entries":     {[]byte{0xdf, 0x7f, 0xff, 0xff, 0xff}, wire.Malformed, "limit"},
		"trailing bytes":   {append(smallState.Append(nil), 0xc0), wire.Malformed, "1 bytes after"},
		"a key twice":      {append([]byte{0x85}, append(smallState.Append(nil)[1:], 0xa1, 'v', 1)...), wire.Malformed, "twice"},
		"no x":             {message(t, state(map[string]any{"x": "absent"})), wire.Malformed, "field x: is missing"},
		"no v":             {message(t, state(map[string]any{"v": "absent"})), wire.Malformed, "field v: is missing"},
		"nil x":            {message(t, state(map[string]any{"x": nil})), wire.WrongSize, "no numbers, expected 2"},
		"version 2":        {message(t, state(map[string]any{"v": 2})), wire.WrongVersion, "version 2"},
		"negative seq":     {message(t, state(map[string]any{"seq": -1})), wire.Malformed, "field seq"},
		"text for t":       {message(t, state(map[string]any{"t": "now"})), wire.Malformed, "field t"},
		"half a ns":        {message(t, state(map[string]any{"t": 0.5})), wire.Malformed, "field t"},
		"3 states":         {message(t, state(map[string]any{"x": bin(1, 2, 3)})), wire.WrongSize, "3 numbers, expected 2"},
		"3 in an array":    {message(t, state(map[string]any{"x": []int{1, 2, 3}})), wire.WrongSize, "3 numbers, expected 2"},
		"x is text":        {message(t, state(map[string]any{"x": "12345678"})), wire.Malformed, "field x"},
		"text in x":        {message(t, state(map[string]any{"x": []any{1, "2"}})), wire.Malformed, "field x"},
		"P0 of 3":          {message(t, state(map[string]any{"P0": bin(1, 2, 3)})), wire.WrongSize, "field P0"},
		"2 inputs":         {message(t, state(map[string]any{"u": bin(1, 2)})), wire.WrongSize, "field u"},
		"odd plan bytes":   {message(t, state(map[string]any{"plan": []byte{1, 2, 3}})), wire.WrongSize, "field plan"},
		"plan too long":    {message(t, state(map[string]any{"plan": long})), wire.WrongSize, "at most 10000"},
		"half a state":     {message(t, state(map[string]any{"x": bin(1)})), wire.WrongSize, `add "dtype": "f4"`},
		"float32 unsaid":   {message(t, state(map[string]any{"x": bin32(1, 2)})), wire.WrongSize, `add "dtype": "f4"`},
		"one in float64":   {message(t, state(map[string]any{"dtype": "f4", "x": bin32(1, 2), "u": bin(1)})), wire.WrongSize, "field u"},
		"unknown dtype":    {message(t, state(map[string]any{"dtype": "f2"})), wire.Malformed, `"f2", expected "f8" or "f4"`},
	} {
		var s wire.State
		err := s.Decode(c.b, 2, 1)
		var e *wire.Error
		if !errors.As(err, &e) || e.Reason != c.want || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %v %q", name, err, c.want, c.text)
		}
	}
	var s wire.State
	if err := s.Decode(message(t, state(map[string]any{"plan": bin(1)})), 2, 0); err == nil || !strings.Contains(err.Error(), "no inputs") {
		t.Errorf("a plan for a vehicle without inputs: %v", err)
	}
	var e *wire.Error
	if err := s.Decode(message(t, state(map[string]any{"plan": bin(1, 2, 3)})), 2, 2); !errors.As(err, &e) || e.Reason != wire.WrongSize {
		t.Errorf("3 numbers for rows of 2 inputs: %v", err)
	}
}

func TestStateCutAnywhere(t *testing.T) {
	full := goldenState.Append(nil)
	for n := range full {
		var s wire.State
		var e *wire.Error
		if err := s.Decode(full[:n], 2, 1); !errors.As(err, &e) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestImplausibleStates(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	channels := []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "Nm", Role: channel.Input},
	}
	b := wire.PlausibilityLimits{Layout: wire.Layout(channels), MaxStd: []float64{10, 100}, Scale: []float64{0.5, 2}, InputMean: []float64{-1}, InputStd: []float64{2}}
	ok := func() wire.State { return wire.State{X: []float64{1, 2}, U: []float64{0}, Layout: b.Layout} }
	for name, c := range map[string]struct {
		change func(s *wire.State)
		want   wire.Reason
	}{
		"plain":             {func(s *wire.State) {}, wire.OK},
		"no layout":         {func(s *wire.State) { s.Layout = "" }, wire.OK},
		"other layout":      {func(s *wire.State) { s.Layout = "0123456789abcdef" }, wire.WrongLayout},
		"NaN state":         {func(s *wire.State) { s.X[1] = nan }, wire.NotANumber},
		"infinite input":    {func(s *wire.State) { s.U[0] = inf }, wire.NotANumber},
		"NaN in the plan":   {func(s *wire.State) { s.Plan = []float64{0, nan} }, wire.NotANumber},
		"NaN in P0":         {func(s *wire.State) { s.P0 = []float64{1, nan, nan, 1} }, wire.NotANumber},
		"absurd":            {func(s *wire.State) { s.X[0] = 1e300 }, wire.Magnitude},
		"absurd input":      {func(s *wire.State) { s.U[0] = 4e9 }, wire.Magnitude},
		"coarse input":      {func(s *wire.State) { s.U[0] = 1e17 }, wire.Magnitude},
		"absurd plan":       {func(s *wire.State) { s.Plan = []float64{1, -1e300} }, wire.Magnitude},
		"absurd, below 0":   {func(s *wire.State) { s.X[1] = -1e154 }, wire.Magnitude},
		"hides its motion":  {func(s *wire.State) { s.X[0] = 1e16 }, wire.Magnitude},
		"just too coarse":   {func(s *wire.State) { s.X[0] = 4.6e12 }, wire.Magnitude}, // floats are 2^-10 apart
		"just fine enough":  {func(s *wire.State) { s.X[0] = 2.1e12 }, wire.OK},
		"far away":          {func(s *wire.State) { s.X[1] = 6.4e6 }, wire.OK}, // the radius of the earth in m
		"P0":                {func(s *wire.State) { s.P0 = []float64{1, 0.5, 0.5, 1} }, wire.OK},
		"P0 of zeros":       {func(s *wire.State) { s.P0 = make([]float64, 4) }, wire.OK},
		"P0 of rank 1":      {func(s *wire.State) { s.P0 = []float64{4, 6, 6, 9} }, wire.OK},
		"rounded":           {func(s *wire.State) { s.P0 = []float64{4, 6.00001, 6, 9} }, wire.OK},
		"tiny":              {func(s *wire.State) { s.P0 = []float64{1e-300, 0, 0, 1e-300} }, wire.OK},
		"negative":          {func(s *wire.State) { s.P0 = []float64{1, 0, 0, -1e-9} }, wire.Covariance},
		"not symmetric":     {func(s *wire.State) { s.P0 = []float64{1, 0.5, 0.4, 1} }, wire.Covariance},
		"beyond one":        {func(s *wire.State) { s.P0 = []float64{1, 1.1, 1.1, 1} }, wire.Covariance},
		"with a certain":    {func(s *wire.State) { s.P0 = []float64{0, 0.1, 0.1, 1} }, wire.Covariance},
		"huge":              {func(s *wire.State) { s.P0 = []float64{101, 0, 0, 1} }, wire.Covariance},
		"as large as could": {func(s *wire.State) { s.P0 = []float64{99, 0, 0, 9999} }, wire.OK},
	} {
		s := ok()
		c.change(&s)
		err := b.Check(&s)
		var e *wire.Error
		if c.want == wire.OK {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if !errors.As(err, &e) || e.Reason != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	// Pairwise correlations that are each possible, but not together.
	b = wire.PlausibilityLimits{}
	s := wire.State{X: make([]float64, 3), P0: []float64{1, 0.9, 0.9, 0.9, 1, -0.9, 0.9, -0.9, 1}}
	if err := b.Check(&s); err == nil || !strings.Contains(err.Error(), "positive semidefinite") {
		t.Errorf("an indefinite P0: %v", err)
	}
}

func TestLayout(t *testing.T) {
	a := []channel.Channel{{Name: "x", Unit: "m", Role: channel.State}, {Name: "v", Unit: "m/s", Role: channel.State}, {Name: "f", Role: channel.Input}}
	base := wire.Layout(a)
	// From Python: hashlib.sha256(b"state x m\nstate v m/s\ninput f \n").hexdigest()[:16]
	if base != "f5b3719a1fdb3479" {
		t.Errorf("layout %s", base)
	}
	withAux := append([]channel.Channel{{Name: "battery", Role: channel.Aux}}, a...)
	if wire.Layout(withAux) != base {
		t.Error("an aux channel changed the layout")
	}
	swapped := []channel.Channel{a[1], a[0], a[2]}
	if wire.Layout(swapped) == base {
		t.Error("the order of channels did not change the layout")
	}
}

func TestVehicleNames(t *testing.T) {
	for _, good := range []string{"pend1", "q-2_B", strings.Repeat("a", 64)} {
		if err := wire.CheckVehicle(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a.b", "a b", "*", ">", "é", "a\n", "$SYS", strings.Repeat("a", 65)} {
		if wire.CheckVehicle(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if wire.PredictSubject("pend1") != "dgm.predict.pend1" || wire.StateSubject("a") != "dgm.state.a" || wire.StatusSubject("a") != "dgm.status.a" {
		t.Error("subjects changed")
	}
}

func TestReasonsAreNamedAndExplained(t *testing.T) {
	seen := map[string]bool{}
	for r := range wire.Reasons {
		if r.String() == "" || r.Description() == "" || seen[r.String()] {
			t.Errorf("reason %d: name %q, description %q", r, r, r.Description())
		}
		seen[r.String()] = true
	}
}
