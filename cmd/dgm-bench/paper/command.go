package paper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

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
	cmd.AddCommand(tableCommand("single", "Table 1: one trajectory, scored on its own true states", true, 10))
	cmd.AddCommand(tableCommand("multi", "Table 2: many trajectories, scored on ten unseen ones, drawn anew for each seed", false, 5))
	cmd.AddCommand(reportCommand())
	return cmd
}

// tableCommand runs the sets of one of the paper's tables.
func tableCommand(name, short string, single bool, seeds int) *cobra.Command {
	var names []string
	for _, s := range sets() {
		if s.single() == single {
			names = append(names, s.name)
		}
	}
	p := plan{}
	var asked string
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&asked, "sets", strings.Join(names, ","), "data sets, separated by commas")
	f.IntVar(&p.seeds, "seeds", seeds, "noise seeds of each set")
	f.IntVar(&p.from, "first-seed", 0, "first of the seeds")
	f.StringVar(&p.out, "out", filepath.Join("cmd", "dgm-bench", "results"), "folder of the results")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if p.seeds < 1 || p.from < 0 {
			return cli.Usage("--seeds must be at least 1 and --first-seed at least 0")
		}
		for _, n := range strings.Split(asked, ",") {
			i := slices.IndexFunc(sets(), func(s set) bool { return s.name == n })
			if i < 0 || !slices.Contains(names, n) {
				return cli.Usage("--sets %s: %q is none of %s", asked, n, strings.Join(names, ", "))
			}
			p.sets = append(p.sets, sets()[i])
		}
		if err := os.MkdirAll(p.out, 0o755); err != nil {
			return err
		}
		all, err := p.finish(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		var rows []row
		for i := range p.sets {
			rows = append(rows, summarise(&p.sets[i], all[i]))
		}
		if err := print(cmd.OutOrStdout(), rows); err != nil {
			return err
		}
		picture, err := chart(fmt.Sprintf("%s: log likelihood beside the paper's", name), rows, all)
		if err != nil {
			return err
		}
		return durable.WriteFile(filepath.Join(p.out, name+".svg"), picture)
	}
	return cmd
}
