package importer_test

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Stamps that a relay sets as messages arrive are said to be uneven; those of a sensor with little jitter, or with pauses, are not.
func TestUnevenStamps(t *testing.T) {
	for _, c := range []struct {
		jitter int64 // ms
		uneven bool
	}{{0, false}, {1, false}, {8, true}} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}, clock: map[string]string{"pos": "1/1"}}
		for i := range int64(600) {
			ms := 10*i + (i*i*7919%101)*c.jitter/101
			if i > 300 {
				ms += 500
			}
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(i)}})
		}
		_, sum := run(t, s, "vehicle = \"q\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n", false)
		if remarks := strings.Join(sum.Texts(), "\n"); strings.Contains(remarks, "stamps of pos are uneven") != c.uneven {
			t.Errorf("jitter of %d ms: %s", c.jitter, remarks)
		}
	}
}
