// Command dgm-sim is the simulated firmware: it generates telemetry of known
// systems, as a log or live over NATS, with noise and sensor faults.
package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func main() { cli.Main(command()) }

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "dgm-sim",
		Short: "Generate telemetry of known systems, recorded or live",
		Long: `dgm-sim simulates robots, their sensors, and available faults of both.

  dgm-sim list
  dgm-sim record --system pendulum --duration 120s --out flight.msgpack
  dgm-sim live --system quadrotor-flown --vehicle quad1 --rate 200

The same seed gives the same flight, and recorded the same bytes.`,
	}
	root.AddCommand(recordCommand(), liveCommand(), listCommand())
	return root
}
