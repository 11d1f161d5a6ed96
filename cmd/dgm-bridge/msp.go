package main

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/importer"
	msp "github.com/dgm-robotics/dgm/bridge/msp/link"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func mspCommand() *cobra.Command {
	var server link.Flags
	var c msp.Config
	var names channelNames
	var where, preset, mapFile string
	cmd := &cobra.Command{
		Use:   "msp --link serial:/dev/ttyACM0 --vehicle v1",
		Short: "Connect a flight controller with Betaflight or INAV to an estimator: states in, by MSP",
		Long: `Connect a flight controller with Betaflight or INAV to an estimator. It is asked by MSP for what a model of its
blackbox needs, --rate times a second or as fast as it answers, and the states go to dgm.state.<vehicle> while it is armed.

Channels are those of --model or of the log --like, made by the map (--preset or --map) that the logs were
imported with. Messages have steps, of 0.1 deg in roll and pitch and 1 deg in yaw, between which the rates turn the attitude. What repeats
itself is not measured. Betaflight's replies have the controller's time, which is converted to this computer's (a controller without the
time is given it); INAV's count as measured half of the shortest way there and back before they came.
A controller answers one request in each run of its serial task, 100 times a second (set serial_update_rate_hz = 500 for
more). Betaflight answers several messages in one; INAV needs a request for each.

Links: tcp:host:port connects, serial:/dev/ttyACM0:115200 opens a port. Either end may start first and may restart at any time.
dgm-bridge record writes the states to a log.`,
		Example: `  dgm-bridge msp --link serial:/dev/ttyACM0 --vehicle v1 --model flight.dgm
  dgm-bridge msp --link tcp:127.0.0.1:5761 --vehicle v1 --model plane.dgm --preset betaflight-plane`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := wire.CheckVehicle(c.Vehicle); err != nil {
				return cli.Usage("--vehicle: %v", err)
			}
			var err error
			if c.Link, err = msp.ParseEndpoint(where); err != nil {
				return cli.Usage("%v", err)
			}
			switch {
			case !(c.Rate > 0 && c.Rate <= 2000):
				return cli.Usage("--rate %v is not above 0 and at most 2000", c.Rate)
			case !(c.Step >= 0 && c.Step <= 10):
				return cli.Usage("--gyro-step %v is not from 0 to 10", c.Step)
			case !(c.Idle < 90):
				return cli.Usage("--idle %v is not below 90", c.Idle)
			case mapFile != "" && cmd.Flags().Changed("preset"):
				return cli.Usage("--map and --preset both describe the channels; give one")
			}
			if mapFile != "" {
				c.Map, err = importer.ReadMap(mapFile)
			} else {
				c.Map, err = importer.Preset(preset)
			}
			if err != nil {
				return err
			}
			if c.Channels, err = names.channels(); err != nil {
				return err
			}
			if err := c.Check(); err != nil {
				return err
			}
			c.Log = notice(cmd)
			return runLink(cmd, &server, c.Vehicle, func(nc *nats.Conn) (string, error) {
				var n msp.Counts
				err := msp.Run(cmd.Context(), nc, c, &n)
				return polled(&n), err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&where, "link", "", "where the flight controller is")
	f.StringVar(&c.Vehicle, "vehicle", "", "states go to dgm.state.<vehicle>")
	names.add(cmd)
	f.StringVar(&preset, "preset", "betaflight", "the map of its logs, of those that come with the program: "+strings.Join(importer.Presets(), ", "))
	f.StringVar(&mapFile, "map", "", "the map of its logs (toml), in place of a preset")
	f.Float64Var(&c.Rate, "rate", 100, "states a second to ask for")
	f.Float64Var(&c.Step, "gyro-step", 0, "what a step of the rates is, deg/s: 0.07 for the gyroscopes LSM6DSO and LSM6DSV16X, 0.122 for a range of 4,000 deg/s (default: 0.061 for Betaflight, 1 for INAV)")
	f.Float64Var(&c.Idle, "idle", -1, "idle of the motors, % of their range; 0 with a dynamic idle; negative = as the controller says")
	f.BoolVar(&c.All, "all", false, "send states while it is disarmed, too")
	server.Add(f)
	cli.Require(cmd, "link", "vehicle")
	return cmd
}

// polled counts what a controller was asked.
func polled(n *msp.Counts) string {
	count := func(n int64, noun string) string { return cli.Count(int(n), noun) }
	return fmt.Sprintf("%s, %s sent, %d without a server, %d held, %d incomplete, %d disarmed, %s without a reply, %s, %s",
		count(n.Replies.Load(), "poll"), count(n.States.Load(), "state"), n.Unsent.Load(), n.Held.Load(), n.Incomplete.Load(), n.Disarmed.Load(),
		count(n.Lost.Load(), "request"), count(n.Damaged.Load(), "damaged frame"), count(n.Restarts.Load(), "restart"))
}
