package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/foxglove"
	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func foxgloveCommand() *cobra.Command {
	var server link.Flags
	var c live.ViewConfig
	var names channelNames
	var listen string
	var origins []string
	cmd := &cobra.Command{
		Use:   "foxglove",
		Short: "Show live states and predictions in Foxglove, without ROS",
		Long: `Show live states and predictions in Foxglove, without ROS: in Foxglove, open a "Foxglove WebSocket"
connection to ws://127.0.0.1:8765. A band appears at its predicted time, over the measurements of that time.
Foxglove cannot change anything. Only this computer is served, unless --listen gives another address, and only
Foxglove's pages and those of this computer, unless --origin names others.`,
		Example: "  dgm-bridge foxglove --vehicle pend1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Vehicle != "" {
				if err := wire.CheckVehicle(c.Vehicle); err != nil {
					return cli.Usage("--vehicle: %v", err)
				}
			}
			if c.Horizons < 1 || c.Horizons > 100 {
				return cli.Usage("--horizons %d is not from 1 to 100", c.Horizons)
			}
			var err error
			if c.Channels, err = names.channels(); err != nil {
				return err
			}
			s, err := foxglove.Listen(listen, "dgm-bridge", slices.Concat(foxglove.Origins, origins))
			if err != nil {
				return err
			}
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			fmt.Fprintf(cmd.ErrOrStderr(), "dgm-bridge: open ws://%s in Foxglove\n", s.Address())
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			served := make(chan error, 1)
			go func() {
				served <- s.Serve(ctx)
				cancel()
			}()
			err = live.View(ctx, nc, s, c)
			cancel()
			return errors.Join(err, <-served)
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8765", "address to serve")
	f.StringSliceVar(&origins, "origin", nil, "other pages that may connect, as scheme://host:port")
	f.StringVar(&c.Vehicle, "vehicle", "", "the vehicle to show (default: all)")
	names.add(cmd)
	f.IntVar(&c.Horizons, "horizons", 3, "how many points of the horizon are shown")
	server.Add(f)
	return cmd
}
