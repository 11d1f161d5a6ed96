package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	mavlink "github.com/dgm-robotics/dgm/bridge/mavlink/link"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func mavlinkCommand() *cobra.Command {
	var server link.Flags
	var c mavlink.Config
	var names channelNames
	var key string
	cmd := &cobra.Command{
		Use:   "mavlink --link udp:14550 --vehicle v1",
		Short: "Connect an autopilot's MAVLink link to an estimator: states in, predictions out",
		Long: `Connect an autopilot's MAVLink link to an estimator. The states on dgm.state.<vehicle> come from ODOMETRY,
or ATTITUDE_QUATERNION with LOCAL_POSITION_NED, and from HIGHRES_IMU, ACTUATOR_OUTPUT_STATUS and
SERVO_OUTPUT_RAW, with the time of measurement (by TIMESYNC, if the autopilot answers it).
With --rate predictions are sent back: the point of the horizon nearest to --ahead as ODOMETRY with its
covariance, the whole horizon as TUNNEL messages of type 40001.

Links: udp:14550 listens for programs on this computer, udp:0.0.0.0:14550 for any; udpout:host:port sends
there, tcp:host:port connects, tcpin:port listens, serial:/dev/ttyAMA0:921600 opens a port. Either end may start
first and may restart at any time. The first sender of an autopilot's messages is used until it is
silent for 5 s; messages of others are counted. --signing-key signs MAVLink 2 messages, and drops unsigned ones.

Channels are those of --model or of the log --like: x y z vx vy vz roll pitch yaw p q r, and m1 m2 … as
inputs, in the axes named there; by default all twelve states and four motors, in ned and frd.`,
		Example: `  dgm-bridge mavlink --link udp:14550 --vehicle v1 --model flight.dgm
  dgm-bridge mavlink --link udp:0.0.0.0:14550 --signing-key link.key --vehicle v1 --model flight.dgm
  dgm-bridge mavlink --link serial:/dev/ttyAMA0:921600 --vehicle v1 --model flight.dgm --rate 10 --ahead 200ms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := wire.CheckVehicle(c.Vehicle); err != nil {
				return cli.Usage("--vehicle: %v", err)
			}
			if _, err := mavlink.Endpoint(c.Link); err != nil {
				return cli.Usage("%v", err)
			}
			switch {
			case c.OutRate < 0 || c.OutRate > 1000:
				return cli.Usage("--rate %v is not from 0 to 1000", c.OutRate)
			case c.Ahead < 0:
				return cli.Usage("--ahead %v is negative", c.Ahead)
			}
			var err error
			if c.Channels, err = names.channels(); err != nil {
				return err
			}
			if _, err := autopilot.New(c.Channels); err != nil {
				return err
			}
			if key != "" {
				if c.Key, err = mavlink.ReadKey(key); err != nil {
					return err
				}
			}
			c.Log = notice(cmd)
			return runLink(cmd, &server, c.Vehicle, func(nc *nats.Conn) (string, error) {
				var n mavlink.Counts
				err := mavlink.Run(cmd.Context(), nc, c, &n)
				return carried(&n), err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Link, "link", "", "where the autopilot is")
	f.StringVar(&c.Vehicle, "vehicle", "", "subjects are dgm.state.<vehicle> and dgm.predict.<vehicle>")
	names.add(cmd)
	f.Uint8Var(&c.System, "system", 0, "the autopilot's system (default: the first that sends)")
	f.Float64Var(&c.OutRate, "rate", 0, "predictions a second to send to the autopilot; 0 = none")
	f.DurationVar(&c.Ahead, "ahead", 100*time.Millisecond, "point of the horizon to send as ODOMETRY")
	f.StringVar(&key, "signing-key", "", "file with the 32 bytes of the link's signing key in hexadecimal")
	server.Add(f)
	cli.Require(cmd, "link", "vehicle")
	return cmd
}

// carried counts what went over a link.
func carried(n *mavlink.Counts) string {
	count := func(n *atomic.Int64, noun string) string { return cli.Count(int(n.Load()), noun) }
	return fmt.Sprintf("%s, %s sent, %d without a server, %s to the autopilot, %s bad bytes, %s of strangers, %s of the autopilot",
		count(&n.Messages, "message"), count(&n.States, "state"), n.Unsent.Load(), count(&n.Predicted, "prediction"), count(&n.BadBytes, "time"), count(&n.Strangers, "message"), count(&n.Restarts, "restart"))
}
