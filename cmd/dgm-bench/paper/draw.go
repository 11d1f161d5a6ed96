package paper

import (
	"fmt"
	"path/filepath"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// shown is how many trajectories of the data, and how many unseen ones, are drawn.
const shown = 3

func drawTrajectories(dir string, k study.Key, f forecast) error {
	s := named(k.Set)
	d, on, err := s.both(k.Seed)
	if err != nil {
		return err
	}
	var of []int
	var starts [][]float64
	for i := range min(shown, len(s.starts)) {
		j := i * (len(s.starts) - 1) / max(1, min(shown, len(s.starts))-1)
		of, starts = append(of, j), append(starts, s.starts[j])
	}
	known, err := s.along(starts, on.times)
	if err != nil {
		return err
	}
	training := known.predict(d.K, f)
	var unseen []score.Trajectory
	if !s.single() {
		unseen = on.predict(d.K, f)[:shown]
	}
	var rows [][]plot.Chart
	for c := range d.K {
		left := bands(s, c, on.times, training)
		left.Title = s.plant.States[c].Name + ": of the data"
		dots := plot.Line{Name: "observed", Color: plot.Measured, Dots: true}
		for _, j := range of {
			tr := &d.Trajectories[j]
			for i, t := range tr.T {
				dots.X, dots.Y = append(dots.X, t), append(dots.Y, tr.Y[i*d.K+c])
			}
		}
		left.Lines = append(left.Lines, dots)
		if unseen == nil && c%2 == 1 { // two states side by side
			rows[c/2] = append(rows[c/2], left)
			continue
		}
		row := []plot.Chart{left}
		if unseen != nil {
			right := bands(s, c, on.times, unseen)
			right.Title = s.plant.States[c].Name + ": unseen"
			row = append(row, right)
		}
		rows = append(rows, row)
	}
	if d.K == 2 && !s.single() {
		rows = append(rows, []plot.Chart{placement(s, on)})
	}
	svg, err := plot.Sheet(s.label, "mean and 95 % intervals; the truth is dashed", rows)
	if err != nil {
		return fmt.Errorf("trajectories: %w", err)
	}
	return durable.WriteFile(trajectoriesFile(dir, k), svg)
}

// bands draws one channel of predicted trajectories.
func bands(s *set, c int, times []float64, trs []score.Trajectory) plot.Chart {
	k := len(s.plant.States)
	colors := []plot.Color{plot.Model, plot.Alert, plot.Linear}
	out := plot.Chart{XLabel: "time, s", YLabel: plot.WithUnit(s.plant.States[c].Name, s.plant.States[c].Unit)}
	for j, tr := range trs {
		mean, truth := plot.Line{X: times, Color: colors[j%3]}, plot.Line{X: times, Color: plot.Measured, Dash: "5 3", Width: 1}
		band := plot.Ribbon{X: times, Color: colors[j%3], Opacity: 0.25}
		for i := range times {
			m, sd := tr.Mean[i*k+c], tr.Std[i*k+c]
			mean.Y, truth.Y = append(mean.Y, m), append(truth.Y, tr.Truth[i*k+c])
			band.Low, band.High = append(band.Low, m-score.Z95*sd), append(band.High, m+score.Z95*sd)
		}
		out.Ribbons, out.Lines = append(out.Ribbons, band), append(out.Lines, mean, truth)
	}
	return out
}

// placement draws where a system of two states starts: of the data, and unseen.
func placement(s *set, on *trial) plot.Chart {
	of := func(name string, color plot.Color, starts [][]float64) plot.Line {
		l := plot.Line{Name: name, Color: color, Dots: true}
		for _, x := range starts {
			l.X, l.Y = append(l.X, x[0]), append(l.Y, x[1])
		}
		return l
	}
	return plot.Chart{
		Title: "Starts", XLabel: s.plant.States[0].Name, YLabel: s.plant.States[1].Name, XMin: 0.45, XMax: 1.55, Height: 330,
		Lines: []plot.Line{of("of the data", plot.Hold, s.starts), of("unseen", plot.Alert, on.starts)},
	}
}

func drawRollouts(file string, s *set, on *trial, closed []score.Trajectory, all [][]float64) error {
	K := len(s.plant.States)
	var rows [][]plot.Chart
	for c := range K {
		chart := bands(s, c, on.times, closed)
		for _, x := range all {
			l := plot.Line{X: on.times, Color: plot.Velocity, Width: 0.8, Fade: 0.6}
			for i := range on.times {
				l.Y = append(l.Y, x[i*K+c])
			}
			chart.Lines = append(chart.Lines, l)
		}
		if c%2 == 0 {
			rows = append(rows, nil)
		}
		rows[c/2] = append(rows[c/2], chart)
	}
	svg, err := plot.Sheet(s.label+": sampled trajectories", "orange: one ε each; blue: mean and 95 % intervals in closed form; the truth is dashed", rows)
	if err != nil {
		return err
	}
	return durable.WriteFile(file, svg)
}

func trajectoriesFile(dir string, k study.Key) string {
	return filepath.Join(dir, "trajectories-"+k.String()+".svg")
}
