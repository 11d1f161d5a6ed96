package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/export"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/model"
)

func exportCSV() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "csv flight.msgpack --out flight.csv",
		Short: "Write a flight log as a table of text",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Apart("--out", args, []string{out}); err != nil {
				return err
			}
			show, done := progress()
			s, err := export.CSV(cmd.Context(), args[0], out, show)
			done()
			if err != nil {
				return logs.Explained(args[0], err)
			}
			return reportExport(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "table to write")
	cli.Require(cmd, "out")
	return cmd
}

func exportMCAP() *cobra.Command {
	var out, modelFile, schema, foxglove, plotJuggler string
	var horizons []time.Duration
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "mcap flight.msgpack --out flight.mcap",
		Short: "Write a flight log for Foxglove and PlotJuggler, with predicted bands",
		Long: `Write a flight log for Foxglove and PlotJuggler. With --model a prediction is made from each state, with
its input held, and the 95 % band is drawn at the predicted times, over the measurements.`,
		Example: `  dgm-bridge export mcap flight.msgpack --model flight.dgm --out flight.mcap --foxglove layout.json
  dgm-bridge export mcap flight.msgpack --out flight.mcap --schema json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := export.Options{Schema: export.Schema(schema), Horizons: horizons, Every: every}
			if o.Schema != export.ROS2 && o.Schema != export.JSON {
				return cli.Usage("--schema %q is not known; write ros2 or json", schema)
			}
			if every < 0 {
				return cli.Usage("--every %v is negative", every)
			}
			if modelFile == "" && len(horizons) > 0 {
				return cli.Usage("--horizons needs --model")
			}
			if err := cli.Apart("--out", args, []string{out}); err != nil {
				return err
			}
			if modelFile != "" {
				m, err := model.ReadFile(modelFile)
				if err != nil {
					return err
				}
				o.Model = m
			}
			show, done := progress()
			o.Progress = show
			s, err := export.MCAP(cmd.Context(), args[0], out, o)
			done()
			if err != nil {
				return logs.Explained(args[0], err)
			}
			if err := layouts(args[0], &o, foxglove, plotJuggler); err != nil {
				return err
			}
			return reportExport(cmd.OutOrStdout(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "MCAP file to write")
	f.StringVar(&modelFile, "model", "", "model to predict with")
	f.StringVar(&schema, "schema", string(export.ROS2), "how messages are written: ros2 (CDR) or json")
	f.DurationSliceVar(&horizons, "horizons", nil, "how far ahead to predict, e.g. 100ms,500ms (default: a tenth, a quarter, half and all of the model's horizon)")
	f.DurationVar(&every, "every", 0, "time between predictions (default: one from each state)")
	f.StringVar(&foxglove, "foxglove", "", "also write a layout for Foxglove to this file")
	f.StringVar(&plotJuggler, "plotjuggler", "", "also write a layout for PlotJuggler to this file")
	cli.Require(cmd, "out")
	return cmd
}

// layouts writes the layouts that are asked for, with the band at half the horizon.
func layouts(log string, o *export.Options, foxglove, plotJuggler string) error {
	if foxglove == "" && plotJuggler == "" {
		return nil
	}
	h, err := logs.Header(log)
	if err != nil {
		return err
	}
	horizon := ""
	if o.Model != nil {
		all := o.Horizons
		if len(all) == 0 {
			all = export.DefaultHorizons(o.Model.Horizon)
		}
		horizon = export.Label(int64(all[len(all)/2]))
	}
	if foxglove != "" {
		err = durable.WriteFile(foxglove, export.FoxgloveLayout(&h, o.Schema, horizon))
	}
	if plotJuggler != "" && err == nil {
		err = durable.WriteFile(plotJuggler, export.PlotJugglerLayout(&h, o.Schema, horizon))
	}
	return err
}

// reportExport reports what was written.
func reportExport(w io.Writer, s *export.Summary) error {
	_, err := fmt.Fprintf(w, "wrote %s: %s", s.Out, cli.Count(s.Samples, "sample"))
	if s.Predictions > 0 || s.NotMade > 0 {
		fmt.Fprintf(w, ", %s", cli.Count(s.Predictions, "prediction"))
	}
	fmt.Fprintln(w)
	if s.NotMade > 0 {
		fmt.Fprintf(w, "not predicted from %s: a number is missing, or the prediction is not finite\n", cli.Count(s.NotMade, "state"))
	}
	for _, text := range s.Damages {
		fmt.Fprintln(w, "not read: "+text)
	}
	return err
}
