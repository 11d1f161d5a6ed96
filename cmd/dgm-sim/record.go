package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
)

// Bounds of a recording; larger values are typing errors.
const (
	maxSegment  = 30 * 24 * time.Hour // of a segment
	maxSamples  = 1 << 30             // samples of a segment
	maxSegments = 1 << 20             // segments
)

func recordCommand() *cobra.Command {
	var (
		robot               robotFlags
		out, truth, vehicle string
		duration            time.Duration
		points, segments    int
	)
	cmd := &cobra.Command{
		Use:   "record --system NAME --out flight.msgpack",
		Short: "Record flights into a log, as fast as they can be computed",
		Example: `  dgm-sim record --system pendulum --duration 120s --out flight.msgpack
  dgm-sim record --system lorenz --points 100 --out lo1.msgpack --truth lo1-truth.msgpack
  dgm-sim record --system quadrotor --segments 4 --fault wind=0.5 --fault dropout=0.01 --out windy.msgpack`,
		Args: cobra.NoArgs,
	}
	robot.add(cmd, 0)
	fl := cmd.Flags()
	fl.StringVar(&out, "out", "", "the log to write")
	fl.StringVar(&truth, "truth", "", "a second log to write, with the exact states")
	fl.StringVar(&vehicle, "vehicle", "", "name in the log; defaults to the system's")
	fl.DurationVar(&duration, "duration", 0, "length of each segment; defaults to the system's")
	fl.IntVar(&points, "points", 0, "samples of each segment, at equal steps with both ends, instead of --rate")
	fl.IntVar(&segments, "segments", 1, "flights, each from another initial condition")
	cli.Require(cmd, "out")
	cmd.MarkFlagsMutuallyExclusive("rate", "points")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := robot.config()
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("duration") {
			duration = time.Duration(c.Plant.Duration * float64(time.Second))
		}
		o := record.Options{Robot: c, Vehicle: vehicle, Segments: segments}
		if vehicle == "" {
			o.Vehicle = c.Plant.Name
		}
		if err := wire.CheckVehicle(o.Vehicle); err != nil {
			return cli.Usage("--vehicle: %v", err)
		}
		switch {
		case duration <= 0 || duration > maxSegment:
			return cli.Usage("--duration %v must be above 0 and at most %v", duration, maxSegment)
		case segments < 1 || segments > maxSegments:
			return cli.Usage("--segments %d must be 1 to %d", segments, maxSegments)
		case cmd.Flags().Changed("points"):
			if points < 2 || points > maxSamples {
				return cli.Usage("--points %d must be 2 to %d", points, maxSamples)
			}
			o.Samples = points
			o.Robot.Rate = float64(points-1) / duration.Seconds()
		default:
			n := math.Floor(duration.Seconds()*c.Rate + 1e-6)
			if n < 1 || n >= float64(maxSamples) {
				return cli.Usage("--duration %v at --rate %v makes %.0f samples a segment; 2 to %d can be recorded", duration, c.Rate, n+1, maxSamples)
			}
			o.Samples = int(n) + 1
		}
		o.Source = source(&robot, &o)
		return writeLogs(cmd, o, out, truth)
	}
	return cmd
}

// source describes the recording, for the log.
func source(f *robotFlags, o *record.Options) string {
	s := fmt.Sprintf("dgm-sim record: %s, %.6g Hz, seed %d, noise %s", f.system, o.Robot.Rate, f.seed, f.noise)
	for _, more := range [][]string{f.params, f.faults} {
		if len(more) > 0 {
			s += ", " + strings.Join(more, ", ")
		}
	}
	return s
}

// writeLogs records into out and, where truth is not empty, truth. Neither
// file appears unless both are complete.
func writeLogs(cmd *cobra.Command, o record.Options, out, truth string) error {
	if err := cli.Outputs("--out or --truth", nil, []string{out, truth}); err != nil {
		return err
	}
	sum, err := record.File(cmd.Context(), o, out, truth)
	if err != nil {
		return err
	}
	lost := ""
	if sum.Lost > 0 {
		lost = fmt.Sprintf(", %d lost", sum.Lost)
	}
	seconds := float64(o.Robot.At(o.Samples-1)) / 1e9
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d x %g s at %.6g Hz, %d samples%s\n",
		out, o.Robot.Plant.Name, o.Segments, seconds, o.Robot.Rate, sum.Samples, lost)
	return nil
}
