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

// erase takes values out of a log that the estimator would refuse in flight as too
// large to be predicted from: they count as not measured. For each channel it tells
// how many there are and where the first one stands.
func erase(m *model.Model, log *flightlog.Log, messages io.Writer) {
	for k, c := range m.Channels {
		scale, width, column := 0., m.K, k
		if k < m.K {
			scale = m.Scale[k]
		} else {
			width, column = m.P, k-m.K
			scale = m.Inputs.InputStd[column]
		}
		count, first := 0, ""
		for s := range log.Segments {
			seg := &log.Segments[s]
			values := seg.X
			if k >= m.K {
				values = seg.U
			}
			for i := range seg.T {
				v := &values[i*width+column]
				if math.IsNaN(*v) || math.IsInf(*v, 0) || !wire.Coarse(*v, scale) {
					continue
				}
				if count++; first == "" {
					first = fmt.Sprintf("segment %d (%q) at %.3f s: %s is %g", s+1, seg.Name, float64(seg.T[i]-seg.T[0])*1e-9, c.Name, *v)
				}
				*v = math.NaN()
			}
		}
		if count > 0 {
			fmt.Fprintf(messages, "warning: %s: %s; what is so large (%s of %s) counts as not measured: correct the log or its import\n",
				log.Path, first, cli.Count(count, "value"), c.Name)
		}
	}
}
