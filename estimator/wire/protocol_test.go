package wire_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// page returns PROTOCOL.md.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The bytes of the page's examples are those of the golden files.
func TestProtocolExamples(t *testing.T) {
	text := page(t)
	pair := regexp.MustCompile(`^[0-9a-f]{2}$`)
	for name, file := range map[string]string{"state": "testdata/state-v1-small.msgpack", "prediction": "testdata/prediction-v1.msgpack"} {
		_, rest, ok := strings.Cut(text, "```hex "+name+"\n")
		block, _, _ := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("no example of a %s", name)
		}
		var got []byte
		for line := range strings.Lines(block) {
			for _, word := range strings.Fields(line) {
				if !pair.MatchString(word) {
					break // what follows explains
				}
				b, _ := hex.DecodeString(word)
				got = append(got, b...)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("example %s: % x, and %s holds % x", name, got, file, want)
		}
	}
}

// Every field and reason is on the page, and the layout of its example is true.
func TestProtocolNamesEverything(t *testing.T) {
	text := page(t)
	for _, b := range [][]byte{timedState.Append(nil), fullPrediction.Append(nil), fullStatus.Append(nil), goldenEstimate.Append(nil)} {
		var m map[string]any
		if err := msgpack.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for field := range m {
			if !strings.Contains(text, "`"+field+"`") {
				t.Errorf("field %s is not on the page", field)
			}
		}
	}
	for r := wire.OK + 1; r < wire.Reasons; r++ {
		if !strings.Contains(text, "| `"+r.String()+"` |") {
			t.Errorf("reason %s is not on the page", r)
		}
	}
	layout := wire.Layout([]channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "torque", Unit: "N m", Role: channel.Input},
	})
	if !strings.Contains(text, "`"+layout+"`") {
		t.Errorf("the pendulum's layout is %s", layout)
	}
}

// Two spellings of a unit have one fingerprint, and the first programs' is known too.
func TestLayoutsOfOneUnit(t *testing.T) {
	of := func(unit string) []channel.Channel {
		return []channel.Channel{{Name: "x", Unit: "m", Role: channel.State}, {Name: "torque", Unit: unit, Role: channel.Input}}
	}
	if a, b, c := wire.Layout(of("N m")), wire.Layout(of("Nm")), wire.Layout(of("N")); a != b || a == c || wire.LayoutAsSpelt(of("Nm")) == a || wire.LayoutAsSpelt(of("N·m")) != a {
		t.Errorf("%s, %s, %s", a, b, c)
	}
	limits := wire.PlausibilityLimits{Layout: wire.Layout(of("Nm")), Spelt: wire.LayoutAsSpelt(of("Nm"))}
	for layout, ok := range map[string]bool{"": true, wire.Layout(of("N m")): true, wire.LayoutAsSpelt(of("Nm")): true, wire.LayoutAsSpelt(of("N m")): false, wire.Layout(of("N")): false} {
		if err := limits.Check(&wire.State{X: []float64{0}, Layout: layout}); (err == nil) != ok {
			t.Errorf("layout %q: %v", layout, err)
		}
	}
}
