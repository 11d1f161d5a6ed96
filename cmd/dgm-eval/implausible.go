package main

import (
	"fmt"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// eraseImplausible replaces by NaN the values of a log that the estimator refuses on the
// robot as too large to predict from. For each channel it prints their number and the
// place of the first one.
func eraseImplausible(m *model.Model, log *flightlog.Log, messages io.Writer) {
	for k, c := range m.Channels {
		count, first := 0, ""
		for s := range log.Segments {
			seg := &log.Segments[s]
			values, width, column, scale := seg.X, m.K, k, 0.0
			if k < m.K {
				scale = m.Scale[k]
			} else {
				values, width, column = seg.U, m.P, k-m.K
				scale = m.Inputs.InputStd[column]
			}
			for i := column; i < len(values); i += width {
				v := values[i]
				if math.IsNaN(v) || math.IsInf(v, 0) || !wire.Coarse(v, scale) {
					continue
				}
				if count++; count == 1 {
					first = fmt.Sprintf("segment %d (%q) at %.3f s: %s is %g", s+1, seg.Name, float64(seg.T[i/width]-seg.T[0])*1e-9, c.Name, v)
				}
				values[i] = math.NaN()
			}
		}
		if count > 0 {
			fmt.Fprintf(messages, "warning: %s: %s; such implausible values (%s of %s) count as not measured: correct the log or its import\n",
				log.Path, first, cli.Count(count, "value"), c.Name)
		}
	}
}
