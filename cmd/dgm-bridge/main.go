// Command dgm-bridge joins what robots already have to flight logs and estimators,
// and those to the viewers that people have.
//
//	dgm-bridge topics log.ulg
//	dgm-bridge import ulog --preset px4-quadrotor log.ulg --out flight.msgpack
//	dgm-bridge import ardupilot --preset ardupilot-copter log.BIN --out flight.msgpack
//	dgm-bridge import mcap --preset ros2-odometry drive.mcap --out flight.msgpack
//	dgm-bridge import csv --map map.toml a.csv b.csv --out flight.msgpack
//	dgm-bridge export mcap flight.msgpack --model flight.dgm --out flight.mcap
//	dgm-bridge export c flight.dgm --out firmware/model
//	dgm-bridge export jax flight.dgm --out planner
//	dgm-bridge record --vehicle v1 --out flight.msgpack
//	dgm-bridge play flight.msgpack --vehicle v1
//	dgm-bridge mavlink --link udp:14550 --vehicle v1 --model flight.dgm
//	dgm-bridge msp --link serial:/dev/ttyACM0 --vehicle v1 --model flight.dgm
//	dgm-bridge foxglove --vehicle v1
//	dgm-bridge upload flight.msgpack
//	dgm-bridge upload --when alarm --vehicle v1 --dir flights
//	dgm-bridge upload --config /etc/dgm/estimator.toml
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
		Short: "Connect a robot's own logs and links to flight logs, estimators and viewers",
	}
	imports := &cobra.Command{
		Use:   "import",
		Short: "Convert logs of another format to one flight log",
	}
	for i := range tables {
		imports.AddCommand(importCommand(&tables[i]))
	}
	for i := range formats {
		imports.AddCommand(importCommand(&formats[i]))
	}
	exports := &cobra.Command{
		Use:   "export",
		Short: "Convert a flight log, or a model, to files of another format",
	}
	exports.AddCommand(exportMCAP(), exportCSV())
	exports.AddCommand(exportPrograms()...)
	cmd.AddCommand(imports, topics(), info(), exports, recordCommand(), playCommand(), uploadCommand(), mavlinkCommand(), mspCommand(), foxgloveCommand())
	return cmd
}
