package main

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/derivative"
)

// Joints in degrees with rates in radians are one warning, in words, with the keys that convert them.
func TestUnitsOfJointsAreOneWarning(t *testing.T) {
	degrees, none := derivative.Units{Channel: "degrees", Derivative: "radians per second"}, derivative.Units{}
	all := nearRemarks([]derivative.Found{
		{Channel: "q_1", Derivative: "w_1", Slope: 57.3, Units: degrees}, {Channel: "x", Derivative: "vx", Slope: 1.4, Units: none}, {Channel: "q_2", Derivative: "w_2", Slope: 57.2, Units: degrees},
	})
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	const text = `q_1, q_2 seem to be in degrees, and w_1, w_2 in radians per second: by the data q_1 changes 57.3 times as fast as w_1 says, and no derivative is declared`
	const remedy = `if they are, write unit = "rad" and from = "deg" for q_1, q_2, and unit = "rad/s" for w_1, w_2`
	if all[0].Text != text || all[0].Remedy != remedy || !strings.Contains(all[1].Text, "perhaps vx") {
		t.Errorf("%+v", all)
	}
}
