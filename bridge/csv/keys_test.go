package csv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const everyKey = `
vehicle = "v"
frames = "enu-flu"
[time]
column = "t"
unit = "ms"
[[channel]]
names = ["x", "y", "z"]
fields = ["px", "py", "-up"]
axes = "ned"
role = "state"
[[channel]]
name = "a"
column = "nix"
role = "state"
[[channel.or]]
column = "b"
scale = 2.0
[[channel]]
name = "gone"
column = "nowhere"
role = "aux"
optional = true
[[channel]]
name = "still"
column = "c"
role = "aux"
varies = true
[[channel]]
name = "deg"
column = "heading"
from = "deg"
unit = "rad"
role = "aux"
`

// The keys of channels that are read from topics are of tables, too: several names,
// axes, a sign, alternatives, what is optional or may not vary, and units.
func TestKeysOfTopics(t *testing.T) {
	log, sum := run(t, everyKey, "t,px,py,up,b,c,heading\n1,1,2,3,5,7,180\n2,2,3,4,6,7,0\n")
	if d := cmp.Diff([]string{"x", "y", "z", "a", "deg"}, channel.Names(log.Channels)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{2, 1, 3, 10, 3, 2, 4, 12}, log.Segments[0].X); d != "" {
		t.Error(d)
	}
	if aux := log.Segments[0].Aux; len(aux) != 2 || aux[0] < 3.14 || aux[0] > 3.15 || log.Channels[0].Frame != "enu" {
		t.Errorf("%v, %+v", aux, log.Channels[0])
	}
	if len(sum.Remarks) != 2 {
		t.Errorf("%q: two channels are left out", sum.Remarks)
	}
}

// A map describes topics or a table, not both.
func TestMixedMaps(t *testing.T) {
	for _, c := range [][2]string{
		{strings.Replace(everyKey, `column = "nix"`, `topic = "pos"`+"\nfield = \"x\"", 1), "channel 2"},
		{strings.Replace(everyKey, `unit = "ms"`, `unit = "ms"`+"\nbase = \"pos\"", 1), "time.column"},
		{everyKey + "[[phase]]\ntopic = \"a\"\nfield = \"b\"\nequals = [1]\n", "time.column"},
	} {
		_, err := importer.ParseMap("map.toml", []byte(c[0]))
		if e, ok := err.(*mapfile.Error); !ok || !strings.HasPrefix(e.Field, c[1]) {
			t.Errorf("%v, want an error of %s", err, c[1])
		}
	}
}
