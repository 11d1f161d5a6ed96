package csv_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// Joints without a unit are in degrees where they reach further than joints do in radians; else the map and the import say that their
// unit is not known.
func TestUnitsOfJoints(t *testing.T) {
	for _, c := range []struct {
		names          string
		reach          float64
		degrees, asked bool
	}{
		{"J1,J2,J3", 60, true, false},
		{"J1,J2,J3", 1.5, false, true},
		{"joint_1,joint_2,joint_3", 120, true, false},
		{"actual_q_0,actual_q_1,actual_q_2", 3, false, true},
		{"q[0],q[1],q[2]", 5000, false, true}, // turns on
		{"J1 [rad],J2 [rad],J3 [rad]", 60, false, false},
		{"tau1,tau2,x", 60, false, false},
	} {
		text := "t [s]," + c.names + "\n"
		for i := range 300 {
			at := 0.02 * float64(i)
			text += fmt.Sprintf("%.2f,%.4f,%.4f,%.4f\n", at, c.reach*math.Sin(at), c.reach*math.Sin(1.7*at), c.reach*math.Cos(2.3*at))
		}
		in, out := files(t, text)
		var m strings.Builder
		if err := importer.SuggestTable(&m, in[0], nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(m.String(), `unit = "deg"`+"\n"); got != c.degrees || got != strings.Contains(m.String(), "# GUESSED: ") || c.asked != strings.Contains(m.String(), "have no unit: write ") {
			t.Errorf("%s to %g:\n%s", c.names, c.reach, m.String())
		}
		s, err := importTables(context.Background(), parse(t, m.String()), in, out, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(s.Remarks), " have no unit"); got != c.asked {
			t.Errorf("%s to %g: %v", c.names, c.reach, s.Remarks)
		}
	}
}

// The width of a servo's pulses is no time, also where it rests between its changes.
func TestPulsesThatRestAreNoTime(t *testing.T) {
	for _, rests := range []int{1, 10, 40} {
		text := "t [s],roll_deg,elevator_us,sent_us\n"
		for i := range 2000 {
			at := 0.01 * float64(i)
			text += fmt.Sprintf("%.2f,%.4f,%d,%d\n", at, math.Sin(at), 1500+int(100*math.Sin(float64(i/rests*7))), 10000*i+5000)
		}
		in, _ := files(t, text)
		var m strings.Builder
		if err := importer.SuggestTable(&m, in[0], nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.String(), "\nname = \"elevator_us\"") || !strings.Contains(m.String(), "\n# name = \"sent_us\"") {
			t.Errorf("changes each %d rows:\n%s", rests, m.String())
		}
	}
}
