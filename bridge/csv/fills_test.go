package csv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Numbers that stand for what was not measured are not measured: nines, the ends of integers, powers of ten, again and
// again and far from all other values. A value that occurs once, one among the others, and a level are measured.
func TestNumbersForNothing(t *testing.T) {
	for _, c := range []struct {
		every int // rows
		v     string
		scale float64 // of the other values
		fill  bool
	}{
		{17, "-999", 1, true}, {17, "9999", 1, true}, {17, "-99.99", 1, true}, {17, "65535", 1, true}, {17, "-32768", 1, true}, {17, "1e+20", 1, true}, {17, "-3.4028234663852886e+38", 1, true},
		{299, "-999", 1, false}, {17, "-999", 600, false}, {17, "-500", 1, false}, {17, "40", 1, false},
	} {
		table := rowsOf("time,theta,omega,tau", func(i int, a, w, u float64) string {
			theta := fmt.Sprint(c.scale * a)
			if i%c.every == 5 {
				theta = c.v
			}
			return fmt.Sprintf("%.2f,%s,%g,%g", 0.02*float64(i), theta, w, u)
		})
		log, s, _ := suggested(t, "", table)
		text := strings.Join(s.Texts(), "\n")
		if said := strings.Contains(text, "theta: the placeholder "+c.v+", in 18 of 300 values"); said != c.fill || c.fill && strings.Contains(text, "alternate") {
			t.Errorf("%s every %d rows: %s", c.v, c.every, text)
		}
		for i := range 300 {
			if x := log.Segments[0].X[2*i]; math.IsNaN(x) != (c.fill && i%c.every == 5) {
				t.Fatalf("%s every %d rows: row %d is %g", c.v, c.every, i, x)
			}
		}
	}
	_, s, _ := suggested(t, "", rowsOf("time,theta,throttle", func(i int, a, _, _ float64) string {
		return fmt.Sprintf("%.2f,%g,%d", 0.02*float64(i), a, 999*(i/30%2))
	}))
	if text := strings.Join(s.Texts(), "\n"); strings.Contains(text, "stands for") {
		t.Error(text)
	}
}
