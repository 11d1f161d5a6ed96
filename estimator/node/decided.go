package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/decisionlog"
)

// decisions is what the vehicle has seen of the fleet's log of decisions, and the file in which that is kept over a restart; "" = nowhere.
type decisions struct {
	file string

	mu   sync.Mutex
	seen *decisionlog.Vehicle // nil = the file was not read
}

// readFor bounds how long the log is read at a time: it goes on from there at the next look. Who answers in place of the server could go on for
// ever.
const readFor = time.Minute

// decisionsFile returns that file, by the one of the trust monitor.
func decisionsFile(trustFile string) string {
	if trustFile == "" {
		return ""
	}
	return trustFile + ".decisions"
}

// decided returns an error for a signed file that the log of decisions does not name for the vehicle, as the model to use or as its shadow.
// What is not signed by the key is left to Offer, and without a key there is no log.
func (s *models) decided(ctx context.Context, nc *nats.Conn, file []byte, shadow bool) error {
	key := s.accept.Key
	if key == nil {
		return nil
	}
	statement, err := model.Verify(file, key)
	if err != nil {
		return nil
	}
	d := &s.decisions
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		if d.seen, err = d.read(s.settings.Vehicle, key); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readFor)
	defer cancel()
	err = d.seen.Check(ctx, nc, &statement, shadow)
	if kept := d.seen.Encode(); kept != nil && d.file != "" {
		if err := durable.WriteFile(d.file, kept); err != nil {
			s.log("what was read of the log of decisions is forgotten at a restart: " + err.Error())
		}
	}
	return err
}

// read returns what was seen before the start. A damaged file is an error, which says how to go on.
func (d *decisions) read(vehicle string, key ed25519.PublicKey) (*decisionlog.Vehicle, error) {
	v := decisionlog.NewVehicle(vehicle, key)
	if d.file == "" {
		return v, nil
	}
	b, err := readRegular(d.file, decisionlog.MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		return v, nil
	}
	if err == nil {
		err = v.Decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("remove %s to trust the log of decisions as it is now: %w", d.file, err)
	}
	return v, nil
}
