package paper

import "github.com/spf13/cobra"

// Command returns the command "paper" with one subcommand for each of the
// paper's results.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "Reproduce the tables and figures of the paper",
		Long: `paper repeats the experiments of "Distributional Gradient Matching for Learning Uncertain Neural
Dynamics Models" with one recipe for all data sets, and prints its figures beside the paper's.

Every finished seed is one small file under --out. A run that was stopped goes on where it was; a seed
whose file is there is not run again.`,
	}
	for _, p := range parts() {
		cmd.AddCommand(p.command)
	}
	cmd.AddCommand(reportCommand())
	return cmd
}

// parts returns all studies, in the order of the report.
func parts() []part {
	return []part{
		tables(true).part(),
		tables(false).part(),
		baselinesStudy().part(),
		predictStudy().part(),
		parametricStudy().part(),
		overparamStudy().part(),
		ablationStudy().part(),
		learningStudy().part(),
		lambdaStudy().part(),
		trajectories().part(),
		scalingStudy().part(),
		timeStudy().part(),
	}
}
