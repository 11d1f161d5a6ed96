package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// mostModel is the size of a file that is no model, bytes.
const mostModel = 80 << 20

// reload reads the model files again on each SIGHUP, until ctx is done. A model
// that cannot be taken is told of, and the one in use stays.
func reload(ctx context.Context, crafts []*craft) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			for _, c := range crafts {
				c.reload()
			}
		}
	}
}

func (c *craft) reload() {
	path, before := c.settings.Model, c.node.Model()
	id, err := c.offer(path)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
		c.node.Refuse(err)
		c.say("the model was not taken: " + err.Error())
	case id == before:
		c.say(fmt.Sprintf("%s holds the model that is in use", path))
	default:
		c.say(fmt.Sprintf("model %s was taken, from %s", id, path))
	}
}

func (c *craft) offer(path string) (id string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > mostModel {
		return "", fmt.Errorf("%d bytes, a model has at most %d", info.Size(), mostModel)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return c.node.Offer(b)
}
