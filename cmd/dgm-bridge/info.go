package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/estimator/flightlog/inspect"
)

func info() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info flight.msgpack",
		Short: "List what is in a flight log: channels, segments, rates, gaps, damage",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := inspect.File(args[0])
			if err != nil {
				return err
			}
			if !asJSON {
				return r.WriteText(cmd.OutOrStdout())
			}
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	return cmd
}
