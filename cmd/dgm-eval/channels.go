package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// places returns where the channels that are wanted are among the others of their role; −1 for one that is missing and
// estimated. Another one that is missing, or has another role or unit, is an error.
func places(want, have []channel.Channel) ([]int, error) {
	var out []int
	for _, c := range want {
		i := channel.Index(have, c.Name)
		if i < 0 && c.Estimated {
			out = append(out, -1)
			continue
		}
		if i < 0 {
			return nil, fmt.Errorf("channel %q is missing", c.Name)
		}
		if err := channel.SameLayout([]channel.Channel{c}, have[i:i+1]); err != nil {
			return nil, err
		}
		out = append(out, channel.Index(channel.Select(have, c.Role), c.Name))
	}
	return out, nil
}

// keepChannels keeps the states and inputs of a log that are wanted, in their order, and returns the names of the others.
// Estimated ones that the log has not are not measured.
func keepChannels(want []channel.Channel, log *flightlog.Log) (leftOut []string, err error) {
	at, err := places(want, log.Channels)
	if err != nil {
		return nil, err
	}
	states, inputs := channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input)
	for _, c := range slices.Concat(states, inputs) {
		if channel.Index(want, c.Name) < 0 {
			leftOut = append(leftOut, c.Name)
		}
	}
	K := len(channel.Select(want, channel.State))
	for i := range log.Segments {
		seg := &log.Segments[i]
		seg.X, seg.X0 = columns(seg.X, len(states), at[:K]), columns(seg.X0, len(states), at[:K])
		seg.U = columns(seg.U, len(inputs), at[K:])
		for j := range seg.Plans {
			seg.Plans[j].U = columns(seg.Plans[j].U, len(inputs), at[K:])
		}
	}
	// The model's description of the channels (periods above all) holds.
	log.Channels = want
	return leftOut, nil
}

// columns returns the columns at some places of a matrix with rows of a width, row-major; NaN at −1.
func columns(rows []float64, width int, at []int) []float64 {
	if width == 0 || len(rows) == 0 {
		return nil
	}
	out := make([]float64, 0, len(rows)/width*len(at))
	for i := 0; i < len(rows); i += width {
		for _, k := range at {
			if k < 0 {
				out = append(out, math.NaN())
				continue
			}
			out = append(out, rows[i+k])
		}
	}
	return out
}

// commonStates returns the states that all models have, by name and unit, and those of one
// model or more that are left out.
func commonStates(models []*model.Model) (common, leftOut []string) {
	for _, m := range models {
		for _, c := range m.Channels[:m.K] {
			missing := slices.ContainsFunc(models, func(o *model.Model) bool {
				_, err := places([]channel.Channel{c}, o.Channels)
				return err != nil
			})
			list := &common
			if missing {
				list = &leftOut
			}
			if !slices.Contains(*list, c.Name) {
				*list = append(*list, c.Name)
			}
		}
	}
	return common, leftOut
}

// quoted lists names for a message.
func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
