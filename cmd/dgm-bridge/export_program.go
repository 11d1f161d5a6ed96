package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/codegen/c99"
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
		exportC(),
		exportProgram("casadi", "Write a model as a CasADi function: its programs and a Python file", pythonFiles("casadi")),
		exportProgram("jax", "Write a model as a JAX function: its programs and a Python file", pythonFiles("jax")),
		exportProgram("onnx", "Write a model as ONNX: a file for each condition", onnxFiles),
	}
}

// written are files to write, with what to say about them.
type written struct {
	files []file
	note  string
}

type file struct {
	name    string
	content []byte
}

// mostDefaultRows bounds the rows of a plan that are not asked for.
const mostDefaultRows = 20

// exportProgram is a command that writes the files of a document to a folder.
func exportProgram(target, short string, write func(*program.Document) (written, error)) *cobra.Command {
	var out string
	var planRows int
	cmd := &cobra.Command{
		Use:   target + " flight.dgm --out DIR",
		Short: short,
		Long: short + `. The function predicts mean and standard deviation at the
model's own times from state, history and plan, or from state and held input. A plan has --plan-rows rows, equal steps of the
horizon. Not exported: adaptation in flight, filter of measurements, covariance of the start. See docs/export.md.`,
		Example: "  dgm-bridge export " + target + " flight.dgm --out planner --plan-rows 12",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := model.ReadFile(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return cli.Usage("--out is empty: give a folder")
			}
			if !cmd.Flags().Changed("plan-rows") {
				planRows = min(m.Points, mostDefaultRows)
			}
			d, err := dynamics.DocumentOf(m, planRows)
			if err != nil {
				return cli.Usage("--plan-rows: %v", err)
			}
			w, err := write(d)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if m.P == 0 {
				if cmd.Flags().Changed("plan-rows") {
					w.note += "--plan-rows is not used: the model has no inputs\n"
				}
				planRows = 0
			}
			w.note = fmt.Sprintf("%s at %s, plans of %s\n", cli.Count(m.K, "state"), cli.Count(m.Points, "time"), cli.Count(planRows, "row")) + w.note
			return w.to(cmd.OutOrStdout(), args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to write to")
	cmd.Flags().IntVar(&planRows, "plan-rows", 0, "rows of a plan (default: the number of the model's points, at most 20)")
	cli.Require(cmd, "out")
	return cmd
}

// to writes the files to a folder, none of which may be the model itself.
func (w written) to(said io.Writer, read, folder string) error {
	var names []string
	for _, f := range w.files {
		names = append(names, filepath.Join(folder, f.name))
	}
	if err := cli.Apart("--out", []string{read}, names); err != nil {
		return err
	}
	if err := cli.Folder("--out", folder); err != nil {
		return err
	}
	for i, f := range w.files {
		if err := durable.WriteFile(names[i], f.content); err != nil {
			return err
		}
		fmt.Fprintf(said, "wrote %s: %.0f kB\n", names[i], float64(len(f.content))/1000)
	}
	fmt.Fprint(said, w.note)
	return nil
}

// exportC is the command that writes a model as C99.
func exportC() *cobra.Command {
	var double bool
	cmd := exportProgram("c", "Write a model as C99, without allocation, for boards without an operating system", func(d *program.Document) (written, error) {
		s, err := c99.Write(d, c99.Options{Double: double})
		if err != nil {
			return written{}, err
		}
		return written{
			[]file{{c99.HeaderFile, s.Header}, {c99.BodyFile, s.Body}},
			fmt.Sprintf("RAM %d bytes, %d without Jacobians; flash %d bytes of constants, and the code\n", s.RAM, s.RAMPredict, s.Constants),
		}, nil
	})
	cmd.Flags().BoolVar(&double, "double", false, "calculate in double precision instead of single")
	return cmd
}

// pythonFiles returns the files of a Python target.
func pythonFiles(target string) func(*program.Document) (written, error) {
	return func(d *program.Document) (written, error) {
		return written{files: []file{{"dgm_model.program", d.Encode()}, {"dgm_model.py", []byte(dgm.Module(target))}}}, nil
	}
}

// onnxFiles returns a file for each condition.
func onnxFiles(d *program.Document) (all written, err error) {
	for _, m := range onnx.Models(d) {
		all.files = append(all.files, file{m.Name, m.Data})
	}
	return all, nil
}
