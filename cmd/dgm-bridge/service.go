package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/textlimit"
)

// robotSettings are what an upload reads of the settings of dgm-estimator, whose other keys it skips.
type robotSettings struct {
	servedVehicle
	Vehicles []servedVehicle `toml:"vehicles"`
	NATS     link.Flags      `toml:"nats"`
	Upload   struct {
		When   string        `toml:"when"`
		Around time.Duration `toml:"around"`
		MostMB int64         `toml:"most_mb"`
		Dir    string        `toml:"dir"`
	} `toml:"upload"`
}

type servedVehicle struct {
	Model   string `toml:"model"`
	Vehicle string `toml:"vehicle"`
}

// uploadBy records and uploads the vehicles of the settings of dgm-estimator until the context ends.
func uploadBy(ctx context.Context, cmd *cobra.Command, path string, wait time.Duration) error {
	b, err := cli.ReadSettings(path)
	if err != nil {
		return err
	}
	s := robotSettings{servedVehicle: servedVehicle{Model: "flight.dgm"}} // with the defaults of estimator.toml
	s.NATS.URL, s.Upload.Around, s.Upload.MostMB, s.Upload.Dir = "nats://127.0.0.1:4222", 2*time.Minute, 10_000, "uploads"
	if err := textlimit.TOML(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := toml.Decode(string(b), &s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if s.Upload.When == "" || s.Upload.When == "never" {
		notice(cmd)("nothing is uploaded: in " + path + " when is \"never\"; \"alarm\" or \"always\" uploads")
		return nil
	}
	if len(s.Vehicles) == 0 {
		s.Vehicles = []servedVehicle{s.servedVehicle}
	}
	ctx, cancel := context.WithCancel(ctx) // the service manager starts all again when one ends
	defer cancel()
	failed := make([]error, len(s.Vehicles))
	var running sync.WaitGroup
	for i, v := range s.Vehicles {
		running.Go(func() {
			defer cancel()
			failed[i] = v.upload(ctx, cmd, &s, wait)
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

func (v servedVehicle) upload(ctx context.Context, cmd *cobra.Command, s *robotSettings, wait time.Duration) error {
	m, err := model.ReadFile(cmp.Or(v.Model, s.Model))
	if err != nil {
		return err
	}
	name := cmp.Or(v.Vehicle, m.Vehicle)
	k := &keeper{
		when: s.Upload.When, vehicle: name, dir: filepath.Join(s.Upload.Dir, name), around: s.Upload.Around, megabyte: s.Upload.MostMB,
		channels: m.Channels, wait: wait, log: notice(cmd),
	}
	if err := k.check(nil); err != nil {
		return err
	}
	if k.nc, err = connect(cmd, s.NATS.For(name)); err != nil {
		return err
	}
	defer k.nc.Close()
	return k.run(ctx)
}
