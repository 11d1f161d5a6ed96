package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
)

// One unusable log of a job is left out with its reason, and the others are trained on: another robot's, one without a column, one that
// is there under another name, one that is no log.
func TestUnusableLogsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	both := []channel.Channel{{Name: "theta", Unit: "rad", Role: channel.State}, {Name: "omega", Unit: "rad/s", Role: channel.State}}
	path := func(name string) string { return filepath.Join(dir, name+".msgpack") }
	write := func(name, vehicle string, channels []channel.Channel, phase float64) {
		t.Helper()
		f, err := flightlog.CreateFile(path(name), flightlog.Header{Vehicle: vehicle, Channels: channels})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Abort()
		if err := f.BeginSegment("1", nil); err != nil {
			t.Fatal(err)
		}
		for i := range 1500 {
			s := 0.01 * float64(i)
			x := []float64{math.Sin(3*s + phase), 3 * math.Cos(3*s+phase)}
			if err := f.Sample(int64(i+1)*10e6, x[:len(channels)], nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	write("without", "v1", both[:1], 0) // the first one: what most logs have counts
	write("a", "v1", both, 0)
	write("b", "v1", both, 1)
	write("again", "v1", both, 1)
	write("other", "v2", both, 2)
	job := fleet.Training{Job: fleet.Job{Vehicle: "v1"}}
	for _, name := range []string{"without", "a", "b", "again", "other", "absent"} {
		job.Logs = append(job.Logs, path(name))
	}
	var lines []string
	job.Log = func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	all, err := readable(job, trainer.Default())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, log := range all {
		names = append(names, strings.TrimSuffix(filepath.Base(log.Path), ".msgpack"))
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("trained on %v, expected a and b; lines %q", names, lines)
	}
	for _, part := range []string{"without", "same samples", "v2", "absent"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "left out: ") && strings.Contains(l, part) }) {
			t.Errorf("no line says %q: %q", part, lines)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines, expected one for each log that is left out: %q", len(lines), lines)
	}
	if _, err := trainer.Load(all, trainer.Default()); err != nil {
		t.Error(err)
	}
}
