package paper

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// version is that of the recipe: a change that moves results makes it another.
const version = 5

// unseen is the first of the seeds of noise and starts by whose scores no setting of the
// recipe was chosen.
const unseen = 200

// Studies returns all studies, in the order of the page.
func Studies() []*study.Study {
	return []*study.Study{
		tables(true), tables(false), publishedStudy(), predictStudy(), parametricStudy(), timeStudy(),
	}
}

// Command returns the command "paper" with one subcommand for each of the
// paper's results.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "Reproduce the tables of the paper",
		Long: `paper repeats the experiments of "Distributional Gradient Matching for Learning Uncertain Neural
Dynamics Models" with one recipe for all data sets, and prints its figures next to the paper's.

Every finished unit is one line of a file under --out. A stored unit does not run again, so an interrupted
run resumes.`,
	}
	for _, s := range Studies() {
		cmd.AddCommand(s.Command())
	}
	return cmd
}
