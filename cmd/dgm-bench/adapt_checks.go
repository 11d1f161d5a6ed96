package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// checkLog writes the comparisons of live trust, without adaptation, to a table.
type checkLog struct {
	path string // "" = nowhere
	file *os.File
	runs int
	err  error
}

// options are adaptOptions of flights whose comparisons are written, under the name of a set and a change.
func (l *checkLog) options(m *model.Model, lead []window.Flight, set, change string) evaluate.Options {
	opt := adaptOptions(m, lead)
	if l.path == "" {
		return opt
	}
	if l.file == nil {
		if l.file, l.err = os.Create(l.path); l.err != nil {
			return opt
		}
		fmt.Fprintln(l.file, "run,set,change,bucket,channel,made,at,z,factor,separate")
	}
	l.runs++
	run := l.runs
	opt.Checked = func(c trust.Check) {
		_, err := fmt.Fprintf(l.file, "%d,%s,%s,%d,%d,%d,%d,%.6g,%.6g,%t\n", run, set, change, c.Bucket, c.Channel, c.Made, c.At, c.Z, c.Published, c.Separate)
		l.err = errors.Join(l.err, err)
	}
	return opt
}

// adaptOptions returns six horizons of a model's, after a lead.
func adaptOptions(m *model.Model, lead []window.Flight) evaluate.Options {
	opt := evaluate.Options{Lead: lead}
	for _, part := range []float64{0.04, 0.1, 0.24, 0.4, 0.68, 1} {
		opt.Horizons = append(opt.Horizons, part*m.Horizon)
	}
	return opt
}
