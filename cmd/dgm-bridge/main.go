// Command dgm-bridge turns the logs that robots already have into flight logs,
// and says what is in a flight log.
//
//	dgm-bridge topics log.ulg
//	dgm-bridge import ulog --preset px4-quadrotor log.ulg --out flight.msgpack
//	dgm-bridge import ardupilot --preset ardupilot-copter log.BIN --out flight.msgpack
//	dgm-bridge import mcap --preset ros2-odometry drive.mcap --out flight.msgpack
//	dgm-bridge import csv --map map.toml a.csv b.csv --out flight.msgpack
//	dgm-bridge export mcap flight.msgpack --model flight.dgm --out flight.mcap
//	dgm-bridge info flight.msgpack
package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dgm-bridge",
		Short: "Turn a robot's own logs into flight logs, and look into flight logs",
	}
	imports := &cobra.Command{
		Use:   "import",
		Short: "Turn logs of another format into one flight log",
	}
	imports.AddCommand(importCSV())
	for i := range formats {
		imports.AddCommand(importTopics(&formats[i]))
	}
	exports := &cobra.Command{
		Use:   "export",
		Short: "Turn a flight log into a file of another format",
	}
	exports.AddCommand(exportMCAP(), exportCSV())
	cmd.AddCommand(imports, topics(), info(), exports)
	return cmd
}
