// Command dgm-fleet trains the models of many vehicles from the logs that they upload.
//
//	dgm-fleet setup --keep 90d
//	dgm-bridge upload flight.msgpack
//	dgm-fleet train --vehicle 'drone-*' --since 7d
//	dgm-fleet worker
//	dgm-fleet status
//	dgm-fleet fetch --vehicle drone-1 --out flight.dgm
//	dgm-fleet rollout --group drones --model newest --sign private.pem
//	dgm-fleet promote --group drone-1 --model newest --sign private.pem
//	dgm-fleet rollback --group drone-1 --sign private.pem
//	dgm-fleet revoke --model ID --reason 'lost a mast' --sign private.pem
//	dgm-fleet log --public-key public.pem
//	dgm-fleet audit
//	dgm-fleet demo
package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dgm-fleet",
		Short: "Train the models of many vehicles from the logs that they upload",
	}
	cmd.AddCommand(setupCommand(), auditCommand(), trainCommand(), workerCommand(), statusCommand(), cancelCommand(), fetchCommand(),
		rolloutCommand(), promoteCommand(), rollbackCommand(), pinCommand(), tagCommand(), groupCommand(), revokeCommand(), logCommand(), demoCommand(), chaosCommand(), chaosPartCommand())
	return cmd
}
