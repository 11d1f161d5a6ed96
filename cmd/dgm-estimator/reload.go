package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reload offers the model files again on each SIGHUP, until ctx is done. Where a model
// is refused, the one in use stays.
func reload(ctx context.Context, all []*served) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			for _, v := range all {
				v.node.OfferFile(v.settings.Model)
			}
		}
	}
}
