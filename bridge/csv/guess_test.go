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
		0.02: "unit = \"s\" # s, ms, us, ns, min, h or d: guessed from the step: gives rows at 50 Hz\n",
		1:    "GUESSED: gives rows at 1000 Hz; if they come at 1 Hz, write s\n",
		20:   "unit = \"ms\" # s, ms, us, ns, min, h or d: guessed from the step: gives rows at 50 Hz\n",
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

// A suggested map of what recorders and simulators write: a stamp of the sensor is the time beside that of recording, counters that rise
// by other steps than 1 and the index of rows of which some are left out are no states, a flag is none either, and parts of a
// quaternion between other words are an attitude.
func TestSuggestedColumns(t *testing.T) {
	text, err := mapOf(t, rowsOf("%time,field.header.stamp,loopIteration,__index_level_0__,next.done,q_RS_w [],q_RS_x [],q_RS_y [],q_RS_z [],theta,tau", func(i int, a, _, u float64) string {
		ns := 1_700_000_000_000_000_000 + int64(i)*20_000_000
		return fmt.Sprintf("%d,%d,%d,%d,%t,%g,0,0,%g,%g,%g", ns+3_000_000+int64(i*7919%11)*100_000, ns, 4*i, i+i/5, i%100 == 99, math.Cos(a), math.Sin(a), a, u)
	}))
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, text)
	var got []string
	for _, c := range m.Channels {
		got = append(got, c.Name+" "+string(c.Role))
	}
	if roles := strings.Join(got, ", "); m.Time.Column != "field.header.stamp" || roles != "next.done aux, theta state, tau input,  state" || !strings.Contains(text, `columns = ["q_RS_w []", "q_RS_x []", "q_RS_y []", "q_RS_z []"]`) {
		t.Errorf("time %s, %s\n%s", m.Time.Column, roles, text)
	}
}

// Seconds and nanoseconds in two columns without names are the time, as ros2 topic echo --csv prints them.
func TestSuggestedStampsWithoutNames(t *testing.T) {
	table := rowsOf("1700000000,0,base,1,0", func(i int, a, _, u float64) string {
		ms := 20 * (i + 1)
		return fmt.Sprintf("%d,%d,base,%g,%g", 1_700_000_000+ms/1000, ms%1000*1_000_000, a, u)
	})
	log, s, text := suggested(t, "", table)
	if s.Rows != 301 || s.Duration != 6e9 || log.Segments[0].T[0] != 1_700_000_000e9 {
		t.Errorf("%d rows, %d ns\n%s", s.Rows, s.Duration, text)
	}
}

// A recording that is given twice counts twice, which is said; seconds and microseconds with capitals are one time.
func TestRecordingTwice(t *testing.T) {
	table := rowsOf("TimeSec,TimeUSec,theta,tau", func(i int, a, _, u float64) string {
		ms := 20 * i
		return fmt.Sprintf("%d,%d,%g,%g", 1_700_000_000+ms/1000, ms%1000*1000, a, u)
	})
	log, s, _ := suggested(t, "", table, table)
	if said := strings.Join(s.Texts(), "\n"); !strings.Contains(said, "t1.csv is the same recording as t0.csv") || strings.Contains(said, "spread") || log.Segments[0].T[1] != 1_700_000_000_020_000_000 {
		t.Error(said)
	}
	if _, s, _ := suggested(t, "", table, table[:len(table)-2]+"1\n"); strings.Contains(strings.Join(s.Texts(), "\n"), "same recording") {
		t.Error(s.Texts())
	}
}

// Times of messages that overtake each other fall often, and are another time beside the stamps, no state; a state that is called so and
// does not go on with the time is one.
func TestTimesThatFallOften(t *testing.T) {
	text, err := mapOf(t, rowsOf("recv_time,header_stamp,time_constant,theta,tau", func(i int, a, b, u float64) string {
		s := 1.7e9 + 0.02*float64(i)
		return fmt.Sprintf("%.6f,%.6f,%.4f,%g,%g", s+0.04*math.Mod(float64(i)*0.618, 1), s, 0.1+0.01*math.Sin(a+b), a, u)
	}))
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, text)
	var got []string
	for _, c := range m.Channels {
		got = append(got, c.Name)
	}
	if names := strings.Join(got, ", "); m.Time.Column != "header_stamp" || names != "time_constant, theta, tau" {
		t.Errorf("time %s, %s\n%s", m.Time.Column, names, text)
	}
}
