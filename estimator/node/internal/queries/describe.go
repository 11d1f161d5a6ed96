package queries

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// describe returns what a planner must know of a model.
func (c *Config) describe(m *model.Model, times []float64, most int64) *wire.ModelInfo {
	info := &wire.ModelInfo{
		Vehicle: c.Vehicle, Model: m.ID, Instance: c.Instance, Layout: wire.Layout(m.Channels),
		ModelHorizon: m.Horizon, Points: m.Points, Horizon: times, MaxPayload: most,
	}
	for i, v := range m.Channels[:m.K+m.P] {
		if i < m.K {
			info.Channels, info.Units = append(info.Channels, v.Name), append(info.Units, channel.CanonicalUnit(v.Unit))
		} else {
			info.InputChannels, info.InputUnits = append(info.InputChannels, v.Name), append(info.InputUnits, channel.CanonicalUnit(v.Unit))
		}
	}
	info.DeadTime, info.Lag = m.Delays()
	if n := len(m.History.Edges); n > 0 {
		info.History = math.Round(m.History.Edges[n-1]*1e9) / 1e9 // the edge is a sum, with its rounding errors
	}
	return info
}
