package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/codegen/c99"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
)

func exportC() *cobra.Command {
	var out string
	var rows int
	var double bool
	cmd := &cobra.Command{
		Use:   "c flight.dgm --out folder",
		Short: "Write a model as C99, for boards without an operating system",
		Long: `Write a model as C99: a header and a source without allocation, with the functions dgm_predict and
dgm_jacobian. Points are those of the model. Plans have a fixed number of rows, which divide the horizon; without
--plan-rows they are as many as the model has points, and at most 20. Adaptation, filter and covariance of the start are
left out. See docs/export.md.`,
		Example: `  dgm-bridge export c flight.dgm --out firmware/model
  dgm-bridge export c flight.dgm --out firmware/model --plan-rows 10 --double`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("plan-rows") && (rows < 1 || rows > dynamics.MostPlanRows) {
				return cli.Usage("--plan-rows %d is outside 1…%d", rows, dynamics.MostPlanRows)
			}
			m, err := model.ReadFile(args[0])
			if err != nil {
				return err
			}
			if rows == 0 {
				rows = min(m.Points, mostDefaultRows)
			}
			header, body := filepath.Join(out, c99.HeaderFile), filepath.Join(out, c99.BodyFile)
			if err := cli.Folder("--out", out); err != nil {
				return err
			}
			d, err := dynamics.DocumentOf(m, rows)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			s, err := c99.Write(d, c99.Options{Double: double})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err := durable.WriteFile(header, s.Header); err != nil {
				return err
			}
			if err := durable.WriteFile(body, s.Body); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s and %s: %s at %s, plans of %s\nRAM %d bytes, %d without Jacobians; flash %d bytes of constants, and the code\n",
				header, body, cli.Count(m.K, "state"), cli.Count(m.Points, "time"), cli.Count(planRowsOf(m, rows), "row"), s.RAM, s.RAMPredict, s.Constants)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to write "+c99.HeaderFile+" and "+c99.BodyFile+" to")
	cmd.Flags().IntVar(&rows, "plan-rows", 0, "rows of a plan (default: as many as the model has points, at most 20)")
	cmd.Flags().BoolVar(&double, "double", false, "calculate in double precision instead of single")
	cli.Require(cmd, "out")
	return cmd
}

// mostDefaultRows bounds the rows of a plan that are not asked for.
const mostDefaultRows = 20

// planRowsOf returns the rows of a plan: none without inputs.
func planRowsOf(m *model.Model, rows int) int {
	if m.P == 0 {
		return 0
	}
	return rows
}
