package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// Names on the server.
const (
	logObjects   = "fleet-logs"
	logIndex     = "fleet-log-index"
	jobStream    = "DGM_JOBS"
	jobConsumer  = "workers"
	jobStates    = "fleet-jobs"
	modelObjects = "fleet-models"
	modelIndex   = "fleet-model-index"

	// FlownObjects is the bucket from which vehicles read their models.
	FlownObjects = "fleet-flown"

	jobPrefix = "dgm.job."
)

// OwnLogs returns the store of the logs of one vehicle, which others cannot write.
func OwnLogs(vehicle string) string { return logObjects + "-" + vehicle }

// OwnIndex returns the key-value store in which one vehicle enters its logs. The common one takes the entries from there, so that a vehicle
// fills none but its own.
func OwnIndex(vehicle string) string { return logIndex + "-" + vehicle }

// OwnFlown returns the bucket from which a vehicle with stores of its own reads its models.
func OwnFlown(vehicle string) string { return FlownObjects + "-" + vehicle }

const (
	chunkBytes = 128 << 10        // of the messages of an object
	ackLimit   = 20 * time.Second // between two acknowledgements of them: three times as long as one takes at the rate of partLimit
)

// putObject stores an object as jetstream.ObjectStore.Put does, but without the header Nats-Rollup. One whose digest is not
// the one wanted, "" = any, is not stored. What is replaced stays until the store removes it by its age.
func putObject(ctx context.Context, js jetstream.JetStream, store, name, want string, from io.Reader) (*jetstream.ObjectInfo, error) {
	info := &jetstream.ObjectInfo{Bucket: store, NUID: rand.Text(), ObjectMeta: jetstream.ObjectMeta{
		Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkBytes},
	}}
	sum := sha256.New()
	var sent []jetstream.PubAckFuture
	for {
		chunk := make([]byte, chunkBytes)
		n, err := io.ReadFull(from, chunk)
		if n > 0 {
			sum.Write(chunk[:n])
			f, err := js.PublishAsync("$O."+store+".C."+info.NUID, chunk[:n])
			if err != nil {
				return nil, err
			}
			sent, info.Size, info.Chunks = append(sent, f), info.Size+uint64(n), info.Chunks+1
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range sent {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return nil, err
		case <-time.After(ackLimit): // the server that was to acknowledge it may be gone
			return nil, nats.ErrTimeout
		case <-ctx.Done():
			return nil, nats.ErrTimeout
		}
	}
	if info.Digest = jetstream.GetObjectDigestValue(sum); want != "" && info.Digest != want {
		return nil, errChanged
	}
	_, err := js.Publish(ctx, "$O."+store+".M."+base64.URLEncoding.EncodeToString([]byte(name)), encoded(info))
	return info, err
}

// errChanged is that a file changed while it was sent.
var errChanged = errors.New("the file changed during the upload: upload it when its recording has ended")

// explained adds the remedy to an error of JetStream.
func explained(err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound):
		return fmt.Errorf("%w: this server stores no fleet yet; run dgm-fleet setup", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: the server stores no fleet yet (dgm-fleet setup), it or this account has no JetStream, or this client may not ask for it", err)
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return errReplaced
	case strings.Contains(err.Error(), "maximum bytes"):
		return fmt.Errorf("%w: the store is full, and takes nothing more until it has more room (dgm-fleet setup, for logs and models with --log-bytes, --model-bytes) or less is kept", err)
	}
	return err
}

// Transient reports whether an error is of the link or of a server that is starting, so that the same may
// succeed later.
func Transient(err error) bool {
	for _, e := range []error{
		nats.ErrTimeout, nats.ErrDisconnected, nats.ErrReconnectBufExceeded, nats.ErrNoResponders, context.DeadlineExceeded,
		jetstream.ErrNoStreamResponse, jetstream.ErrAsyncPublishTimeout,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// errReplaced is that another client has changed a value since it was read.
var errReplaced = errors.New("another client has changed the value")

// api is the prefix of requests to JetStream from accounts without stores of their own, in which the usual one asks for these, see
// Authority.
const api = "fleet.api"

// jetStream returns the client with which the account of a connection reaches a stream.
func jetStream(ctx context.Context, nc *nats.Conn, stream string) (jetstream.JetStream, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	if _, err := js.Stream(ctx, stream); errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return jetstream.NewWithAPIPrefix(nc, api)
	}
	return js, nil // what else is wrong shows when it is used
}

// bucket opens a key-value store.
func bucket(ctx context.Context, js jetstream.JetStream, name string) (jetstream.KeyValue, error) {
	kv, err := js.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("key-value store %s: %w", name, explained(err))
	}
	return kv, nil
}

// objects opens an object store.
func objects(ctx context.Context, js jetstream.JetStream, name string) (*stored.Objects, error) {
	if _, err := js.Stream(ctx, "OBJ_"+name); err != nil {
		return nil, fmt.Errorf("object store %s: %w", name, explained(err))
	}
	return &stored.Objects{NC: js.Conn(), Bucket: name}, nil
}

// listLimit bounds a listing.
const listLimit = 30 * time.Second

// An entry is a value of a key-value store. check returns why it cannot be the value of a key: others than
// this package can have written it.
type entry interface{ check(key string) error }

// errEntry is that a value was not written by this package.
var errEntry = errors.New("not an entry of a fleet")

// decode returns a value. The error wraps errEntry.
func decode[T entry](b []byte, key string) (v T, err error) {
	if err = json.Unmarshal(b, &v); err == nil {
		err = v.check(key)
	}
	if err != nil {
		return v, fmt.Errorf("key %s: %w: %w", key, errEntry, err)
	}
	return v, nil
}

// list returns the values of all keys that match a pattern, and what is wrong with those that cannot be
// read.
func list[T entry](ctx context.Context, js jetstream.JetStream, bucket, pattern string) (all []T, unreadable []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	prefix := "$KV." + bucket + "."
	at := map[string]int{} // by key: one that is changed meanwhile comes again
	err = stored.All(ctx, js.Conn(), "KV_"+bucket, prefix+pattern, func(m *stored.Message) error {
		key := strings.TrimPrefix(m.Subject, prefix)
		if deleted(m) {
			return nil
		}
		v, err := decode[T](m.Data, key)
		if err != nil {
			unreadable = append(unreadable, fmt.Sprintf("%s: %v", bucket, err))
			return nil
		}
		stamp(&v, m.Time)
		if i, ok := at[key]; ok {
			all[i] = v
			return nil
		}
		at[key], all = len(all), append(all, v)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listing %s: %w", bucket, explained(err))
	}
	return all, unreadable, nil
}

// last returns a value by a request that names its key alone, or stored.ErrNone.
func last[T entry](ctx context.Context, js jetstream.JetStream, bucket, key string) (v T, err error) {
	m, err := stored.Last(ctx, js.Conn(), "KV_"+bucket, "$KV."+bucket+"."+key)
	if err != nil {
		return v, err
	}
	if deleted(m) {
		return v, stored.ErrNone
	}
	v, err = decode[T](m.Data, key)
	stamp(&v, m.Time)
	return v, err
}

// deleted reports whether a stored message says that its key has no value any more.
func deleted(m *stored.Message) bool {
	return m.Header.Get("KV-Operation") != "" || m.Header.Get(jetstream.MarkerReasonHeader) != ""
}

// get returns a value and its revision.
func get[T entry](ctx context.Context, kv jetstream.KeyValue, key string) (v T, revision uint64, err error) {
	e, err := kv.Get(ctx, key)
	if err != nil {
		return v, 0, err
	}
	v, err = decode[T](e.Value(), key)
	stamp(&v, e.Created())
	return v, e.Revision(), err
}

// stamp sets when a log or a model was entered by the server's clock: that of a robot or a worker may show any time.
func stamp(v any, at time.Time) {
	switch v := v.(type) {
	case *Log:
		v.Uploaded = at
	case *Model:
		v.Trained = at
	}
}

// encoded returns a value of one of the types of this package as JSON.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // no type of this package contains what JSON cannot represent
	}
	return b
}
