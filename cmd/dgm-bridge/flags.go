package main

import (
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// notice writes what an operator should read on standard error.
func notice(cmd *cobra.Command) func(string) {
	return func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "dgm-bridge: %s\n", text) }
}

// connect connects for a command and reports the state of the connection.
func connect(cmd *cobra.Command, server *link.Flags) (*nats.Conn, error) {
	return server.Link("dgm-bridge "+cmd.Name(), notice(cmd)).Connect()
}

// runLink connects to the server, runs the link of a vehicle until it ends, and prints what it carried.
func runLink(cmd *cobra.Command, server *link.Flags, vehicle string, run func(nc *nats.Conn) (carried string, err error)) error {
	nc, err := connect(cmd, server)
	if err != nil {
		return err
	}
	defer nc.Close()
	carried, err := run(nc)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", vehicle, carried)
	return err
}

// channelNames are the flags that name the channels of a vehicle.
type channelNames struct{ model, like string }

func (n *channelNames) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&n.model, "model", "", "model that names the channels")
	f.StringVar(&n.like, "like", "", "flight log that names the channels")
}

// channels returns the channels that a model or a log names; nil where neither is
// given.
func (n *channelNames) channels() ([]channel.Channel, error) {
	switch {
	case n.model != "" && n.like != "":
		return nil, cli.Usage("--model and --like both name the channels; give one")
	case n.model != "":
		m, err := model.ReadFile(n.model)
		if err != nil {
			return nil, err
		}
		return m.Channels, nil
	case n.like != "":
		h, err := logs.Header(n.like)
		return h.Channels, err
	}
	return nil, nil
}
