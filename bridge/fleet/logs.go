package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Log is the entry of one flight log in the index.
type Log struct {
	ID       string    `json:"id"` // SHA-256 of the file, hex
	Vehicle  string    `json:"vehicle"`
	Name     string    `json:"name"` // of the file that was uploaded, without its folder
	Bytes    int64     `json:"bytes"`
	Parts    []Part    `json:"parts"`
	From     int64     `json:"from"` // ns, the earliest and the latest time stamp of its samples
	To       int64     `json:"to"`
	Samples  int       `json:"samples"`
	Damages  int       `json:"damages"` // places that cannot be read
	Channels []string  `json:"channels"`
	Models   []string  `json:"models,omitempty"`   // that flew, where the log has remarks of Flown
	Coverage *float64  `json:"coverage,omitempty"` // of 95 % intervals, as the vehicle reported it last
	Alarms   []string  `json:"alarms,omitempty"`   // names
	Uploaded time.Time `json:"uploaded"`           // by the clock of the robot; by that of the server in a listing
}

// key returns where the log is in the index.
func (l Log) key() string { return l.Vehicle + "." + l.ID }

func (l Log) check(key string) error {
	if b, err := hex.DecodeString(l.ID); err != nil || len(b) != sha256.Size {
		return fmt.Errorf("id %.80q is no SHA-256", l.ID)
	}
	if err := wire.CheckVehicle(l.Vehicle); err != nil {
		return err
	}
	if l.key() != key {
		return fmt.Errorf("it is the entry of %s", l.key())
	}
	sum := int64(0)
	for i, p := range l.Parts {
		if p.Bytes <= 0 || p.Bytes > mostLog || sum+p.Bytes > mostLog {
			return fmt.Errorf("part %d has %d bytes: a log has at most %d GiB", i+1, p.Bytes, mostLog>>30)
		}
		sum += p.Bytes
	}
	if sum != l.Bytes {
		return fmt.Errorf("its parts have %d bytes, and it has %d", sum, l.Bytes)
	}
	return nil
}

// object returns the name of a part among the objects.
func (l *Log) object(part int) string { return fmt.Sprintf("%s/%d", l.ID, part) }

const (
	partBytes = 2 << 20         // of a part, by default
	mostLog   = 16 << 30        // bytes; one that is fetched must fit on the disk of its worker
	partLimit = 2 * time.Minute // to send one part: 17 kB/s
)

// Logs are the flight logs of a fleet.
type Logs struct {
	js   jetstream.JetStream
	part int64 // bytes

	mu     sync.Mutex
	stores map[string]string // by vehicle: the store of its logs
}

// OpenLogs opens the logs of a fleet.
func OpenLogs(ctx context.Context, nc *nats.Conn) (*Logs, error) {
	l, err := Uploads(nc)
	if err != nil {
		return nil, err
	}
	if l.js, err = jetStream(ctx, nc, "OBJ_"+logObjects); err != nil {
		return nil, err
	}
	if _, err = objects(ctx, l.js, logObjects); err == nil {
		_, err = bucket(ctx, l.js, logIndex)
	}
	return l, err
}

// Uploads returns the logs of a fleet for a robot, which asks for no more than it uploads: whether there is a fleet shows then.
func Uploads(nc *nats.Conn) (*Logs, error) {
	js, err := jetstream.New(nc)
	return &Logs{js: js, part: partBytes, stores: map[string]string{}}, err
}

// of returns the store of the logs of a vehicle: its own where Setup has made one, else the common one.
func (l *Logs) of(ctx context.Context, vehicle string) (*stored.Objects, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.stores[vehicle]
	if name == "" {
		name = OwnLogs(vehicle)
		_, err := (&stored.Objects{NC: l.js.Conn(), Bucket: name}).Info(ctx, "-")
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			name = logObjects
		case err != nil && !errors.Is(err, stored.ErrNone):
			return nil, err
		}
		l.stores[vehicle] = name
	}
	return &stored.Objects{NC: l.js.Conn(), Bucket: name}, nil
}

// Sent is what an upload had to send.
type Sent struct {
	Bytes int64 // sent
	Had   int64 // bytes that the server had already
}

// Upload stores a finished flight log and enters it into the index. Parts that an earlier
// upload has completed are not sent again. Those of a log that is in the index are read, and those that were changed since are sent again.
// progress (optional) is called after each part.
func (l *Logs) Upload(ctx context.Context, path string, progress func(Sent)) (Log, Sent, error) {
	var sent Sent
	f, err := os.Open(path)
	if err != nil {
		return Log{}, sent, err
	}
	defer f.Close()
	log, err := l.describe(f, path)
	if err != nil {
		return Log{}, sent, err
	}
	if err := log.check(log.key()); err != nil {
		return log, sent, fmt.Errorf("%s: %w", path, err)
	}
	index := OwnIndex(log.Vehicle) // where Setup has made one
	there, err := last[Log](ctx, l.js, index, log.key())
	if errors.Is(err, nats.ErrNoResponders) {
		index = logIndex
		there, err = last[Log](ctx, l.js, index, log.key())
	}
	entered := err == nil // its parts may have been changed since
	if !entered && !errors.Is(err, stored.ErrNone) {
		return log, sent, fmt.Errorf("%s: %w", path, explained(err))
	}
	store, err := l.of(ctx, log.Vehicle)
	if err != nil {
		return log, sent, fmt.Errorf("%s: %w", path, explained(err))
	}
	at := int64(0)
	for i, p := range log.Parts {
		had, err := l.send(ctx, store, log.object(i), p, io.NewSectionReader(f, at, p.Bytes), entered)
		if err != nil {
			return log, sent, fmt.Errorf("%s: part %d of %d: %w", path, i+1, len(log.Parts), explained(err))
		}
		at += p.Bytes
		if had {
			sent.Had += p.Bytes
		} else {
			sent.Bytes += p.Bytes
		}
		if progress != nil {
			progress(sent)
		}
	}
	if entered {
		return there, sent, nil
	}
	log.Uploaded = time.Now().UTC()
	if _, err := l.js.Publish(ctx, "$KV."+index+"."+log.key(), encoded(&log)); err != nil {
		return log, sent, fmt.Errorf("%s: entering it into the index: %w", path, explained(err))
	}
	l.listed(ctx, &log)
	return log, sent, nil
}

// listedLimit bounds how long an upload waits until the common index has taken a log over, which the server does in its own time.
const listedLimit = 5 * time.Second

// listed waits until a log is listed.
func (l *Logs) listed(ctx context.Context, log *Log) {
	ctx, cancel := context.WithTimeout(ctx, listedLimit)
	defer cancel()
	for {
		if _, err := last[Log](ctx, l.js, logIndex, log.key()); !errors.Is(err, stored.ErrNone) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(listedLimit / 100):
		}
	}
}

// send stores a part unless it is there, which it reports: by its description, or, to verify that, by its bytes.
func (l *Logs) send(ctx context.Context, store *stored.Objects, name string, p Part, from io.Reader, verify bool) (had bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	want := digest(p.SHA256)
	info, err := store.Info(ctx, name)
	if had = err == nil && info.Digest == want; had && verify {
		err = store.Copy(ctx, io.Discard, info, p.Bytes)
		had = err == nil
	}
	if had || Transient(err) {
		return had, err
	}
	_, err = putObject(ctx, l.js, store.Bucket, name, want, from)
	return false, err
}

// digest returns a SHA-256 as object stores write it.
func digest(sum string) string {
	b, _ := hex.DecodeString(sum) // what is not hex is equal to no digest
	return "SHA-256=" + base64.URLEncoding.EncodeToString(b)
}

// describe returns the entry of a log. It fails for a file that is no flight log, or whose
// vehicle has no name by which it can be found.
func (l *Logs) describe(f *os.File, path string) (Log, error) {
	log := Log{Name: filepath.Base(path)}
	r, err := flightlog.NewReader(f, path)
	if err != nil {
		return log, err
	}
	h := r.Header()
	if err := wire.CheckVehicle(h.Vehicle); err != nil {
		return log, fmt.Errorf("%s: %w", path, err)
	}
	log.Vehicle = h.Vehicle
	for _, c := range h.Channels {
		log.Channels = append(log.Channels, c.Name)
	}
	for rec, err := range r.Records(func(error) { log.Damages++ }) {
		if err != nil {
			return log, fmt.Errorf("%s: %w", path, err)
		}
		if rec.Kind == flightlog.KindNote {
			log.remark(rec.Text)
		}
		if rec.Kind != flightlog.KindSample {
			continue
		}
		if log.Samples == 0 {
			log.From, log.To = rec.T, rec.T
		}
		log.From, log.To = min(log.From, rec.T), max(log.To, rec.T)
		log.Samples++
	}
	if log.Samples == 0 {
		return log, fmt.Errorf("%s: the log has no sample: nothing can be learned from it", path)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return log, err
	}
	whole := sha256.New()
	for {
		part := sha256.New()
		n, err := io.CopyN(io.MultiWriter(whole, part), f, l.part)
		if n > 0 {
			log.Parts = append(log.Parts, Part{Bytes: n, SHA256: hex.EncodeToString(part.Sum(nil))})
			log.Bytes += n
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return log, fmt.Errorf("%s: %w", path, err)
		}
	}
	log.ID = hex.EncodeToString(whole.Sum(nil))
	return log, nil
}

// List returns the complete logs, in no particular order, and what is wrong with entries that cannot be read.
func (l *Logs) List(ctx context.Context) (all []Log, unreadable []string, err error) {
	return list[Log](ctx, l.js, logIndex, ">")
}

// Fetch writes a log of a vehicle into a folder and returns the name of the file. The bytes are
// those that were uploaded, or there is an error and no file.
func (l *Logs) Fetch(ctx context.Context, vehicle, id, dir string) (path string, err error) {
	log, err := last[Log](ctx, l.js, logIndex, vehicle+"."+id)
	var store *stored.Objects
	if err == nil {
		store, err = l.of(ctx, vehicle)
	}
	if err != nil {
		return "", fmt.Errorf("log %.12s of %s: %w; it may be older than logs are kept", id, vehicle, explained(err))
	}
	path = filepath.Join(dir, id+".msgpack")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = os.Remove(path) // half a log in a temporary folder
			path = ""
		}
	}()
	whole := sha256.New()
	for i := range log.Parts {
		if err := fetchPart(ctx, store, log.object(i), &log.Parts[i], io.MultiWriter(f, whole)); err != nil {
			return path, fmt.Errorf("log %.12s of %s, part %d of %d: %w; it may be older than logs are kept", id, vehicle, i+1, len(log.Parts), explained(err))
		}
	}
	if got := hex.EncodeToString(whole.Sum(nil)); got != id {
		return path, fmt.Errorf("log %.12s of %s: what is stored has the SHA-256 %.12s: it was changed on the server; upload it again", id, vehicle, got)
	}
	return path, nil
}

// errStored is that a part is not the one that was uploaded.
var errStored = errors.New("it was changed on the server; upload it again")

// fetchPart writes a part. Robots write the store: what is not the part, or is a link, is not read.
func fetchPart(ctx context.Context, store *stored.Objects, name string, p *Part, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	info, err := store.Info(ctx, name)
	if err != nil {
		return err
	}
	if info.Digest != digest(p.SHA256) || info.Size != uint64(p.Bytes) {
		return errStored
	}
	if err = store.Copy(ctx, to, info, p.Bytes); errors.Is(err, stored.ErrLink) || errors.Is(err, stored.ErrChanged) {
		return errStored
	}
	return err
}
