// Command dgm-bench measures what users of the estimator are promised, on the
// computer where it runs.
package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/paper"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func main() { cli.Main(command()) }

func command() *cobra.Command {
	root := &cobra.Command{Use: "dgm-bench", Short: "Measure the estimator and the training, and repeat the paper's experiments"}
	root.AddCommand(latencyCommand(), chaosCommand(), adaptCommand(), savingsCommand(), serveCommand(), burnCommand(), paper.Command(), paper.TrainCommand(), speed.Command())
	return root
}
