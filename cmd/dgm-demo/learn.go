package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/bar"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/report"
)

const (
	modelName = "flight.dgm"
	pageName  = "flight.report.html"
	dataName  = "flight.report.json"
)

// learn trains a model from the log, as dgm-train does, prints its scores on held-out
// flights, and writes model and report.
// It returns the verdict.
func learn(ctx context.Context, sc *scene, out *output, screen *screen) (*report.Verdict, error) {
	cfg := sc.training
	log, err := flightlog.ReadFile(out.path(logName))
	if err != nil {
		return nil, err
	}
	data, err := trainer.Load([]*flightlog.Log{log}, cfg)
	if err != nil {
		return nil, err
	}
	progress := bar.New(screen, screen.tty)
	stopping := false
	res, err := trainer.Train(ctx, data, cfg, func(p trainer.Progress) {
		switch {
		case ctx.Err() == nil:
			p.Phase = "training, " + p.Phase
			progress.Show(p)
		case !stopping: // the trainer completes what it has, as dgm-train needs it
			stopping = true
			progress.Print("Stopping the training; Ctrl-C once more ends at once.")
		}
	})
	progress.Clear()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // half a training is not flown
		return nil, context.Cause(ctx)
	}
	fmt.Fprintf(screen, "Trained with the quick preset in %.1f s: %d windows of %g s, an ensemble of %d, %s.\n\n",
		res.Elapsed.Seconds(), res.Windows, cfg.Horizon.Seconds(), len(res.Model.Members), res.Split.How)
	if err := write(data, cfg, res, out); err != nil {
		return nil, err
	}
	return &res.Verdict, res.Table.WriteText(screen)
}

// write writes the model and what is known about it.
func write(data *trainer.Data, cfg trainer.Config, res *trainer.Result, out *output) error {
	if err := model.WriteFile(out.path(modelName), res.Model); err != nil {
		return err
	}
	out.wrote(modelName, "the model, for dgm-estimator and dgm-eval")
	page, err := trainer.Report(data, cfg, res, []string{logName}, []string{modelName, pageName, dataName})
	if err != nil {
		return err
	}
	if err := report.Write(out.path(pageName), page); err != nil {
		return err
	}
	out.wrote(pageName, "scores and plots")
	if err := report.WriteJSON(out.path(dataName), page); err != nil {
		return err
	}
	out.wrote(dataName, "the same as data")
	return nil
}

const logName = "flight.msgpack"

// recordFlights writes the log that the model is trained on.
func recordFlights(ctx context.Context, sc *scene, seed uint64, out *output, screen *screen) error {
	o := record.Options{
		Robot: sc.robot, Vehicle: sc.vehicle, Segments: sc.segments,
		Samples: int(sc.length.Seconds()*sc.robot.Rate) + 1,
		Source:  fmt.Sprintf("dgm-demo: %s, seed %d", sc.robot.Plant.Name, seed),
	}
	o.Robot.Seed = seed
	began := time.Now()
	sum, err := record.File(ctx, o, out.path(logName), "")
	if err != nil {
		return err
	}
	out.wrote(logName, fmt.Sprintf("the log: %d flights of %.0f s at %g Hz, %d samples", sc.segments, sc.length.Seconds(), sc.robot.Rate, sum.Samples))
	fmt.Fprintf(screen, "Recorded %d flights of %.0f s, %s and %s at %g Hz with the noise of sensors, in %.1f s.\n",
		sc.segments, sc.length.Seconds(), cli.Count(len(sc.robot.Plant.States), "state"), cli.Count(len(sc.robot.Plant.Inputs), "input"), sc.robot.Rate, time.Since(began).Seconds())
	return nil
}
