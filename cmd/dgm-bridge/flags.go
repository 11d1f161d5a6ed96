package main

import (
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// required marks a flag as one that must be there.
func required(cmd *cobra.Command, name string) {
	if err := cmd.MarkFlagRequired(name); err != nil {
		panic(err)
	}
}

// notice writes what an operator should read on standard error.
func notice(cmd *cobra.Command) func(string) {
	return func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "dgm-bridge: %s\n", text) }
}

// connect connects for a command and reports the state of the connection.
func connect(cmd *cobra.Command, server *link.Flags) (*nats.Conn, error) {
	return server.Link("dgm-bridge "+cmd.Name(), notice(cmd)).Connect()
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
		h, err := logHeader(n.like)
		return h.Channels, err
	}
	return nil, nil
}

// logHeader reads the header of a flight log.
func logHeader(path string) (h flightlog.Header, err error) {
	r, err := flightlog.OpenFile(path)
	if err != nil {
		return h, logs.Explained(path, err)
	}
	defer r.Close()
	return r.Header(), nil
}
