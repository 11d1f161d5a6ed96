package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func resetCommand() *cobra.Command {
	var (
		server  link.Flags
		vehicle string
	)
	cmd := &cobra.Command{
		Use:   "reset --vehicle pend1",
		Short: "Let the estimator of a vehicle forget what adaptation has learned",
		Long: `reset sends the command reset_adaptation on dgm.model.<vehicle> and waits for the result: the estimator
forgets the amounts by which the robot differs from the training data, and learns them again.`,
		Example: "  dgm-estimator reset --vehicle pend1 --nats nats://127.0.0.1:4222",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	server.Add(f)
	f.StringVar(&vehicle, "vehicle", "", "vehicle, as in dgm.model.<vehicle>")
	cli.Require(cmd, "vehicle")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := wire.CheckVehicle(vehicle); err != nil {
			return cli.Usage("--vehicle: %v", err)
		}
		server.Inbox = "_INBOX_operator" // as PROTOCOL.md has it
		link := server.Link("dgm-estimator reset", nil)
		nc, err := link.Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		if !nc.IsConnected() {
			return errors.Join(fmt.Errorf("no server answers at %s: start one, or check --nats and the credentials", link.Address()), nc.LastError())
		}
		c := wire.Command{Action: wire.ResetAdaptation}
		m, err := nc.Request(wire.ModelSubject(vehicle), c.Append(nil), 5*time.Second)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return fmt.Errorf("no estimator serves vehicle %s at this server; dgm-estimator status lists those that run", vehicle)
		case err != nil:
			return fmt.Errorf("resetting adaptation of %s: %w; check --nats, and the permission to publish to %s", vehicle, err, wire.ModelSubject(vehicle))
		}
		var o wire.Outcome
		if err := o.Decode(m.Data); err != nil {
			return err
		}
		if o.Error != "" {
			return errors.New(o.Error)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: adaptation is reset\n", vehicle)
		return nil
	}
	return cmd
}
