package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
)

func uploadCommand() *cobra.Command {
	var server link.Flags
	var wait time.Duration
	var config string
	var k keeper
	var names channelNames
	cmd := &cobra.Command{
		Use:   "upload [flight.msgpack …]",
		Short: "Store finished flight logs for the workers of a fleet",
		Long: `Store finished flight logs on NATS, for dgm-fleet. A log is sent in parts with SHA-256. After a lost link
or a restart only missing parts are sent. A stored log is not sent again.

With --when, as a service on a robot: record the states of a vehicle in logs of length --around until interrupted. Store all logs
(always), or those from --around before to --around after an alarm of the vehicle's estimator (alarm). Logs wait in
--dir while the link is lost, and over restarts. --config does the same by the settings of dgm-estimator.`,
		Example: "  dgm-bridge upload flight.msgpack --nats nats://fleet.example.org\n  dgm-bridge upload --when alarm --vehicle v1 --dir /var/lib/flights --model flight.dgm",
		RunE: func(cmd *cobra.Command, args []string) error {
			if config != "" {
				if len(args) > 0 || k.when != "" {
					return cli.Usage("--config has all settings of the service: no logs and no --when beside it")
				}
				return uploadBy(cmd.Context(), cmd, config, wait)
			}
			if err := k.check(args); err != nil {
				return err
			}
			channels, err := names.channels()
			if err != nil {
				return err
			}
			if k.when == "" {
				return uploadFiles(cmd, &server, args, wait)
			}
			k.channels, k.wait, k.log = channels, wait, notice(cmd)
			if k.nc, err = connect(cmd, server.For(k.vehicle)); err != nil {
				return err
			}
			defer k.nc.Close()
			return k.run(cmd.Context())
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 24*time.Hour, "give up after this time without progress")
	cmd.Flags().StringVar(&config, "config", "", "settings of dgm-estimator: record and upload its vehicles by [upload]")
	k.flags(cmd)
	names.add(cmd)
	server.Add(cmd.Flags())
	return cmd
}

// uploadFiles stores logs, with the inboxes of the vehicle of the first one.
func uploadFiles(cmd *cobra.Command, server *link.Flags, paths []string, wait time.Duration) error {
	h, err := logs.Header(paths[0])
	if err != nil {
		return err
	}
	nc, err := connect(cmd, server.For(h.Vehicle))
	if err != nil {
		return err
	}
	defer nc.Close()
	for _, path := range paths {
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
}
