package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Rows ahead of the data are names, units, descriptions, and the first of two levels of names; what has a date is data.
func TestRowsAheadOfTheData(t *testing.T) {
	for _, c := range []struct{ head, names, units string }{
		{"time,theta,tau", "theta tau", " "},
		{"time,theta,tau\ns,rad,Nm", "theta tau", "rad N·m"},
		{"s,rad,Nm\ntime,theta,tau", "theta tau", "rad N·m"},
		{"time,theta,tau\n,angle,motor\ns,rad,N m", "theta tau", "rad N·m"},
		{"time,theta,tau\ns,rad,N m\nelapsed,angle of the joint,torque of the motor", "theta tau", "rad N·m"},
		{"meta,state,state\ntime,theta,tau", "theta tau", " "},
		{",Joint,\ntime,theta,tau", "theta tau", " "},
		{"time,theta,tau\nsec,wraps,blinks", "theta tau", "wraps blinks"},
		{"t,v,a\ns,m/s,m/s^2", "v", "m/s"},
		{",left,right\n,theta,theta\ntime,,", "left theta right theta", " "}, // of pandas, with the name of the index
	} {
		text, err := mapOf(t, rowsOf(c.head, func(i int, a, _, u float64) string { return fmt.Sprintf("%.2f,%g,%g", 0.02*float64(i), a, u) }))
		if err != nil {
			t.Errorf("%q: %v", c.head, err)
			continue
		}
		var names, units []string
		for _, ch := range parse(t, text).Channels {
			names, units = append(names, ch.Name), append(units, channel.CanonicalUnit(ch.Unit))
		}
		if strings.Join(names, " ") != c.names || strings.Join(units, " ") != c.units {
			t.Errorf("%q: names %q, units %q", c.head, names, units)
		}
	}
	_, s, _ := suggested(t, "", rowsOf("time,theta,tau\n2026-03-05T12:29:59.98,,", func(i int, a, _, u float64) string {
		return fmt.Sprintf("2026-03-05T12:30:%05.2f,%g,%g", 0.02*float64(i), a, u)
	}))
	if s.Rows != 301 {
		t.Errorf("%d rows", s.Rows)
	}
}

// Names that are alike have ahead what distinguishes them in the rows above: the names of several bodies, of their rotation and their
// position, or of cells that are merged. A row of numbers among these is none of data.
func TestNamesOfLevels(t *testing.T) {
	for _, c := range []struct{ head, names string }{
		{",Type,Body,Body,Body,Body\n,Name,arm,arm,arm,arm\n,ID,7,7,7,7\n,,Rotation,Rotation,Position,Position\nFrame,Time (Seconds),X,Y,X,Y", "Rotation X, Rotation Y, Position X, Position Y"},
		{"take 3\n,,arm,,base,\nFrame,Time,X,Y,X,Y\n,s,m,m,m,m", "arm X, arm Y, base X, base Y"},
	} {
		text, err := mapOf(t, rowsOf(c.head, func(i int, a, w, u float64) string {
			return fmt.Sprintf("%d,%.2f,%g,%g,%g,%g", i, 0.02*float64(i), a, w, u, a*w)
		}))
		if err != nil {
			t.Errorf("%q: %v", c.head, err)
			continue
		}
		m := parse(t, text)
		var names []string
		for _, ch := range m.Channels {
			names = append(names, ch.Name)
		}
		if strings.Join(names, ", ") != c.names || !strings.HasPrefix(m.Time.Column, "Time") {
			t.Errorf("%q: names %q, time %q", c.head, names, m.Time.Column)
		}
	}
}
