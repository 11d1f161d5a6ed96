package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
)

func uploadCommand() *cobra.Command {
	var server link.Flags
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "upload flight.msgpack …",
		Short: "Store finished flight logs for the workers of a fleet",
		Long: `Store finished flight logs on NATS, for dgm-fleet. A log is sent in parts with SHA-256; after the link
was lost, or the program was started again, only what is missing is sent. A log that is stored already is not
sent again.`,
		Example: "  dgm-bridge upload flight.msgpack --nats nats://fleet.example.org",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			server.Inbox = "_INBOX_estimator" // it uploads what its robot has recorded
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			for _, path := range args {
				log, sent, err := upload(cmd.Context(), nc, path, wait, notice(cmd))
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: log %.12s of %s, %s: %d bytes sent, %d were there\n",
					path, log.ID, log.Vehicle, cli.Count(log.Samples, "sample"), sent.Bytes, sent.Had); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 24*time.Hour, "give up after so long without a part that was sent")
	server.Add(cmd.Flags())
	return cmd
}

// upload stores a log, beginning again after errors of the link until it has waited for too long
// without progress.
func upload(ctx context.Context, nc *nats.Conn, path string, wait time.Duration, log func(string)) (l fleet.Log, sent fleet.Sent, err error) {
	const pause = 2 * time.Second
	last := time.Now()
	for {
		var logs *fleet.Logs
		if logs, err = fleet.OpenLogs(ctx, nc); err == nil {
			l, sent, err = logs.Upload(ctx, path, func(s fleet.Sent) {
				if s.Bytes > 0 {
					last = time.Now()
				}
			})
		}
		if err == nil || !fleet.Transient(err) || ctx.Err() != nil || time.Since(last) > wait {
			return l, sent, err
		}
		log(fmt.Sprintf("%v; trying again", err))
		select {
		case <-ctx.Done():
			return l, sent, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
