package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// store is where models come from while the node runs: one object of a JetStream
// object store bucket.
type store struct {
	bucket, object string
	digest         string // of what was offered last, taken or not
}

const (
	storeRetry = 2 * time.Second
	mostModel  = 80 << 20 // bytes of an object
)

// Watch offers the node every model that is put into an object of a bucket, the
// one that is there at first, until ctx is done. It waits for a server, a bucket
// and an object that are not there yet, and comes back with the link. An object is
// offered once: neither a link that came back nor a rollback brings it again.
func (n *Node) Watch(ctx context.Context, nc *nats.Conn, bucket, object string) {
	s := &store{bucket: bucket, object: object}
	told := ""
	for ctx.Err() == nil {
		err := n.watch(ctx, nc, s)
		switch {
		case err == nil:
			told = ""
			continue // the link came back
		case ctx.Err() != nil:
			return
		case err.Error() != told:
			told = err.Error()
			n.cfg.Log(fmt.Sprintf("bucket %s cannot be watched (%v); trying again", bucket, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(storeRetry):
		}
	}
}

// watch watches until ctx is done, the link came back (nil) or something fails.
func (n *Node) watch(ctx context.Context, nc *nats.Conn, s *store) error {
	since := epoch(nc)
	js, err := nc.JetStream(nats.MaxWait(storeRetry))
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
	every := time.NewTicker(storeRetry)
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
				n.fetch(bucket, info)
			}
		case <-every.C:
			if epoch(nc) != since {
				return nil
			}
		}
	}
}

// fetch gets an object and offers it.
func (n *Node) fetch(bucket nats.ObjectStore, info *nats.ObjectInfo) {
	var id string
	before := n.Model()
	err := fmt.Errorf("%d bytes, at most %d", info.Size, mostModel)
	if info.Size <= mostModel {
		var b []byte
		if b, err = bucket.GetBytes(info.Name); err == nil {
			id, err = n.Offer(b)
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("object %s of bucket %s: %w", info.Name, info.Bucket, err)
		n.Refuse(err)
		n.cfg.Log("a model was not taken: " + err.Error())
	case id != before:
		n.cfg.Log(fmt.Sprintf("model %s was taken, from object %s of bucket %s", id, info.Name, info.Bucket))
	}
}
