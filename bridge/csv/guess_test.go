package csv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A unit that is guessed is shown as the rate that it makes; a step of 1 may be of a fast logger or of a slow plant, and the map says so.
func TestGuessedUnits(t *testing.T) {
	for step, want := range map[float64]string{
		0.02: "unit = \"s\" # s, ms, us, ns, min, h or d: guessed from the step, so that rows come at 50 Hz\n",
		1:    "GUESSED, so that rows come at 1000 Hz; if they come at 1 Hz, write s\n",
		20:   "unit = \"ms\" # s, ms, us, ns, min, h or d: guessed from the step, so that rows come at 50 Hz\n",
	} {
		table := "t,y\n"
		for i := range 60 {
			table += fmt.Sprintf("%g,%g\n", step*float64(i), math.Sin(float64(i)/9))
		}
		if b := suggestion(t, table); !strings.Contains(b, want) {
			t.Errorf("every %v: no %q in\n%s", step, want, b)
		}
	}
}
