package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Settings of Setup.
type Settings struct {
	Keep       time.Duration // (optional) how long a log is kept; 0 = without limit
	KeepJobs   time.Duration // (optional) how long the state of a job is kept after its end; at least 1 s; defaults to 30 days
	LogBytes   int64         // (optional) most bytes of each store of logs, beyond which uploads are refused; 0 = see limits
	ModelBytes int64         // (optional) the same of each store of models
	Replicas   int           // (optional) of everything that is stored: 1, or 3 or 5 in a cluster, where 1 is refused; defaults to 1, in a cluster to 3
	Robots     []string      // (optional) vehicles with stores of their own, which others can neither write nor read
	Lease      time.Duration // (optional) after which the job of a silent worker is given to another one; defaults to 1 min
}

const (
	usualLease    = time.Minute // of a job: it is taken up again within one and a half of it
	usualKeepJobs = 30 * 24 * time.Hour
)

// keepJobs is the name of Settings.KeepJobs in the metadata of the states of jobs.
const keepJobs = "dgm-keep-jobs"

// Setup makes everything that a fleet stores, or changes what is there to the settings.
// Nothing stored is removed, except logs that are older than Keep, and in time the states of jobs that have ended.
func Setup(ctx context.Context, nc *nats.Conn, s Settings) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	cluster := nc.ConnectedClusterName()
	switch {
	case cluster != "" && s.Replicas == 1:
		return fmt.Errorf("one replica in the cluster %.80q: the loss of one server would lose what it alone holds; use 3", cluster)
	case cluster != "":
		s.Replicas = cmp.Or(s.Replicas, 3)
	default:
		s.Replicas = cmp.Or(s.Replicas, 1)
	}
	s.Lease, s.KeepJobs = cmp.Or(s.Lease, usualLease), cmp.Or(s.KeepJobs, usualKeepJobs)
	stream := func(c jetstream.StreamConfig) error {
		c.Replicas = s.Replicas
		if err := makeStream(ctx, js, c); err != nil {
			return fmt.Errorf("stream %s: %w", c.Name, explained(err))
		}
		return nil
	}
	// The first of all: a server that removes its only stream, as limits does, removes the folder in which it would make the next.
	if err := stream(jetstream.StreamConfig{
		Name: jobStream, Description: "training jobs to do", Subjects: []string{jobPrefix + "*"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: 16 << 20, MaxMsgSize: 128 << 10,
		// A job that waits or is being worked on is not queued again.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	}); err != nil {
		return err
	}
	limits, err := limits(ctx, js, &s)
	if err != nil {
		return fmt.Errorf("room for logs and models: %w", explained(err))
	}
	stores := []jetstream.ObjectStoreConfig{
		{Bucket: logObjects, Description: "flight logs in parts", TTL: s.Keep},
		{Bucket: modelObjects, Description: "model files"},
		{Bucket: FlownObjects, Description: "signed models, as vehicles use them"},
	}
	for _, v := range s.Robots {
		stores = append(stores,
			jetstream.ObjectStoreConfig{Bucket: OwnLogs(v), Description: "flight logs of " + v, TTL: s.Keep},
			jetstream.ObjectStoreConfig{Bucket: OwnFlown(v), Description: "signed models for " + v})
	}
	for _, c := range stores {
		c.Replicas, c.Storage, c.MaxBytes = s.Replicas, jetstream.FileStorage, limits[c.Bucket]
		_, err := js.CreateOrUpdateObjectStore(ctx, c)
		if err == nil {
			rollup := strings.HasPrefix(c.Bucket, FlownObjects) // which operators alone write, by jetstream.ObjectStore
			err = bounded(ctx, js, "OBJ_"+c.Bucket, rollup, objectMessage)
		}
		if err != nil {
			return fmt.Errorf("object store %s: %w", c.Bucket, explained(err))
		}
	}
	for _, c := range []jetstream.KeyValueConfig{
		{Bucket: jobStates, Description: "states of training jobs", LimitMarkerTTL: time.Second, Metadata: map[string]string{keepJobs: s.KeepJobs.String()}, MaxBytes: 64 << 20, MaxValueSize: 128 << 10},
		{Bucket: modelIndex, Description: "models with their lineage", MaxBytes: 128 << 20, MaxValueSize: 512 << 10},
	} {
		c.Replicas, c.Storage = s.Replicas, jetstream.FileStorage
		err := fits(c.MaxBytes, func(most int64) error {
			c.MaxBytes = most
			_, err := js.CreateOrUpdateKeyValue(ctx, c)
			return err
		})
		if err == nil {
			err = bounded(ctx, js, "KV_"+c.Bucket, false, c.MaxValueSize)
		}
		if err != nil {
			return fmt.Errorf("key-value store %s: %w", c.Bucket, explained(err))
		}
	}
	for _, c := range append(indexes(s.Robots, s.Keep), decisionConfig()) {
		if err := stream(c); err != nil {
			return err
		}
	}
	// Deliveries are not limited here: the state of a job counts its tries.
	_, err = js.CreateOrUpdateConsumer(ctx, jobStream, jetstream.ConsumerConfig{
		Durable: jobConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.Lease, MaxDeliver: -1,
	})
	if err != nil {
		return fmt.Errorf("consumer %s of stream %s: %w", jobConsumer, jobStream, explained(err))
	}
	return nil
}

// makeStream makes a stream, or changes it: it never gets less room. One of which nothing can be removed gets twice what it holds.
func makeStream(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) error {
	held, limit, err := sizeOf(ctx, js, c.Name)
	if err != nil {
		return err
	}
	if c.DenyPurge {
		c.MaxBytes = max(c.MaxBytes, 2*held)
	}
	c.Storage = jetstream.FileStorage
	return fits(c.MaxBytes, func(most int64) error {
		c.MaxBytes = max(most, limit)
		_, err := js.CreateOrUpdateStream(ctx, c)
		return err
	})
}

// Parts of what a server can set aside: of all logs, and of all models.
const (
	logPart   = 0.5
	modelPart = 0.125
)

// limits returns how many bytes each object store may have: what is set, or has been; else an equal part, with the other logs or the other
// models, of what the server can set aside for these. A cluster does not show that: there they have no limit, -1. So what fills one store, as
// a vehicle that uploads all it can, takes the room of no other, and none of decisions.
func limits(ctx context.Context, js jetstream.JetStream, s *Settings) (map[string]int64, error) {
	logs, models := []string{logObjects}, []string{modelObjects, FlownObjects}
	for _, v := range s.Robots {
		if err := wire.CheckVehicle(v); err != nil {
			return nil, err
		}
		logs, models = append(logs, OwnLogs(v)), append(models, OwnFlown(v))
	}
	all, free := map[string]int64{}, int64(-1)
	for _, of := range []struct {
		stores []string
		set    int64
		part   float64
	}{{logs, s.LogBytes, logPart}, {models, s.ModelBytes, modelPart}} {
		held := map[string]int64{} // of those without a limit
		for _, store := range of.stores {
			if all[store] = of.set; of.set > 0 {
				continue
			}
			bytes, limit, err := sizeOf(ctx, js, "OBJ_"+store)
			if err != nil {
				return nil, err
			}
			if all[store] = limit; limit <= 0 {
				all[store], held[store] = -1, bytes
			}
		}
		if len(held) == 0 || s.Replicas > 1 { // the servers of a cluster know late what was given back
			continue
		}
		if free < 0 {
			var err error
			if free, err = room(ctx, js, s.Replicas); err != nil {
				return nil, err
			}
		}
		for store, bytes := range held {
			all[store] = max(int64(of.part*float64(free))/int64(len(held)), 2*bytes, leastReserved)
		}
	}
	return all, nil
}

// sizeOf returns how many bytes a stream has and may have, -1 without a limit; 0 of none.
func sizeOf(ctx context.Context, js jetstream.JetStream, name string) (bytes, limit int64, err error) {
	stream, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	info := stream.CachedInfo()
	return int64(info.State.Bytes), info.Config.MaxBytes, nil
}

// room returns how many bytes a server can set aside, or a half of it or more.
func room(ctx context.Context, js jetstream.JetStream, replicas int) (most int64, err error) {
	const name = "DGM_ROOM"
	if err := fits(1<<50, func(bytes int64) error {
		most = bytes
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{"dgm.room"}, MaxBytes: bytes, Replicas: replicas, Storage: jetstream.FileStorage})
		return err
	}); err != nil {
		return 0, err
	}
	return most, js.DeleteStream(ctx, name)
}

// Most bytes of the index of logs, of the part of it that one vehicle fills, and of an entry.
const (
	indexBytes    = 256 << 20
	ownIndexBytes = 16 << 20
	entryBytes    = 512 << 10
)

// indexes returns the key-value stores with the entries of logs: of each vehicle one that it writes, and last the common one, which takes
// from each the entries of that vehicle.
func indexes(vehicles []string, keep time.Duration) (all []jetstream.StreamConfig) {
	index := func(bucket, description string, most int64) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: "KV_" + bucket, Description: description, Subjects: []string{"$KV." + bucket + ".>"}, MaxMsgsPerSubject: 1, MaxAge: keep, MaxBytes: most, MaxMsgSize: entryBytes,
			Discard: jetstream.DiscardNew, DenyDelete: true, AllowDirect: true,
		}
	}
	common := index(logIndex, "what is in the flight logs", indexBytes+int64(len(vehicles))*ownIndexBytes)
	for _, v := range vehicles {
		own := index(OwnIndex(v), "what is in the flight logs of "+v, ownIndexBytes)
		all = append(all, own)
		common.Sources = append(common.Sources, &jetstream.StreamSource{Name: own.Name, SubjectTransforms: []jetstream.SubjectTransformConfig{
			{Source: "$KV." + OwnIndex(v) + "." + v + ".*", Destination: "$KV." + logIndex + "." + v + ".{{wildcard(1)}}"},
		}})
	}
	return append(all, common)
}

// oldStores are key-value stores of versions before the log of decisions. Nothing reads them.
var oldStores = [...]string{"fleet-installations", "fleet-names", "fleet-rollouts", "fleet-study-rows"}

// askOld bounds how long is asked for them: who may not ask gets no answer.
const askOld = 2 * time.Second

// OldStores lists the key-value stores of earlier versions that a server still has, as far as this client may see them: nothing reads
// what they hold, as what is decided is in the log of decisions.
func OldStores(ctx context.Context, nc *nats.Conn) (names []string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askOld)
	defer cancel()
	for _, name := range oldStores {
		if _, err := js.Stream(ctx, "KV_"+name); err == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// RemoveOldStores removes them, and returns the names of those that it has removed.
func RemoveOldStores(ctx context.Context, nc *nats.Conn) (names []string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	for _, name := range oldStores {
		switch err := js.DeleteKeyValue(ctx, name); {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, jetstream.ErrBucketNotFound):
			return names, fmt.Errorf("removing the key-value store %s: %w", name, explained(err))
		}
	}
	return names, nil
}

// objectMessage is the most that a message of an object has: a part of it, or its description.
const objectMessage = 2 * chunkBytes

// bounded lets a stream refuse messages of more bytes, and, unless rollup is set, the header Nats-Rollup: with it who may write one
// subject of the stream removes the messages of all others. Messages with a time to live leave no marker, which needs it.
func bounded(ctx context.Context, js jetstream.JetStream, name string, rollup bool, most int32) error {
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return err
	}
	c := stream.CachedInfo().Config
	if c.MaxMsgSize = most; !rollup {
		c.AllowRollup, c.SubjectDeleteMarkerTTL = false, 0
	}
	_, err = js.UpdateStream(ctx, c)
	return err
}

// leastReserved is the least room that a store is given, bytes.
const leastReserved = 1 << 20

// fits makes a store of at most so many bytes, or of as many as the server can set aside, half as often as it must be.
func fits(most int64, make func(most int64) error) error {
	for {
		err := make(most)
		if most /= 2; err == nil || !strings.Contains(err.Error(), "insufficient") || most < leastReserved {
			return err
		}
	}
}
