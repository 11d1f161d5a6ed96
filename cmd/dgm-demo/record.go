package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
)

const logName = "flight.msgpack"

// recordFlights writes the log that the model is trained on.
func recordFlights(ctx context.Context, sc *scene, seed uint64, out *output, screen *screen) error {
	o := record.Options{
		Robot: sc.robot, Vehicle: sc.vehicle, Segments: sc.segments,
		Samples: int(sc.length.Seconds()*sc.robot.Rate) + 1,
		Source:  fmt.Sprintf("dgm-demo: %s, seed %d", sc.robot.Plant.Name, seed),
	}
	o.Robot.Seed = seed
	log, err := flightlog.CreateFile(out.path(logName), o.Header(false))
	if err != nil {
		return err
	}
	defer log.Abort()
	began := time.Now()
	sum, err := record.Run(ctx, o, log.Writer, nil)
	if err != nil {
		return err
	}
	if err := log.Commit(); err != nil {
		return err
	}
	out.wrote(logName, fmt.Sprintf("the log: %d flights of %.0f s at %g Hz, %d samples", sc.segments, sc.length.Seconds(), sc.robot.Rate, sum.Samples))
	fmt.Fprintf(screen, "Recorded %d flights of %.0f s, %s and %s at %g Hz with the noise of sensors, in %.1f s.\n",
		sc.segments, sc.length.Seconds(), cli.Count(len(sc.robot.Plant.States), "state"), cli.Count(len(sc.robot.Plant.Inputs), "input"), sc.robot.Rate, time.Since(began).Seconds())
	return nil
}
