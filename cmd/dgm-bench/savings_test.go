package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// full returns a pendulum's size of model, all of whose members give a variance.
func full(t *testing.T) *model.Model {
	t.Helper()
	o := artificial.Size{K: 2, P: 1, Features: 10, Points: 40, Horizon: 0.5, Members: 3, Basis: 1}
	m := artificial.New(o, 1)
	for i := range m.Members {
		m.Members[i].Posterior[0].InverseFactor = slices.Clone(m.Members[0].Posterior[0].InverseFactor)
	}
	p := plant.Pendulum()
	m.Channels = p.Channels()
	return m
}

func TestSavingVariants(t *testing.T) {
	m := full(t)
	var names []string
	for _, s := range saversOf(m) {
		names = append(names, s.name)
	}
	want := "nothing: 3 members, variances of 3; variance of one member; and of these at 20 of 40 points; and of these at 10 of 40 points; and of these at 5 of 40 points; one member alone"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if one := with(m, 3, 1); one.Members[1].GivesVariance() || !one.Members[0].GivesVariance() || !m.Members[1].GivesVariance() {
		t.Error("not the members that were asked for, or the model itself is changed")
	}
}

// What is linear between the points that are kept is interpolated exactly; the first
// and the last are kept, and all are others.
func TestInterpolatedVariance(t *testing.T) {
	for _, points := range []int{2, 5, 20, 39} {
		s := saver{m: &model.Model{K: 2}, points: points, dst: new(estimator.Prediction)}
		var std []float64
		for i := range 40 {
			s.dst.Times = append(s.dst.Times, 0.025*float64(i+1))
			std = append(std, 1+s.dst.Times[i], 2-s.dst.Times[i])
		}
		want := slices.Clone(std)
		var kept []int
		for j := range points {
			kept = append(kept, s.kept(j))
		}
		if !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != points || kept[0] != 0 || kept[points-1] != 39 {
			t.Fatalf("points %v", kept)
		}
		for i := range 40 {
			if !slices.Contains(kept, i) {
				std[2*i], std[2*i+1] = 7, 7
			}
		}
		s.interpolate(std)
		for i, v := range std {
			if math.Abs(v-want[i]) > 1e-12 {
				t.Errorf("%d points: number %d is %v, expected %v", points, i, v, want[i])
			}
		}
	}
}

func TestSavingsCommand(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "m.dgm"), filepath.Join(dir, "log.msgpack")
	if err := model.WriteFile(file, full(t)); err != nil {
		t.Fatal(err)
	}
	o := record.Options{Robot: robot.Typical(plant.Pendulum()), Vehicle: "p", Segments: 1, Samples: 400}
	f, err := flightlog.CreateFile(log, o.Header(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Run(context.Background(), o, f.Writer, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string, string) {
		var out, messages bytes.Buffer
		c := savingsStudy().Command()
		c.SetArgs(args)
		c.SetOut(&out)
		c.SetErr(&messages)
		code := cli.Run(context.Background(), c)
		return code, out.String(), messages.String()
	}
	code, out, errs := run("--model", file, "--log", log)
	if code != cli.Done || strings.Count(out, "\n") != 10 || !strings.Contains(out, "64 in a message") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{}, {"--model", file}, {"--model", file, "--log", log, "--stride", "0s"}} {
		if code, _, errs := run(args...); code != cli.Wrong || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
	if code, _, errs := run("--model", file, "--log", file); code != cli.Failed || errs == "" {
		t.Errorf("code %d, %q", code, errs)
	}
}
