package closedloop

import (
	"bytes"
	"context"
	"time"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

// Record returns the log of simulated flights.
func Record(ctx context.Context, o record.Options) (*flightlog.Log, error) {
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, o.Header(false))
	if err != nil {
		return nil, err
	}
	if _, err := record.Run(ctx, o, w, nil); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	r, err := flightlog.NewReader(&b, o.Source)
	if err != nil {
		return nil, err
	}
	return r.ReadAll()
}

// Train trains a model as it is served: as a file holds it.
func Train(ctx context.Context, data *trainer.Data, cfg trainer.Config) (*model.Model, error) {
	res, err := trainer.Train(ctx, data, cfg, func(trainer.Progress) {})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	b, err := res.Model.Encode()
	if err != nil {
		return nil, err
	}
	return model.Decode(b)
}

// explore records the flights that models of a vehicle are trained on.
func explore(ctx context.Context, v *vehicle, seed uint64) (*flightlog.Log, error) {
	c := robot.Typical(v.plant)
	c.Seed, c.Shake = seed, v.shake
	return Record(ctx, record.Options{Robot: c, Vehicle: v.plant.Name, Source: "dgm-bench closed-loop", Samples: v.samples, Segments: v.segments})
}

// quick returns the settings of training.
func quick() trainer.Config {
	c := trainer.Quick()
	c.Horizon, c.Points, c.Holdout = trainer.Duration(400*time.Millisecond), ticks, 0
	return c
}
