package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// manCommand writes the manual page, for packagers.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man [subcommand]",
		Short:  "Write the manual page",
		Hidden: true,
		Args:   cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			if len(args) == 1 {
				sub, _, err := about.Find(args)
				if err != nil || sub == about {
					return cli.Usage("there is no subcommand %q", args[0])
				}
				about = sub
			}
			return cli.Manual(cmd.OutOrStdout(), about, files)
		},
	}
}

// files are listed in the manual.
const files = `/etc/dgm/estimator.toml: settings of the service, all of them with comments
/var/lib/dgm-estimator/flight.dgm: the model
/var/lib/dgm-estimator/trust: state of the trust monitor, kept over a restart`
