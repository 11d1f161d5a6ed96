package importer_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Of a topic and one that repeats its messages later, all or every third, the map names the first. One with
// other contents is no repetition.
func TestRelays(t *testing.T) {
	for name, c := range map[string]struct {
		late, every int64
		other       float64 // is added to what the second one has
		topic, says string
	}{
		"own stamps":       {12, 1, 0, "source", "# relay repeats source, 0.012 s later"},
		"throttled":        {7, 3, 0, "source", "# relay repeats source, 0.007 s later"},
		"of another":       {12, 1, 1e-9, "", ""},
		"the other is one": {-12, 1, 0, "relay", "# source repeats relay, 0.012 s later"},
	} {
		fields := []telemetry.Field{{Path: "header.seq"}, {Path: "position.x"}, {Path: "position.y"}, {Path: "velocity.x"}}
		s := &invented{fields: map[string][]telemetry.Field{"relay": fields, "source": fields}, kinds: map[string]string{"relay": "pose", "source": "pose"}}
		for i := range int64(400) {
			v := func(a float64) float64 { return math.Sin(0.03*a*float64(i)) + 0.2*math.Sin(0.11*float64(i)) }
			s.msgs = append(s.msgs, msg{"source", 20 * i, []float64{float64(i), v(1), v(2), v(3)}})
			if i%c.every == 0 {
				s.msgs = append(s.msgs, msg{"relay", 20*i + c.late, []float64{float64(i + 7), v(1) + c.other, v(2), v(3)}})
			}
		}
		var b bytes.Buffer
		if err := importer.Suggest(context.Background(), &b, "a.log", s.open, nil); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, " repeats ") || c.topic != "" && strings.Count(text, "\ntopic = ") != strings.Count(text, "\ntopic = \""+c.topic+"\"") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
