package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/nats-io/nats.go"
)

// store is where models come from while the node runs: one object of a JetStream
// object store bucket.
type store struct {
	bucket, object string
	retry          time.Duration
	digest         string // of what was offered last, accepted or not
}

// OfferFile offers the model in a file and logs what came of it.
func (n *Node) OfferFile(path string) {
	n.offer(path, false, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readModel(f)
	})
}

// readModel reads the bytes of a model's file to its end, and no more than one has,
// whatever is said of its size.
func readModel(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, model.MaxFile+1))
	if err == nil && len(b) > model.MaxFile {
		return nil, fmt.Errorf("it has more than %d MiB, the most of a model", model.MaxFile>>20)
	}
	return b, err
}

// offer offers the file that read returns and logs what came of it. once is true where a
// file that was refused before is not tried again.
func (n *Node) offer(source string, once bool, read func() ([]byte, error)) {
	var id string
	before := n.Model()
	b, err := read()
	if err == nil {
		if err = n.models.refusals.of(source, b); err != nil && once {
			n.Refuse(fmt.Errorf("%s: %w", source, err))
			return
		}
		if id, err = n.Offer(b); err != nil {
			n.models.refusals.add(source, b, err)
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", source, err)
		n.Refuse(err)
		n.cfg.Log("the model was refused: " + err.Error())
	case id == before:
		n.cfg.Log(source + " holds the model that is in use")
	default:
		n.cfg.Log(fmt.Sprintf("model %s is in use, from %s", id, source))
	}
}

// Watch offers the node every model that is put into an object of a bucket, the
// one that is there at first, until ctx is done. It waits for a server, a bucket
// and an object that are not there yet, and comes back with the link. An object is
// offered once: neither a link that came back nor a rollback brings it again, and one that
// was refused is not tried again by another watch, either, until it changes.
func (n *Node) Watch(ctx context.Context, nc *nats.Conn, bucket, object string) {
	n.watch(ctx, nc, &store{bucket: bucket, object: object, retry: 2 * time.Second})
}

func (n *Node) watch(ctx context.Context, nc *nats.Conn, s *store) {
	logged := ""
	for ctx.Err() == nil {
		err := s.watch(ctx, nc, n)
		switch {
		case err == nil:
			logged = ""
			continue // the link came back
		case ctx.Err() != nil:
			return
		case err.Error() != logged:
			logged = err.Error()
			n.cfg.Log(fmt.Sprintf("bucket %s cannot be watched (%v); trying again", s.bucket, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.retry):
		}
	}
}

// watch watches until ctx is done, the link came back (nil) or something fails.
func (s *store) watch(ctx context.Context, nc *nats.Conn, n *Node) error {
	since := epoch(nc)
	js, err := nc.JetStream(nats.MaxWait(2 * time.Second))
	if err != nil {
		return err
	}
	bucket, err := js.ObjectStore(s.bucket)
	if err != nil {
		return err
	}
	w, err := bucket.Watch()
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }() // the link may be gone
	every := time.NewTicker(s.retry)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case info, open := <-w.Updates():
			if !open {
				return errors.New("the server ended the watch")
			}
			if info != nil && !info.Deleted && info.Name == s.object && info.Digest != s.digest {
				s.digest = info.Digest
				n.offer(fmt.Sprintf("object %s of bucket %s", info.Name, info.Bucket), true, func() ([]byte, error) {
					o, err := bucket.Get(info.Name)
					if err != nil {
						return nil, err
					}
					defer o.Close()
					return readModel(o)
				})
			}
		case <-every.C:
			if epoch(nc) != since {
				return nil
			}
		}
	}
}
