package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// adaptRow is how live trust takes a change that the model never saw, as it stands
// in the JSON document. Coverage is of 95 % intervals about measurements, as the
// planner counts it from what was published, over all channels and horizons.
type adaptRow struct {
	System            string  `json:"system"`
	Change            string  `json:"change"`
	Horizon           float64 `json:"horizon_s"`
	RawBefore         float64 `json:"raw_before"`
	RecalibratedCalm  float64 `json:"recalibrated_before"`
	RawAfter          float64 `json:"raw_after"`
	RecalibratedAfter float64 `json:"recalibrated_after"` // from settled_s on
	WorstAfter        float64 `json:"worst_after"`        // of the channels and horizons, the recalibrated coverage farthest from 0.95
	Flag              float64 `json:"flag_s"`             // from the change to the flag miscalibrated; -1 = it was not set
	FalseFlag         bool    `json:"flag_before"`        // it was set before the change
	Settled           float64 `json:"settled_s"`          // after the change, from when on coverage is counted; the flag is to be set by then
	OK                bool    `json:"ok"`                 // see judge
}

// judge sets OK: there was no flag in calm flight; raw coverage fell below what the
// flag is for; the flag rose and the recalibrated intervals hold 95 % again, give or
// take 2 %, in the time that is stated.
func (r *adaptRow) judge() {
	r.OK = !r.FalseFlag && r.RawAfter < 0.90 && r.Flag >= 0 && r.Flag <= r.Settled && math.Abs(r.RecalibratedAfter-0.95) <= 0.02
}

// adaptSystem is a robot to which something happens.
type adaptSystem struct {
	plant    plant.Plant
	rate     float64 // states a second, Hz
	horizon  time.Duration
	points   int // of the horizon
	rows     int // of a plan
	segments int // flights to train on, each
	length   int // so many seconds
	changes  []change
}

// change is something that happens to a robot.
type change struct {
	name string
	make func(c *robot.Config)
}

func adaptSystems() []adaptSystem {
	return []adaptSystem{
		{
			plant: plant.Pendulum(), rate: 50, horizon: time.Second, points: 25, rows: 20, segments: 6, length: 20,
			changes: []change{
				{"payload: half as heavy again", func(c *robot.Config) { c.Payload.Mass = 0.5 }},
				{"worn bearing: twice the friction", func(c *robot.Config) { c.Params = c.Plant.Values(); c.Params[3] *= 2 }},
				{"gusts of 0.2 N m", func(c *robot.Config) { c.Gusts = disturb.Gusts{Std: 0.2, Time: 0.5} }},
			},
		},
		{
			plant: plant.QuadrotorFlown(), rate: 50, horizon: 500 * time.Millisecond, points: 25, rows: 25, segments: 8, length: 20,
			changes: []change{
				{"payload: a sixth heavier", func(c *robot.Config) { c.Payload.Mass = 1. / 6 }},
				{"worn propeller: a tenth lost", func(c *robot.Config) { c.Worn = []disturb.Wear{{Loss: 0.1, Inputs: []int{0}}} }},
				{"gusts of 2 m/s²", func(c *robot.Config) { c.Gusts = disturb.Gusts{Std: 2, Time: 0.5} }},
			},
		},
	}
}

const (
	adaptCalm  = 120 * time.Second
	adaptAfter = 240 * time.Second
	settleFor  = 40 // horizons after the change, from when on recalibrated intervals are to hold
)

func adaptCommand() *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "adapt",
		Short: "How live trust takes a payload, wear and gusts that the model never saw",
		Long: `adapt trains small models of a simulated pendulum and a simulated quadrotor, flies them in fast time over
loopback NATS, changes the robot in flight, and counts on the planner's side how many measurements lie within
the published intervals of 95 %, raw and multiplied by the published factor.

A change is taken well if raw coverage falls, the flag miscalibrated rises within 40 horizons of it and not
before, and from then on 93 to 97 % lie within the recalibrated intervals. The exit code is 1 if one is not.`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&file, "model", "", "model of the pendulum or the quadrotor to fly, instead of those trained now")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		systems := adaptSystems()
		var given *model.Model
		if file != "" {
			var err error
			if given, err = model.ReadFile(file); err != nil {
				return err
			}
			systems = slices.DeleteFunc(systems, func(s adaptSystem) bool { return len(s.plant.States) != given.K || len(s.plant.Inputs) != given.P })
			if len(systems) == 0 {
				return cli.Usage("--model %s has %d states and %d inputs; a pendulum has 2 and 1, a quadrotor 12 and 4", file, given.K, given.P)
			}
		}
		var rows []adaptRow
		failed := 0
		for i := range systems {
			s := &systems[i]
			m := given
			if m == nil {
				var err error
				if m, err = s.train(cmd.Context()); err != nil {
					return err
				}
			}
			for _, c := range s.changes {
				row, err := s.measure(cmd.Context(), m, c)
				if err != nil {
					return err
				}
				row.judge()
				if !row.OK {
					failed++
				}
				rows = append(rows, row)
				if !asJSON {
					if err := printAdapt(cmd.OutOrStdout(), &row, len(rows) == 1); err != nil {
						return err
					}
				}
			}
		}
		if asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Adapt []adaptRow `json:"adapt"`
			}{rows}); err != nil {
				return err
			}
		}
		if failed > 0 {
			return fmt.Errorf("%d of %d changes are not taken well", failed, len(rows))
		}
		return nil
	}
	return cmd
}

func printAdapt(w io.Writer, r *adaptRow, first bool) error {
	if first {
		if _, err := fmt.Fprintf(w, "%-16s %-34s %8s %8s %8s %8s %8s %8s %5s\n", "system", "change", "before", "after", "flag/s", "factor", "worst", "from/s", "ok"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%-16s %-34s %8.3f %8.3f %8.1f %8.3f %8.3f %8.0f %5v\n", r.System, r.Change, r.RawBefore, r.RawAfter, r.Flag, r.RecalibratedAfter, r.WorstAfter, r.Settled, r.OK)
	return err
}

// robot returns the robot as it is before any change, with its usual sensors and
// the plan of its inputs.
func (s *adaptSystem) robot() robot.Config {
	c := robot.Typical(s.plant)
	c.Rate = s.rate
	c.PlanHorizon, c.PlanRows = s.horizon.Seconds(), s.rows
	return c
}
