package live

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/export"
	"github.com/dgm-robotics/dgm/bridge/foxglove"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// ViewConfig describes what is shown.
type ViewConfig struct {
	Vehicle  string            // (optional) one vehicle; defaults to all
	Channels []channel.Channel // (optional) states and inputs of the vehicles; else states get their names by the first prediction
	Horizons int               // (optional) how many points of a horizon are shown; defaults to 3
}

// View hands states, estimates and predictions from NATS to the clients of a server until the
// context ends. States are topics /dgm/<vehicle>/state and …/input, what a filter makes of them is …/estimate,
// with its band, and its NIS and outliers …/filter; predictions are /dgm/<vehicle>/predict/<how far ahead>. A band is sent when the time that it is
// about has come, so that it covers what is measured then.
func View(ctx context.Context, nc *nats.Conn, server *foxglove.Server, c ViewConfig) error {
	vehicle := cmp.Or(c.Vehicle, "*")
	if err := wire.CheckVehicle(vehicle); c.Vehicle != "" && err != nil {
		return err
	}
	c.Horizons = cmp.Or(c.Horizons, 3)
	v := &viewer{c: c, server: server, vehicles: map[string]*seen{}}
	messages := make(chan *nats.Msg, queue)
	for _, subject := range []string{wire.StateSubject(vehicle), wire.PredictSubject(vehicle), wire.EstimateSubject(vehicle)} {
		sub, err := nc.ChanSubscribe(subject, messages)
		if err != nil {
			return err
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection ends with the caller anyway
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(v.next()):
		case m := <-messages:
			switch kind, name, _ := strings.Cut(strings.TrimPrefix(m.Subject, "dgm."), "."); kind {
			case "state":
				v.state(name, m.Data)
			case "estimate":
				v.estimated(name, m.Data)
			default:
				v.predicted(name, m.Data)
			}
		}
		v.due()
	}
}

// What is kept.
const (
	maxVehicles = 64
	maxWaiting  = 1 << 14 // bands whose time has not come
)

// patience is how long states wait for a prediction that names their channels.
const patience = 2 * time.Second

// viewer shows what it receives.
type viewer struct {
	c        ViewConfig
	server   *foxglove.Server
	vehicles map[string]*seen
	waiting  []band // by their times
	pred     wire.Prediction
	estimate wire.Estimate
	msg      wire.State
}

// seen is a vehicle.
type seen struct {
	K, P         int
	names        []string
	units        []string
	inputs       []string
	state, input *topic
	estimate     *topic
	filter       *topic
	predict      map[int64]*topic // by horizon, ns
	shift        int64            // ns: this computer's clock − the vehicle's, at the shortest delay
	known        bool             // shift is
	since        time.Time        // of its first message
}

// topic is a series with its channel.
type topic struct {
	export.Series
	id int
}

func (v *viewer) add(s export.Series) *topic {
	name, encoding, text := s.Schema(export.JSON)
	return &topic{s, v.server.Add(foxglove.Channel{Topic: s.Topic, Encoding: "json", SchemaName: name, SchemaEncoding: encoding, Schema: text})}
}

func (v *viewer) vehicle(name string) *seen {
	s := v.vehicles[name]
	if s == nil && len(v.vehicles) < maxVehicles {
		s = &seen{predict: map[int64]*topic{}, since: time.Now()}
		for _, c := range v.c.Channels {
			switch c.Role {
			case channel.State:
				s.names, s.units = append(s.names, c.Name), append(s.units, c.Unit)
			case channel.Input:
				s.inputs = append(s.inputs, c.Name)
			}
		}
		v.vehicles[name] = s
	}
	return s
}

func (v *viewer) state(name string, data []byte) {
	s := v.vehicle(name)
	if s == nil {
		return
	}
	if s.K == 0 {
		K, P, err := sizes(&v.msg, data)
		if err != nil {
			return
		}
		s.K, s.P = K, P
	}
	if v.msg.Decode(data, s.K, s.P) != nil || v.msg.T < 0 {
		return
	}
	v.meet(s, v.msg.T)
	if s.state == nil {
		// Names come with the first prediction; without an estimator there is none.
		if len(s.names) != s.K {
			if time.Since(s.since) < patience {
				return
			}
			s.names, s.units = channel.Names(invented(s.K, 0)), make([]string, s.K)
		}
		s.state = v.add(export.Series{Topic: "/dgm/" + name + "/state", Kind: "State." + name, Fields: s.names, Units: s.units})
		if s.P > 0 {
			if len(s.inputs) < s.P {
				s.inputs = append(s.inputs, channel.Names(invented(0, s.P)[len(s.inputs):])...)
			}
			s.input = v.add(export.Series{Topic: "/dgm/" + name + "/input", Kind: "Input." + name, Fields: s.inputs[:s.P], Units: make([]string, s.P)})
		}
	}
	v.server.Send(s.state.id, v.msg.T+s.shift, s.state.Encode(nil, export.JSON, v.msg.T, v.msg.T, v.msg.X))
	if s.input != nil && len(v.msg.U) == s.P {
		v.server.Send(s.input.id, v.msg.T+s.shift, s.input.Encode(nil, export.JSON, v.msg.T, v.msg.T, v.msg.U))
	}
}

// meet learns how far a vehicle's clock is from this computer's. Where they agree
// but for a delay, messages keep their own times.
func (v *viewer) meet(s *seen, t int64) {
	shift := time.Now().UnixNano() - t
	if !s.known || shift < s.shift {
		s.known = true
		if s.shift = shift; shift > -1e9 && shift < 1e9 {
			s.shift = 0
		}
	}
}

// estimated sends what a filter makes of a state. Where a robot sends what it measures alone, its states get their names by
// that.
func (v *viewer) estimated(name string, data []byte) {
	s, e := v.vehicle(name), &v.estimate
	if s == nil || e.Decode(data) != nil || len(e.Channels) == 0 || e.T < 0 {
		return
	}
	v.meet(s, e.T)
	if s.state == nil && s.K == len(e.Sensors) {
		s.names, s.units = slices.Clone(e.Sensors), nil
		for _, c := range e.Sensors {
			s.units = append(s.units, e.Units[max(0, slices.Index(e.Channels, c))])
		}
	}
	if s.estimate == nil {
		s.estimate = v.add(export.Series{Topic: "/dgm/" + name + "/estimate", Kind: "Estimate." + name, Fields: slices.Clone(e.Channels), Units: slices.Clone(e.Units), Band: true})
		s.filter = v.add(export.Series{Topic: "/dgm/" + name + "/filter", Kind: "Filter." + name, Fields: []string{"nis", "rejected"}, Units: []string{"", ""}})
	}
	K := len(e.Channels)
	if len(s.estimate.Fields) != K || !e.Settled {
		return
	}
	std := make([]float64, K)
	for k := range std {
		std[k] = math.Sqrt(e.P[k*K+k])
	}
	v.server.Send(s.estimate.id, e.T+s.shift, s.estimate.Encode(nil, export.JSON, e.T, e.T, export.Band(e.X, std)))
	v.server.Send(s.filter.id, e.T+s.shift, s.filter.Encode(nil, export.JSON, e.T, e.T, []float64{e.NIS, float64(e.Rejected)}))
}

// predicted queues the points of a horizon until their times.
func (v *viewer) predicted(name string, data []byte) {
	s := v.vehicle(name)
	p := &v.pred
	if s == nil || p.Decode(data) != nil || len(p.Horizon) == 0 || p.T < 0 {
		return
	}
	if p.Flags&wire.Shortened != 0 && len(s.predict) > 0 {
		return // of a part of the horizon, for want of time: its bands would be topics of their own
	}
	if s.state == nil && len(s.names) != len(p.Channels) && len(s.names) != s.K {
		s.names, s.units = slices.Clone(p.Channels), slices.Clone(p.Units)
	}
	v.meet(s, p.T)
	K, n := len(p.Channels), min(v.c.Horizons, len(p.Horizon))
	for k := range n {
		i := (k+1)*len(p.Horizon)/n - 1
		h := int64(math.Round(1e3*p.Horizon[i])) * 1e6 // whole milliseconds name a topic
		tp := s.predict[h]
		if tp == nil {
			if len(s.predict) >= 4*v.c.Horizons {
				continue // a horizon that changes all the time
			}
			tp = v.add(export.Series{Topic: "/dgm/" + name + "/predict/" + export.Label(h), Kind: "Prediction." + name,
				Fields: slices.Clone(p.Channels), Units: slices.Clone(p.Units), Band: true, Made: true})
			s.predict[h] = tp
		}
		if len(tp.Fields) != K || len(v.waiting) >= maxWaiting {
			continue
		}
		at := p.T + int64(1e9*p.Horizon[i])
		v.wait(band{at + s.shift, tp.id, tp.Encode(nil, export.JSON, at, p.T, export.Band(p.Mean[i*K:(i+1)*K], p.ObsStd[i*K:(i+1)*K]))})
	}
}

// next is how long nothing is due.
func (v *viewer) next() time.Duration {
	if len(v.waiting) == 0 {
		return time.Hour
	}
	return max(0, time.Duration(v.waiting[0].at-time.Now().UnixNano()))
}

// due sends the bands that are due.
func (v *viewer) due() {
	for now := time.Now().UnixNano(); len(v.waiting) > 0 && v.waiting[0].at <= now; {
		b := v.waiting[0]
		v.waiting = v.waiting[1:]
		v.server.Send(b.topic, b.at, b.data)
	}
}

// band is a message that waits.
type band struct {
	at    int64 // ns, on this computer's clock
	topic int
	data  []byte
}

// wait queues a band, in the order of the times.
func (v *viewer) wait(b band) {
	i, _ := slices.BinarySearchFunc(v.waiting, b.at+1, func(w band, at int64) int { return cmp.Compare(w.at, at) })
	v.waiting = slices.Insert(v.waiting, i, b)
}
