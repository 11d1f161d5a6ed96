package main

import (
	"encoding/json"
	"io"

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
			return writeJSON(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	return cmd
}

// writeJSON writes one JSON document.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
