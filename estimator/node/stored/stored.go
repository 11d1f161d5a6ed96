// Package stored reads what a JetStream server stores by direct gets: requests whose answers come to the asker's own inbox. A consumer
// would deliver to any subject that who makes it names, with the server's rights, and not across accounts.
package stored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// Message is a stored message.
type Message struct {
	Subject  string
	Header   nats.Header
	Data     []byte
	Sequence uint64
	Time     time.Time // by the server's clock
}

// ErrNone is that nothing is stored there.
var ErrNone = errors.New("nothing is stored there")

// request is the body of a direct get.
type request struct {
	Sequence uint64 `json:"seq"`
	Next     string `json:"next_by_subj"`
	Batch    int    `json:"batch,omitempty"`
	Bytes    int    `json:"max_bytes,omitempty"` // of a batch: it ends with the message that reaches them
}

// answerLimit bounds the time to an answer.
const answerLimit = 5 * time.Second

// Last returns the last message of a subject of a stream, or ErrNone.
func Last(ctx context.Context, nc *nats.Conn, stream, subject string) (*Message, error) {
	return one(ctx, nc, api(stream)+"."+subject, nil)
}

// next returns the first message of a subject from a sequence on, or ErrNone.
func next(ctx context.Context, nc *nats.Conn, stream, subject string, from uint64) (*Message, error) {
	return one(ctx, nc, api(stream), &request{Sequence: from, Next: subject})
}

func api(stream string) string { return "$JS.API.DIRECT.GET." + stream }

func one(ctx context.Context, nc *nats.Conn, at string, r *request) (*Message, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, at, r.encode())
	if err != nil {
		return nil, err
	}
	return message(m)
}

func (r *request) encode() []byte {
	if r == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // it has nothing that JSON cannot represent
	}
	return b
}

// What one request of All asks for: so many messages, and fewer where they are large. A server disconnects who does not read as fast as
// it answers.
const (
	batch      = 256
	batchBytes = 1 << 20
)

// All calls each with the messages of a stream whose subject matches a pattern, in order, until it returns an error. A message that is
// stored meanwhile may come too.
func All(ctx context.Context, nc *nats.Conn, stream, pattern string, each func(*Message) error) error {
	return From(ctx, nc, stream, pattern, 1, each)
}

// From is All from a sequence number of the stream on.
func From(ctx context.Context, nc *nats.Conn, stream, pattern string, first uint64, each func(*Message) error) error {
	inbox := nc.NewRespInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	r := request{Sequence: first, Next: pattern, Batch: batch, Bytes: batchBytes}
	for {
		if err := nc.PublishRequest(api(stream), inbox, r.encode()); err != nil {
			return err
		}
		more, err := r.read(ctx, sub, each)
		if err != nil || !more {
			return err
		}
	}
}

// read reads the answers to a request, lets it go on behind the last one, and reports whether messages are left.
func (r *request) read(ctx context.Context, sub *nats.Subscription, each func(*Message) error) (more bool, err error) {
	for any := false; ; any = true {
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		m, err := sub.NextMsgWithContext(ctx)
		cancel()
		if err != nil {
			return false, err
		}
		if status(m) == endOfBatch {
			return any && own(m, "Nats-Num-Pending") != "0", nil
		}
		s, err := message(m)
		if errors.Is(err, ErrNone) {
			return false, nil
		}
		if err == nil {
			err = each(s)
		}
		if err != nil {
			return false, err
		}
		r.Sequence = s.Sequence + 1
	}
}

// Statuses of answers.
const (
	endOfBatch = "204"
	notFound   = "404"
)

// status returns what a server answers in place of a message. A stored message has its sequence number, whatever else its sender wrote.
func status(m *nats.Msg) string {
	if len(m.Data) > 0 || len(m.Header["Nats-Sequence"]) > 0 {
		return ""
	}
	return m.Header.Get("Status")
}

// own returns a header that the server has added, behind those of the sender.
func own(m *nats.Msg, name string) string {
	all := m.Header[name]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// message returns what an answer holds.
func message(m *nats.Msg) (*Message, error) {
	switch s := status(m); s {
	case "":
	case notFound:
		return nil, ErrNone
	case "503":
		return nil, nats.ErrNoResponders
	default:
		return nil, fmt.Errorf("the server answers %s %s", s, m.Header.Get("Description"))
	}
	out := &Message{Subject: own(m, "Nats-Subject"), Header: m.Header, Data: m.Data}
	var err error
	if out.Sequence, err = strconv.ParseUint(own(m, "Nats-Sequence"), 10, 64); err == nil {
		out.Time, err = time.Parse(time.RFC3339Nano, own(m, "Nats-Time-Stamp"))
	}
	if err != nil || out.Subject == "" {
		return nil, errors.New("the answer is no stored message: a server before 2.11, or a stream without direct gets")
	}
	return out, nil
}
