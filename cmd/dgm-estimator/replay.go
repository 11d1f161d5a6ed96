package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
)

func replayCommand() *cobra.Command {
	var log, file, config string
	cmd := &cobra.Command{
		Use:   "replay --log out.msgpack",
		Short: "Compute the predictions of a recording again and compare them bit for bit",
		Long: `replay computes every prediction of a recording of dgm-estimator --record again, with the recorded model,
settings and clock readings. The exit code is 0 if all are equal bit for bit; else it is 1, and replay reports
the first record that differs, and why.

With --model or --config it uses another model, or other settings, and reports the first difference.`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&log, "log", "", "recording, written by dgm-estimator --record")
	f.StringVar(&file, "model", "", "model file to use instead of the recorded one")
	f.StringVar(&config, "config", "", "settings file to use instead of the recorded settings")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if log == "" {
			return cli.Usage("no recording given: --log out.msgpack")
		}
		in, err := os.Open(log)
		if err != nil {
			return err
		}
		defer in.Close()
		var with node.ReplayConfig
		if file != "" {
			if with.Model, err = model.ReadFile(file); err != nil {
				return err
			}
		}
		if config != "" {
			if with.Config, err = replayConfig(log, config, with.Model); err != nil {
				return err
			}
		}
		sum, err := node.Replay(bufio.NewReader(in), log, with)
		if err != nil {
			return err
		}
		if sum.Predictions == 0 {
			return fmt.Errorf("%s: contains no prediction to compare: it ends before the first; record longer, or use the original", log)
		}
		end := ""
		if sum.Torn {
			end = "; the recording has no end, as after a power cut"
		}
		if sum.Lost > 0 {
			end += fmt.Sprintf("; %s are missing, because the disk was too slow", cli.Count(int(sum.Lost), "record"))
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s from %s and %s: equal bit for bit%s\n",
			cli.Count(sum.Predictions, "prediction"), cli.Count(sum.States, "state"), cli.Count(sum.Models, "model"), end)
		return err
	}
	return cmd
}

// replayConfig returns the settings of a file for the vehicle of a recording.
func replayConfig(log, config string, m *model.Model) (*node.Config, error) {
	s := defaults()
	if err := s.readChecked(config); err != nil {
		return nil, err
	}
	in, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := journal.NewReader(bufio.NewReader(in), log)
	if err != nil {
		return nil, err
	}
	if m == nil {
		for k := journal.Kind(0); k != journal.KindModel; {
			if k, err = r.Next(); err != nil {
				return nil, err
			}
		}
		if m, err = model.Decode(r.Model.File); err != nil {
			return nil, fmt.Errorf("%s: its model: %w", log, err)
		}
	}
	all := s.vehicles()
	v := all[0]
	for _, other := range all {
		if other.Vehicle == r.Header.Vehicle {
			v = other
		}
	}
	v.Record = ""
	c := v.node(m, nil)
	c.Vehicle = r.Header.Vehicle
	return &c, nil
}
