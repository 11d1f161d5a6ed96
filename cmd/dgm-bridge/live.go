package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func playCommand() *cobra.Command {
	var server link.Flags
	var c live.PlayConfig
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "play flight.msgpack",
		Short: "Publish the states of a flight log over NATS, as the robot did",
		Example: `  dgm-bridge play flight.msgpack --vehicle v1
  dgm-bridge play flight.msgpack --speed 10 --max-pause 1s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !(c.Speed >= 1e-3 && c.Speed <= 1e6):
				return cli.Usage("--speed %v must be within 0.001 and 1000000", c.Speed)
			case c.MaxPause < 0 || c.From < 0 || c.To < 0:
				return cli.Usage("--max-pause, --from and --to must not be negative")
			case c.To > 0 && c.To <= c.From:
				return cli.Usage("--to is not after --from")
			case c.Vehicle != "" && wire.CheckVehicle(c.Vehicle) != nil:
				return cli.Usage("%v", wire.CheckVehicle(c.Vehicle))
			}
			c.Log = args[0]
			if _, err := logs.Header(c.Log); err != nil {
				return err
			}
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			// The log must not be played before a server is connected.
			if err := server.Await(cmd.Context(), nc, wait); err != nil {
				return err
			}
			sum, err := live.Play(cmd.Context(), nc, c)
			if err != nil {
				return err
			}
			if nc.IsConnected() {
				if err := nc.FlushTimeout(5 * time.Second); err != nil {
					return fmt.Errorf("the last states may not have arrived: %w", err)
				}
			}
			if sum.Sent == 0 && sum.Unsent > 0 {
				return fmt.Errorf("no server was there, %s dropped; start one or give --nats", cli.Count(sum.Unsent, "state"))
			}
			if len(sum.Sensors) > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: by the sensors %s\n", sum.Vehicle, strings.Join(sum.Sensors, ", "))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s sent, %d incomplete, %d without a server, %s, %s\n",
				sum.Vehicle, cli.Count(sum.Sent, "state"), sum.Unmeasured, sum.Unsent, cli.Count(sum.Backwards, "backward time stamp"), cli.Count(sum.Damages, "damaged place"))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Vehicle, "vehicle", "", "states go to dgm.state.<vehicle> (default: the log's)")
	f.Float64Var(&c.Speed, "speed", 1, "times the pace of the log")
	f.DurationVar(&c.MaxPause, "max-pause", 0, "longest wait between two states (default: as recorded)")
	f.DurationVar(&c.From, "from", 0, "where to begin, from the log's first sample")
	f.DurationVar(&wait, "wait", 5*time.Second, "how long to wait for a server")
	f.BoolVar(&c.Sensors, "sensors", false, "send states measured in the same samples as separate sensors, to an estimator whose model has a filter")
	f.DurationVar(&c.To, "to", 0, "where to end (default: at the end)")
	server.Add(f)
	return cmd
}

func recordCommand() *cobra.Command {
	var server link.Flags
	var c live.RecordConfig
	var names channelNames
	cmd := &cobra.Command{
		Use:   "record --vehicle v1 --out flight.msgpack",
		Short: "Record the states that a vehicle publishes over NATS in a flight log",
		Long: `Record the states that a vehicle publishes in a flight log, until interrupted. An existing log is
continued; recorded data survive a loss of power. State messages have no names of channels: --model or --like
gives them, by default x1, x2, …, u1, u2, ….`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := wire.CheckVehicle(c.Vehicle); err != nil {
				return cli.Usage("--vehicle: %v", err)
			}
			if c.Duration < 0 {
				return cli.Usage("--duration %v is negative", c.Duration)
			}
			var err error
			if c.Channels, err = names.channels(); err != nil {
				return err
			}
			c.Source = "dgm-bridge record"
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			sum, err := live.Record(cmd.Context(), nc, c)
			if err != nil {
				return err
			}
			if sum.Refused > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "dgm-bridge: %s refused, no state of these channels: %s\n", cli.Count(sum.Refused, "message"), sum.Why)
			}
			if sum.States == 0 {
				return errors.New("no state was received on " + wire.StateSubject(c.Vehicle) + "; nothing was recorded: check --vehicle, --nats and whether the robot sends")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "recorded %s of %s in %s in %s\n", cli.Count(sum.States, "state"), c.Vehicle, cli.Count(sum.Segments, "segment"), c.Out)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Vehicle, "vehicle", "", "states come from dgm.state.<vehicle>")
	f.StringVar(&c.Out, "out", "", "flight log to write or continue")
	names.add(cmd)
	f.DurationVar(&c.Duration, "duration", 0, "how long; 0 = until interrupted")
	f.DurationVar(&c.Pause, "max-gap", time.Second, "a longer time between states begins a segment")
	server.Add(f)
	cli.Require(cmd, "vehicle", "out")
	return cmd
}
