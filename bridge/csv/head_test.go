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
