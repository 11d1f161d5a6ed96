package db3

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
	"modernc.org/sqlite/vfs"

	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is what a database begins with.
var Magic = []byte("SQLite format 3\x00")

// maxTopics bounds the topics of a bag.
const maxTopics = 1 << 14

// Reader reads one bag. It implements telemetry.Source.
type Reader struct {
	db       *sql.DB
	whole    *overlaid // with the pages beside it; nil = there are none
	files    *vfs.FS   // SQLite reads it by these
	rows     *sql.Rows
	ctx      context.Context
	cancel   context.CancelFunc
	path     string
	wants    telemetry.Wants
	report   telemetry.Problems
	messages *ros.Messages
	topics   map[int64]*ros.Subscription
	size     int64
	cut      bool  // the file was cut off, which is reported
	n, all   int64 // messages read, of all
	data     sql.RawBytes
	held     []byte
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a bag.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Nothing is written, not even a journal beside it.
	options := "?mode=ro&immutable=1"
	whole, err := overlay(path)
	if err != nil {
		return nil, fmt.Errorf("%s: the messages in %s%s cannot be read: %w", path, filepath.Base(path), wal, err)
	}
	var files *vfs.FS
	if whole != nil {
		var name string
		if name, files, err = vfs.New(whole); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), whole.Close())
		}
		options += "&vfs=" + name
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+options)
	if err != nil { // the name of the driver is not known
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &Reader{db: db, path: path, whole: whole, files: files, wants: wants, topics: map[int64]*ros.Subscription{}, size: info.Size()}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.messages = ros.New(path, &r.wants, &r.report)
	if r.cut = whole != nil && whole.there > 0; r.cut {
		r.report.Add(whole.there, "file", "cut off: %d of %d bytes are there; messages ahead of the first that is missing are read", whole.there, whole.size)
	}
	if err := r.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return r, nil
}

func (r *Reader) begin() error {
	definitions, err := r.definitions()
	if err != nil {
		return err
	}
	rows, err := r.db.QueryContext(r.ctx, "SELECT id, name, type, serialization_format FROM topics ORDER BY id")
	if err != nil {
		return r.refused(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		c := ros.Channel{Schema: "ros2msg"}
		if err := rows.Scan(&id, &c.Topic, &c.Type, &c.Encoding); err != nil {
			return err
		}
		if len(r.topics) >= maxTopics {
			return fmt.Errorf("more than %d topics", maxTopics)
		}
		if own, ok := definitions[c.Type]; ok {
			c.Schema, c.Definition = own.language, []byte(own.text)
		}
		r.topics[id] = r.messages.Subscribe(0, &c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_ = r.db.QueryRowContext(r.ctx, "SELECT COUNT(*) FROM messages").Scan(&r.all) // for the progress; of a damaged bag it is not known
	if r.rows, err = r.db.QueryContext(r.ctx, "SELECT id, topic_id, timestamp, data FROM messages ORDER BY id"); err != nil {
		return r.refused(err)
	}
	return nil
}

// refused returns why nothing of a file can be read.
func (r *Reader) refused(err error) error {
	if r.cut {
		return fmt.Errorf("it was cut off: %d of %d bytes are there, and its topics are not among them; give the whole file", r.whole.there, r.whole.size)
	}
	return fmt.Errorf("this is no bag of ROS 2 (%w); give a file ending in .db3", err)
}

// described is the definition of a type that is in a bag.
type described struct{ language, text string }

// definitions returns those in the bag.
func (r *Reader) definitions() (map[string]described, error) {
	rows, err := r.db.QueryContext(r.ctx, "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
	if err != nil {
		return nil, nil // an older bag has no such table; what else is wrong the next query reports
	}
	defer rows.Close()
	all := map[string]described{}
	for rows.Next() {
		var name string
		var d described
		if err := rows.Scan(&name, &d.language, &d.text); err != nil {
			return nil, err
		}
		if d.text != "" {
			all[name] = d
		}
	}
	return all, rows.Err()
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	for {
		if r.messages.More() {
			if m, err := r.messages.Next(); m != nil || err != nil {
				return m, err
			}
			continue
		}
		if !r.rows.Next() {
			if err := r.rows.Err(); err != nil && r.ctx.Err() == nil && !r.cut {
				r.report.Add(r.n, "message", "cannot be read further: %v", err)
			}
			return nil, io.EOF
		}
		var id, topic, logged int64
		if err := r.rows.Scan(&id, &topic, &logged, &r.data); err != nil {
			r.report.Add(r.n, "message", "%v", err)
			continue
		}
		r.n++
		s := r.topics[topic]
		if s == nil {
			r.report.Add(id, "message", "its topic %d is not described", topic)
			continue
		}
		r.held = append(r.held[:0], r.data...)
		if m, err := r.messages.Take(s, id, logged, r.held); m != nil || err != nil {
			return m, err
		}
	}
}

// Problems returns what could not be read so far, by the numbers of the messages.
func (r *Reader) Problems() *telemetry.Problems { return &r.report }

// Consumed returns how much of the file was read, by the messages in it.
func (r *Reader) Consumed() int64 {
	return int64(float64(r.size) * float64(r.n) / float64(max(1, r.all)))
}

// Size returns the size of the file.
func (r *Reader) Size() int64 { return r.size }

// Until ends the reading once done is closed.
func (r *Reader) Until(done <-chan struct{}) {
	go func() {
		select {
		case <-done:
			r.cancel()
		case <-r.ctx.Done():
		}
	}()
}

// Close frees memory.
func (r *Reader) Close() (err error) {
	r.cancel()
	if r.rows != nil {
		err = r.rows.Close()
	}
	r.messages.Close()
	err = errors.Join(err, r.db.Close())
	if r.whole != nil {
		err = errors.Join(err, r.files.Close(), r.whole.Close())
	}
	return err
}
