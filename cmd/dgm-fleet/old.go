package main

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
)

// tidy removes the stores of earlier versions, or names them.
func tidy(cmd *cobra.Command, nc *nats.Conn, remove bool) error {
	if !remove {
		names, err := fleet.OldStores(cmd.Context(), nc)
		if len(names) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s\n", oldStores(names))
		}
		return err
	}
	names, err := fleet.RemoveOldStores(cmd.Context(), nc)
	for _, name := range names {
		fmt.Fprintf(cmd.OutOrStdout(), "removed the key-value store %s\n", name)
	}
	return err
}

// oldStores says which stores of earlier versions there are, and how to remove them.
func oldStores(names []string) string {
	return fmt.Sprintf("key-value stores of an earlier version are there, which nothing reads: %s; to remove them: dgm-fleet setup --remove-old", strings.Join(names, ", "))
}
