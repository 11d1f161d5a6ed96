package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// store is where models come from while the node runs: an object of a JetStream
// object store bucket with the model to use, and one with its shadow.
type store struct {
	nc     *nats.Conn
	bucket string
	from   objects // of the bucket
	object string
	retry  time.Duration
	digest string               // of what was offered last, accepted or not
	shadow string               // the same of the shadow
	beside string               // ID of the model that the shadow was offered beside
	again  map[string]postponed // by name: objects that could not be used
}

// postponed is an object that is tried again at a time, or when it has changed.
type postponed struct {
	digest string
	until  time.Time
}

// objects are those of a bucket, see stored.Objects.
type objects interface {
	Info(ctx context.Context, name string) (*stored.Info, error)
	Copy(ctx context.Context, to io.Writer, info *stored.Info, most int64) error
}

// shadowObject returns the object of the shadow: flight.shadow.dgm beside flight.dgm.
func (s *store) shadowObject() string { return strings.TrimSuffix(s.object, ".dgm") + ".shadow.dgm" }

// OfferFile offers the model in a file and logs what came of it.
func (n *Node) OfferFile(path string) {
	n.offer(path, false, func() ([]byte, error) { return readRegular(path, model.MaxFile) })
}

// offer offers the file that read returns and logs what came of it. once is true where a
// file that was refused before is not tried again. held is true for a model that waits for the
// vehicle's permission.
func (n *Node) offer(source string, once bool, read func() ([]byte, error)) (held bool) {
	var id string
	before := n.Model()
	b, err := read()
	if err == nil {
		if err = n.models.refusals.of(source, b); err != nil && once {
			n.Refuse(fmt.Errorf("%s: %w", source, err))
			return false
		}
		if id, err = n.Offer(b); err != nil && !errors.Is(err, errHeld) {
			n.models.refusals.add(source, b, err)
		}
	}
	switch {
	case errors.Is(err, errHeld) && once:
		n.log.limited(fmt.Sprintf("model %s waits: %v", id, err))
		return true
	case err != nil:
		err = fmt.Errorf("%s: %w", source, err)
		n.Refuse(err)
		log := n.cfg.Log
		if once { // by whoever writes the bucket
			log = n.log.limited
		}
		log("the model was refused: " + err.Error())
	case id == before:
		n.cfg.Log(source + " has the model that is in use")
	default:
		n.cfg.Log(fmt.Sprintf("model %s is in use, from %s", id, source))
	}
	return false
}

// Watch offers the node every model that is put into an object of a bucket, the
// one that is there at first, until ctx is done. It looks every two seconds, and waits for a server, a bucket
// and an object that are not there yet. An object is
// offered once: neither a link that came back nor a rollback brings it again, and one that
// was refused is not tried again by another watch, either, until it changes.
func (n *Node) Watch(ctx context.Context, nc *nats.Conn, bucket, object string) {
	n.watch(ctx, newStore(nc, bucket, object, 2*time.Second))
}

func newStore(nc *nats.Conn, bucket, object string, retry time.Duration) *store {
	return &store{nc: nc, bucket: bucket, from: &stored.Objects{NC: nc, Bucket: bucket}, object: object, retry: retry, again: map[string]postponed{}}
}

func (n *Node) watch(ctx context.Context, s *store) {
	logged := ""
	for {
		err := s.poll(ctx, n)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			logged = ""
		case err.Error() != logged:
			logged = err.Error()
			n.cfg.Log(fmt.Sprintf("bucket %s cannot be watched (%v); trying again", s.bucket, err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.retry):
		}
	}
}

// poll offers what has changed in the bucket.
func (s *store) poll(ctx context.Context, n *Node) error {
	// The shadow first: it ends before it becomes the model to use.
	info, err := s.from.Info(ctx, s.shadowObject())
	switch {
	case errors.Is(err, stored.ErrNone):
		n.EndShadow()
		s.shadow = ""
	case err != nil:
		return err
	case (info.Digest != s.shadow || s.beside != n.Model()) && !s.waits(info):
		beside := n.Model()
		b, err := s.read(ctx, n, info, true)
		if err == nil {
			_, err = n.OfferShadow(b)
		}
		if !errors.Is(err, errUnread) {
			s.shadow, s.beside = info.Digest, beside
		}
		if err != nil {
			n.EndShadow()
			n.log.limited(fmt.Sprintf("object %s of bucket %s: the shadow was refused: %v", info.Name, s.bucket, err))
		}
	}
	info, err = s.from.Info(ctx, s.object)
	switch {
	case errors.Is(err, stored.ErrNone):
		return nil
	case err != nil:
		return err
	case info.Digest == s.digest || s.waits(info):
		return nil
	}
	// The header saves fetching a file again and again while it must wait.
	if id := info.Headers.Get(wire.ModelHeader); id != "" && id != n.Model() && n.models.admitSwap(id) != nil {
		return nil
	}
	source := fmt.Sprintf("object %s of bucket %s", info.Name, s.bucket)
	b, err := s.read(ctx, n, info, false)
	if errors.Is(err, errUnread) {
		err = fmt.Errorf("%s: %w", source, err)
		n.Refuse(err)
		n.log.limited(err.Error())
		return nil
	}
	if held := n.offer(source, true, func() ([]byte, error) { return b, err }); !held {
		s.digest = info.Digest
	}
	return nil
}

var (
	errUnread = errors.New("it cannot be used now; trying again")
	errLarge  = fmt.Errorf("it has more than %d MiB, the most of a model", model.MaxFile>>20)
)

// waits reports whether an object could not be used a short while ago.
func (s *store) waits(info *stored.Info) bool {
	p := s.again[info.Name]
	return p.digest == info.Digest && time.Now().Before(p.until)
}

// read reads an object, of which the fleet must have decided that the vehicle uses it, or has it as its shadow. The error is errUnread where
// the object may be all right, and then the object is not tried again for a while.
func (s *store) read(ctx context.Context, n *Node, info *stored.Info, shadow bool) ([]byte, error) {
	var b bytes.Buffer
	err := s.from.Copy(ctx, &b, info, model.MaxFile)
	if err == nil {
		err = n.models.decided(ctx, s.nc, b.Bytes(), shadow)
	}
	switch {
	case err == nil:
		return b.Bytes(), nil
	case errors.Is(err, stored.ErrLarge):
		return nil, errLarge
	case errors.Is(err, stored.ErrLink), errors.Is(err, stored.ErrChanged):
		return nil, err
	default:
		s.again[info.Name] = postponed{info.Digest, time.Now().Add(15 * s.retry)}
		return nil, fmt.Errorf("%w: %w", errUnread, err)
	}
}
