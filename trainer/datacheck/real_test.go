package datacheck

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

func TestGoodDataOfRealLogsAreNotExcluded(t *testing.T) {
	t.Parallel()
	logs := map[string]*flightlog.Log{
		"single": pendulum(t, 1), "double": pendulum(t, 2), "energy shaping": torque(t, "energy_shaping", 15.9),
	}
	for _, name := range []string{"ddp", "direct_collocation", "pd_system_identification"} {
		logs[name] = torque(t, name, 99)
	}
	for _, f := range flights {
		logs[f] = flight(t, f, 5, 35.5)
	}
	for name, l := range logs {
		r := Check(l, Options{Horizon: 0.5})
		for s := range l.Segments {
			if len(leftOut(r, s)) > 0 {
				t.Errorf("%s: good data is left out:%s", name, describe(r))
			}
		}
		if len(r.Problems) > 4 {
			t.Errorf("%s: too many notes:%s", name, describe(r))
		}
	}
}

// The pendulum is thrown by hand 16 s into this recording.
func TestOutsideForceIsFound(t *testing.T) {
	r := Check(torque(t, "energy_shaping", 99), Options{Horizon: 0.5})
	p := find(r, Outlier)
	if len(p) != 1 || p[0].Channel != "velocity" || p[0].From > 16.0 || p[0].To < 16.1 || p[0].From < 15.7 || p[0].To > 16.5 {
		t.Errorf("want one outlier of velocity around 16.0-16.2 s, got%s", describe(r))
	}
}

// Whole flights end with samples that were extrapolated after the radio fell silent.
func TestExtrapolatedTailsOfRealFlights(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]float64{"B3_figure8_fast_rep2": 42.03, "B5_helix_fast_rep3": 42.05, "B7_oval_medium_rep3": 42.2} {
		l := flight(t, name, 0, 99)
		r := Check(l, Options{Horizon: 0.5})
		tails := map[string]bool{}
		for _, p := range find(r, Outlier) {
			if strings.Contains(p.Text, "exact straight line at the end") && math.Abs(p.From-from) < 0.05 {
				tails[p.Channel] = true
			}
		}
		for _, c := range []string{"x", "vx", "roll", "gyro_x", "gyro_z"} {
			if !tails[c] {
				t.Errorf("%s: the extrapolated tail of %s is not found", name, c)
			}
		}
		if n := len(l.Segments[0].T); !covers(Ranges(r.Masks[0], BadSpan), n-5, n) {
			t.Errorf("%s: the tail is not left out: %v", name, Ranges(r.Masks[0], BadSpan))
		}
	}
}

func covers(ranges [][2]int, i, j int) bool {
	for _, r := range ranges {
		if r[0] <= i && r[1] >= j {
			return true
		}
	}
	return false
}
