package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/live"
)

func liveCommand() *cobra.Command {
	var (
		robot    robotFlags
		server   link.Flags
		vehicle  string
		duration time.Duration
	)
	cmd := &cobra.Command{
		Use:   "live --system NAME --vehicle v1",
		Short: "Publish a robot's states over NATS in real time",
		Example: `  dgm-sim live --system pendulum --vehicle pend1 --nats nats://127.0.0.1:4222 --rate 100
  dgm-sim live --system quadrotor --vehicle quad1 --plan-horizon 500ms --fault wind=0.5`,
		Args: cobra.NoArgs,
	}
	robot.add(cmd, time.Second)
	fl := cmd.Flags()
	fl.StringVar(&vehicle, "vehicle", "", "states go to dgm.state.<vehicle>")
	server.Add(fl)
	fl.DurationVar(&duration, "duration", 0, "how long; 0 = until interrupted")
	cli.Require(cmd, "vehicle")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := robot.config()
		if err != nil {
			return err
		}
		if err := wire.CheckVehicle(vehicle); err != nil {
			return cli.Usage("--vehicle: %v", err)
		}
		if duration < 0 {
			return cli.Usage("--duration %v must not be negative", duration)
		}
		notify := func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "dgm-sim: %s\n", text) }
		nc, err := server.Link("dgm-sim "+vehicle, notify).Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		plan := ""
		if c.PlanRows > 0 {
			plan = fmt.Sprintf(", a plan of %d rows over %v", c.PlanRows, robot.horizon)
		}
		notify(fmt.Sprintf("%s as %s at %.6g Hz: states %s%s%s", c.Plant.Name, wire.StateSubject(vehicle), c.Rate,
			strings.Join(channel.Names(c.Plant.States), " "), inputs(c.Plant.Inputs), plan))
		sum, err := live.Run(cmd.Context(), nc, live.Config{Robot: c, Vehicle: vehicle, Duration: duration})
		if err != nil {
			return err
		}
		// The last states must be sent before the process ends.
		if nc.IsConnected() {
			if err := nc.FlushTimeout(5 * time.Second); err != nil {
				return fmt.Errorf("the last states may not have arrived: %w", err)
			}
		}
		if sum.Sent == 0 && sum.Unsent > 0 {
			dropped := cli.Count(sum.Unsent, "state")
			if err := nc.LastError(); err != nil {
				return fmt.Errorf("the server refuses the connection: %w; %s dropped; see --creds, --nkey and --tls-ca", err, dropped)
			}
			return fmt.Errorf("no server answered, %s dropped; start one or set --nats", dropped)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s sent, %d lost by the sensors, %d without a server, %d too late\n",
			vehicle, cli.Count(sum.Sent, "state"), sum.Lost, sum.Unsent, sum.Late)
		return nil
	}
	return cmd
}

func inputs(all []channel.Channel) string {
	if len(all) == 0 {
		return ", no inputs"
	}
	return ", inputs " + strings.Join(channel.Names(all), " ")
}
