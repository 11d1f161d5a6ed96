package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// checkLinks is how often the links are checked.
const checkLinks = 20 * time.Millisecond

// notifySystemd reports that the service is ready once every vehicle has its model and
// its link, and feeds the watchdog as long as every vehicle is alive. Where no service
// manager has started this process it does nothing.
func notifySystemd(ctx context.Context, all []*served, log func(string)) {
	defer func() { _, _ = daemon.SdNotify(false, daemon.SdNotifyStopping) }()
	for !connected(all) {
		if cli.Wait(ctx, checkLinks); ctx.Err() != nil {
			return
		}
	}
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		log("the service manager cannot be notified that this is ready: " + err.Error())
	}
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return
	}
	every := time.NewTicker(interval / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if name := stalled(all); name != "" {
				_, _ = daemon.SdNotify(false, fmt.Sprintf("STATUS=vehicle %s: predictions are not made in time", name))
				continue // not fed: the manager restarts this process
			}
			_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog+"\nSTATUS=predicting")
		}
	}
}

// connected reports whether every vehicle has its link and has published a status.
func connected(all []*served) bool {
	for _, v := range all {
		if !v.nc.IsConnected() || v.node.StatusMessage() == nil {
			return false
		}
	}
	return true
}

// stalled returns a vehicle that is not alive, "" if there is none.
func stalled(all []*served) (name string) {
	for _, v := range all { // without a break: each compares with its last call
		if !v.node.Alive() {
			name = v.node.Vehicle()
		}
	}
	return name
}
