package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// patrol is how often it is looked whether the links are there.
const patrol = 100 * time.Millisecond

// tellSystemd says that the service is ready once every vehicle has its model and
// its link, and feeds the watchdog as long as every vehicle's work is done. Where
// no service manager has started this process it does nothing.
func tellSystemd(ctx context.Context, crafts []*craft, say func(string)) {
	defer func() { _, _ = daemon.SdNotify(false, daemon.SdNotifyStopping) }()
	for !connected(crafts) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patrol):
		}
	}
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		say("the service manager cannot be told that this is ready: " + err.Error())
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
			if name := idle(crafts); name != "" {
				_, _ = daemon.SdNotify(false, fmt.Sprintf("STATUS=vehicle %s: predictions are not made in time", name))
				continue // not fed: in a while this process is started anew
			}
			_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog+"\nSTATUS=predicting")
		}
	}
}

// connected says whether every vehicle has its link and has told how it is.
func connected(crafts []*craft) bool {
	for _, c := range crafts {
		if !c.nc.IsConnected() || c.node.StatusMessage() == nil {
			return false
		}
	}
	return true
}

// idle returns a vehicle whose work is not done, "" if there is none.
func idle(crafts []*craft) (name string) {
	for _, c := range crafts { // all are asked: each counts from when it was asked last
		if !c.node.Alive() {
			name = c.node.Vehicle()
		}
	}
	return name
}
