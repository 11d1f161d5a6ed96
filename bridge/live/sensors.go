package live

import (
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// sensor is a group of states that a log has in the same samples.
type sensor struct {
	name   string
	states []int
	inputs bool // it is sent with the inputs: the group with the most samples
	seq    uint64
}

// together is the share of the samples of two states in which a log has both, from which on one sensor gives them.
const together = 0.95

// sensors returns the groups of states of a log that are measured in the same samples, each named by its first state.
func sensors(path string) ([]*sensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := flightlog.NewReader(f, path)
	if err != nil {
		return nil, err
	}
	states := channel.Select(r.Header().Channels, channel.State)
	both := make([]float64, len(states)*len(states))
	for rec, err := range r.Records(func(error) {}) {
		if err != nil {
			return nil, err
		}
		if rec.Kind == flightlog.KindSample {
			count(both, rec.X)
		}
	}
	return grouped(states, both), nil
}

// count adds to both (K×K) the pairs of states that a sample has.
func count(both, x []float64) {
	for i, a := range x {
		for j, b := range x {
			if !math.IsNaN(a + b) {
				both[i*len(x)+j]++
			}
		}
	}
}

// grouped returns the groups of states of which a log has so many samples together (K×K).
func grouped(states []channel.Channel, both []float64) (out []*sensor) {
	K := len(states)
	samples := func(i int) float64 { return both[i*K+i] }
	of := make([]*sensor, K)
	for i, c := range states {
		for j := range i {
			if both[i*K+j] > together*math.Max(samples(i), samples(j)) {
				of[i] = of[j]
				break
			}
		}
		if of[i] == nil {
			of[i] = &sensor{name: sensorName(c.Name, out)}
			out = append(out, of[i])
		}
		of[i].states = append(of[i].states, i)
	}
	most := 0
	for i, s := range out {
		if samples(s.states[0]) > samples(out[most].states[0]) {
			most = i
		}
	}
	if len(out) > 0 {
		out[most].inputs = true
	}
	return out
}

// sensorName is a name of a channel with _ for what no name of a sensor may hold, and none that another one has.
func sensorName(channel string, others []*sensor) string {
	out := []rune(channel)
	for i, c := range out {
		if wire.CheckSensor(string(c)) != nil {
			out[i] = '_'
		}
	}
	name := string(out[:min(len(out), 62)])
	if slices.ContainsFunc(others, func(s *sensor) bool { return s.name == name }) {
		name += fmt.Sprintf("_%d", len(others))
	}
	return name
}

// bySensor sends a sample as the messages of the sensors that measured some of it.
func (p *player) bySensor(rec *flightlog.Record) {
	all := p.state
	defer func() { p.state = all }()
	for _, s := range p.sensors {
		measured := false
		p.state.X = p.state.X[:0:0]
		for range rec.X {
			p.state.X = append(p.state.X, math.NaN())
		}
		for _, k := range s.states {
			p.state.X[k] = rec.X[k]
			measured = measured || !math.IsNaN(rec.X[k])
		}
		if !measured {
			continue
		}
		p.state.Sensor, p.state.Seq = s.name, s.seq
		if p.state.U, p.state.Plan, p.state.PlanDt = nil, nil, 0; s.inputs {
			p.state.U, p.state.Plan, p.state.PlanDt = all.U, all.Plan, all.PlanDt
		}
		p.publish()
		s.seq = p.state.Seq
	}
}
