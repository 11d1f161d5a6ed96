package live_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Two channels that differ in what no name of a sensor may hold are two sensors.
func TestSensorsHaveNamesOfTheirOwn(t *testing.T) {
	nc := serve(t)
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	w, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "pend1", Channels: []channel.Channel{{Name: "x pos", Role: channel.State}, {Name: "x_pos", Role: channel.State}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		x := []float64{1, math.NaN()}
		if i%2 == 1 {
			x[0], x[1] = x[1], x[0]
		}
		err = errors.Join(err, w.Sample(int64(i+1)*1e6, x, nil, nil))
	}
	if err = errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	sum, err := live.Play(context.Background(), nc, live.PlayConfig{Log: path, Sensors: true})
	if err != nil || sum.Sent != 20 || !slices.Equal(sum.Sensors, []string{"x_pos", "x_pos_1"}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A log of two positions at a fifth of the rate of a third state is played by two sensors: each has a sequence of its own and
// sends what it measured, the faster one with the input.
func TestPlayBySensor(t *testing.T) {
	nc := serve(t)
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	w, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "pend1", Channels: []channel.Channel{
		{Name: "x pos", Unit: "m", Role: channel.State}, {Name: "omega", Role: channel.State}, {Name: "y", Unit: "m", Role: channel.State}, {Name: "u", Role: channel.Input},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		x := []float64{math.NaN(), float64(i), math.NaN()}
		if i%5 == 2 {
			x[0], x[2] = 10, 20
		}
		err = errors.Join(err, w.Sample(int64(i+1)*1e6, x, []float64{0.5 * float64(i)}, nil))
	}
	if err = errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	got := make(chan *nats.Msg, 100)
	if _, err := nc.ChanSubscribe(wire.AllStates, got); err != nil {
		t.Fatal(err)
	}
	sum, err := live.Play(context.Background(), nc, live.PlayConfig{Log: path, Sensors: true})
	if err != nil || sum.Sent != 60 || sum.Unmeasured != 0 || !slices.Equal(sum.Sensors, []string{"x_pos", "omega"}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	next := map[string]uint64{}
	for range sum.Sent {
		var s wire.State
		select {
		case m := <-got:
			if err := s.Decode(m.Data, 3, 1); err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a state is missing")
		}
		position := s.Sensor == "x_pos"
		if s.Seq != next[s.Sensor] || math.IsNaN(s.X[0]) == position || math.IsNaN(s.X[2]) == position || math.IsNaN(s.X[1]) != position || (len(s.U) == 0) != position {
			t.Fatalf("%+v, expected seq %d", s, next[s.Sensor])
		}
		next[s.Sensor]++
	}
	if next["x_pos"] != 10 || next["omega"] != 50 {
		t.Errorf("%v", next)
	}
	if sum, err := live.Play(context.Background(), nc, live.PlayConfig{Log: path}); err != nil || sum.Sent != 10 || sum.Unmeasured != 40 {
		t.Errorf("whole samples alone: %+v, %v", sum, err)
	}
}
