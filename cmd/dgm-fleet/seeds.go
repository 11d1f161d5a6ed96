package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/bridge/fleet"
)

func keyFile(dir, role string) string { return filepath.Join(dir, role+".nk") }

func credsFile(dir, role string) string { return filepath.Join(dir, role+".creds") }

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func readKey(dir, role string) (nkeys.KeyPair, error) {
	name := keyFile(dir, role)
	seed, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pair, nil
}

// haveKey reads the key of a role, or makes one where there is none.
func haveKey(dir, role string, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, made bool, err error) {
	if pair, err = readKey(dir, role); !errors.Is(err, fs.ErrNotExist) {
		return pair, false, err
	}
	if pair, err = create(); err == nil {
		err = writeKey(dir, role, pair)
	}
	return pair, err == nil, err
}

func writeKey(dir, role string, pair nkeys.KeyPair) error {
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(keyFile(dir, role), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\n", seed)
	return errors.Join(err, f.Close())
}

// robotsOf returns the vehicles that have a key in a folder.
func robotsOf(dir string) (robots []string, err error) {
	names, err := filepath.Glob(keyFile(dir, fleet.RobotRole("*")))
	for _, n := range names {
		robots = append(robots, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(n), fleet.RobotRole("")), ".nk"))
	}
	slices.Sort(robots)
	return robots, err
}
