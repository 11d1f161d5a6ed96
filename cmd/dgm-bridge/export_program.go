package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/onnx"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
	"github.com/dgm-robotics/dgm/python/dgm"
)

// exportPrograms are the commands that write a model for other languages.
func exportPrograms() []*cobra.Command {
	return []*cobra.Command{
		exportProgram("casadi", "Write a model as a CasADi function: its programs and a Python file", pythonFiles("casadi")),
		exportProgram("jax", "Write a model as a JAX function: its programs and a Python file", pythonFiles("jax")),
		exportProgram("onnx", "Write a model as ONNX: a file for each condition", onnxFiles),
	}
}

// written is a file to write.
type written struct {
	name    string
	content []byte
}

// exportProgram is a command that writes the files of a document to a folder.
func exportProgram(target, short string, files func(*program.Document) []written) *cobra.Command {
	var out string
	var planRows int
	cmd := &cobra.Command{
		Use:   target + " flight.dgm --out DIR",
		Short: short,
		Long: short + `. The function predicts mean and standard deviation at the
model's own times from state, history and plan, whose --plan-rows rows divide the horizon, or from state and
held input. What it leaves out: adaptation in flight, filter of measurements, covariance of the start.`,
		Example: "  dgm-bridge export " + target + " flight.dgm --out planner --plan-rows 12",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := model.ReadFile(args[0])
			if err != nil {
				return err
			}
			d, err := dynamics.DocumentOf(m, planRows)
			if err != nil {
				return cli.Usage("--plan-rows: %v", err)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			return writeAll(cmd.OutOrStdout(), args[0], out, files(d))
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to write to")
	cmd.Flags().IntVar(&planRows, "plan-rows", 20, "rows of a plan, which divide the horizon into equal steps")
	cli.Require(cmd, "out")
	return cmd
}

// writeAll writes files to a folder, none of which may be the model itself.
func writeAll(w io.Writer, read, folder string, all []written) error {
	var names []string
	for _, f := range all {
		names = append(names, filepath.Join(folder, f.name))
	}
	if err := cli.Apart("--out", []string{read}, names); err != nil {
		return err
	}
	for i, f := range all {
		if err := durable.WriteFile(names[i], f.content); err != nil {
			return err
		}
		fmt.Fprintf(w, "wrote %s: %.0f kB\n", names[i], float64(len(f.content))/1000)
	}
	return nil
}

// pythonFiles returns the files of a Python target.
func pythonFiles(target string) func(*program.Document) []written {
	return func(d *program.Document) []written {
		return []written{{"dgm_model.program", d.Encode()}, {"dgm_model.py", []byte(dgm.Module(target))}}
	}
}

// onnxFiles returns a file for each condition.
func onnxFiles(d *program.Document) (all []written) {
	for _, m := range onnx.Models(d) {
		all = append(all, written{m.Name, m.Data})
	}
	return all
}
