// Command dgm-bench measures latency, accuracy, calibration and adaptation of the
// estimator on the computer where it runs, and repeats the experiments of the paper.
package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/paper"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/predictors"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func main() { cli.Main(command()) }

// measurements returns the studies of the estimator and of training, in the order of the
// page of results.
func measurements() []*study.Study {
	return []*study.Study{latencyStudy(), chaosStudy(), adaptStudy(), speed.Study(), predictors.PublicStudy(), predictors.RobotsStudy(), predictors.WorthStudy()}
}

func studies() []*study.Study { return append(measurements(), paper.Studies()...) }

func command() *cobra.Command {
	root := &cobra.Command{Use: "dgm-bench", Short: "Measure the estimator and the training, and repeat the paper's experiments"}
	for _, s := range measurements() {
		if s.Short != "" { // else its results are only stored
			root.AddCommand(s.Command())
		}
	}
	root.AddCommand(paper.Command(), study.TablesCommand(studies()), serveCommand(), echoCommand(), burnCommand())
	return root
}
