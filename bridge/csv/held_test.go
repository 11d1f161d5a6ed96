package csv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Columns that are filled in rows of their own are joined, those that another table has as well;
// what stays for several rows is measured once.
func TestSparseAndHeld(t *testing.T) {
	sparse := rowsOf("time,theta,omega,tau", func(i int, a, b, c float64) string {
		at := 0.02 * float64(i)
		return fmt.Sprintf("%g,%g,,\n%g,,%g,\n%g,,,%g", at, a, at+0.002, b, at+0.004, c)
	})
	log, s, text := suggested(t, "", sparse)
	if s.Rows != 300 || s.Segments != 1 || len(log.Channels) != 3 || !strings.Contains(strings.Join(s.Texts(), "\n"), "they were joined like topics") {
		t.Errorf("%d rows\n%s%q", s.Rows, text, s.Texts())
	}
	held := rowsOf("time,theta,omega,tau", func(i int, _, _, c float64) string {
		a, b, _ := swing(0.02 * float64(i/3*3))
		return fmt.Sprintf("%g,%g,%g,%g", 0.02*float64(i), a, b, c)
	})
	log, s, _ = suggested(t, "", held)
	if s.Channels[0].Samples != 100 || s.Channels[2].Samples != 300 || math.IsNaN(log.Segments[0].X[0]) || !math.IsNaN(log.Segments[0].X[2]) {
		t.Errorf("%+v, %v", s.Channels, log.Segments[0].X[:8])
	}
	if _, s, _ = suggested(t, "keep_held = true\n", held); s.Channels[0].Samples != 300 {
		t.Errorf("%+v", s.Channels)
	}
	// Values may stay for 2 to 6 rows; those of a coarse sensor differ by its resolution.
	begins := []int{0, 2, 5, 9, 14, 20, 23, 26, 30}
	uneven := func(resolution float64) string {
		return rowsOf("time,theta,omega,tau", func(i int, _, b, c float64) string {
			from := 0
			for _, k := range begins {
				if k <= i%32 {
					from = i/32*32 + k
				}
			}
			a, _, _ := swing(0.02 * float64(from))
			if resolution > 0 {
				a = resolution * float64(from%2)
			}
			return fmt.Sprintf("%g,%g,%g,%g", 0.02*float64(i), a, b, c)
		})
	}
	if _, s, _ = suggested(t, "", uneven(0)); s.Channels[0].Samples != 85 || s.Channels[1].Samples != 300 {
		t.Errorf("uneven: %+v", s.Channels)
	}
	if _, s, _ = suggested(t, "", uneven(0.1)); s.Channels[0].Samples != 300 {
		t.Errorf("a coarse sensor: %+v", s.Channels)
	}
	// Nor is what moves by the resolution of its sensor every row or two.
	for _, resolution := range []float64{0.02, 0.025, 0.03, 0.04} {
		coarse := rowsOf("time,theta,omega,tau", func(i int, a, b, c float64) string {
			return fmt.Sprintf("%g,%g,%g,%g", 0.02*float64(i), resolution*math.Round(a/resolution), b, c)
		})
		if _, s, _ = suggested(t, "", coarse); s.Channels[0].Samples != 300 {
			t.Errorf("a resolution of %g: %+v", resolution, s.Channels)
		}
	}
	// An encoder that stands still now and then is not held.
	steps := rowsOf("time,theta,omega,tau", func(i int, a, b, c float64) string {
		return fmt.Sprintf("%g,%.2f,%g,%g", 0.02*float64(i), 0.1*a, b, c)
	})
	if _, s, _ = suggested(t, "", steps); s.Channels[0].Samples != 300 {
		t.Errorf("%+v", s.Channels)
	}
}

// Rows that are a minute apart by their dates are a slow process, in no other unit.
func TestDatesOfASlowProcess(t *testing.T) {
	text := "datetime,level,heater\n"
	for i := range 200 {
		text += fmt.Sprintf("2024-03-01 %02d:%02d,%.4f,%d\n", i/60, i%60, 20+math.Sin(0.1*float64(i)), i/20%2)
	}
	if log, s, text := suggested(t, "", text); s.Rows != 200 || s.Duration != 199*60e9 || !strings.Contains(text, "column = \"heater\"\nrole = \"input\"") {
		t.Errorf("%d rows, %d ns, %v\n%s", s.Rows, s.Duration, log.Channels, text)
	}
}

// A table in an encoding of East Asia is refused with what to do; its names cannot be read.
func TestOtherEncodings(t *testing.T) {
	shiftJIS := rowsOf("\x8e\x9e\x8a\xd4[s],\x8ap\x93x[rad],u", func(i int, a, _, u float64) string { return fmt.Sprintf("%g,%g,%g", 0.02*float64(i), a, u) })
	if _, err := mapOf(t, shiftJIS); err == nil || !strings.Contains(err.Error(), "save the table in UTF-8") {
		t.Error(err)
	}
}
