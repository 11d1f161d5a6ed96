package importer_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// The comment ahead of the map of a table says that no column is called as a command is, and that a period is written by its name.
func TestSuggestedTablesSayWhatIsMissing(t *testing.T) {
	const undriven, untouched, byName = "No column is called as a command is", "no period is written", "periods are by names and units"
	for _, c := range []struct {
		columns   string
		has, lack []string
	}{
		{"t [s],yaw [rad],speed [m/s],left [rad/s],right [rad/s]", []string{undriven, byName}, []string{untouched}},
		{"t [s],yaw [rad],speed [m/s],motor_cmd [V],steer_cmd [rad]", []string{byName}, []string{undriven, untouched}},
		{"t [s],x [m],y [m],Mean Marker Error,tracker_confidence", []string{"column = \"Mean Marker Error\"\nrole = \"aux\"", "column = \"tracker_confidence\"\nrole = \"aux\""}, nil},
		{"t [s],roll,pitch,yaw,p", []string{untouched}, []string{`unit = "deg"`}},
		{"t [s],theta,theta_dot,theta_ddot,tau", []string{"# name = \"theta_ddot\"", "\nname = \"theta_dot\""}, nil},
		{"t [s],q1,qd1,qdd1,dd_q2", []string{"\nname = \"q1\"", "\nname = \"qd1\"", "# name = \"qdd1\"", "# name = \"dd_q2\""}, nil},
		{"t [s],a [rad/s^2],ladder,x_dotdot,add", []string{"# name = \"a\"", "\nname = \"ladder\"", "# name = \"x_dotdot\"", "\nname = \"add\""}, nil},
		{"t [s],level [m],flow [m/s],inlet [m],outlet [m/s]", []string{undriven, untouched}, []string{byName}},
	} {
		text := c.columns + "\n"
		for i := range 300 {
			at := 0.02 * float64(i)
			text += fmt.Sprintf("%.2f,%.4f,%.4f,%.4f,%.4f\n", at, math.Sin(at), 1+math.Sin(1.7*at), math.Cos(2.3*at), math.Cos(3.1*at))
		}
		path := filepath.Join(t.TempDir(), "log.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := importer.SuggestTable(&b, path, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := importer.ParseMap("map.toml", b.Bytes()); err != nil {
			t.Errorf("%s: %v", c.columns, err)
		}
		for _, want := range c.has {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the map does not say %q", c.columns, want)
			}
		}
		for _, other := range c.lack {
			if strings.Contains(b.String(), other) {
				t.Errorf("%s: the map says %q", c.columns, other)
			}
		}
	}
}

// Angles of attitude without a unit, of which roll or pitch is beyond a turn of radians, are degrees; those of another sensor need not be.
func TestAttitudesInDegreesWithoutAUnit(t *testing.T) {
	text := "t,roll,pitch,yaw,heading [rad],imu_roll,m1\n"
	for i := range 300 {
		at := 0.02 * float64(i)
		text += fmt.Sprintf("%.2f,%.4f,%.4f,%.4f,%.4f,%.4f,%.2f\n", at, 14*math.Sin(at), 3*math.Cos(at), 2*math.Sin(0.5*at), math.Sin(0.4*at), math.Sin(0.7*at), math.Cos(3*at))
	}
	path := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := importer.SuggestTable(&b, path, nil); err != nil {
		t.Fatal(err)
	}
	m, err := importer.ParseMap("map.toml", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Channels {
		if want := map[string]string{"roll": "deg", "pitch": "deg", "yaw": "deg", "heading": "rad"}[c.Name]; c.Unit != want {
			t.Errorf("%s has the unit %q, not %q", c.Name, c.Unit, want)
		}
	}
}
