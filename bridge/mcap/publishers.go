package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Open opens a file. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	r, err := openPlain(path, wants)
	if err != nil {
		return nil, err
	}
	if r.apart, err = severalPublishers(path); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// publishers compares the channels that topics have several of. A merge of recordings, or a connection that is made
// anew, gives the messages of one publisher several channels. Where channels take turns and disagree, so that each
// continues what it was, they are of several publishers.
type publishers struct {
	topics  map[uint16]*disagreement // by channel
	numbers []float64                // of the message at hand
}

// disagreement is what is known of the channels of one topic.
type disagreement struct {
	senders map[string]*sequence // by what messages say of who sends them
}

// sequence is the messages of one sender, by what they say, on several channels.
type sequence struct {
	latest map[uint16][]float64 // the numbers of the last message of each channel
	last   uint16               // the channel of the message before
	begun  bool
	own    []int // by number: messages behind one of another channel that are nearer to their own channel
	other  []int // the same, nearer to the other one
}

const (
	mostNumbers = 64       // of a message, that are compared
	mostSenders = 64       // of a topic
	fewestTurns = 20       // messages behind one of another channel, at least
	disagree    = 0.8      // share of them that are nearer to their own channel from which on channels disagree
	maxSummary  = 32 << 20 // bytes
)

// severalPublishers returns the channels of a file whose topics have channels of several publishers. The file
// is read for it only where its summary shows that a topic has several channels.
func severalPublishers(path string) (map[uint16]bool, error) {
	p := publishers{topics: several(path)}
	if len(p.topics) == 0 {
		return nil, nil
	}
	r, err := openPlain(path, telemetry.Wants{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.instead = func(s *ros.Subscription, channel uint16, data []byte) { p.add(r.messages, s, channel, data) }
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	out := map[uint16]bool{}
	for id, t := range p.topics {
		out[id] = t.apart()
	}
	return out, nil
}

// several returns the channels of topics that have several of one type, by the summary of a file; none where
// it has no summary.
func several(path string) map[uint16]*disagreement {
	type topic struct {
		name   string
		schema uint16
	}
	channels := map[topic][]uint16{}
	for rest := summary(path); len(rest) >= headSize; {
		kind, size := mcap.OpCode(rest[0]), binary.LittleEndian.Uint64(rest[1:])
		if rest = rest[headSize:]; size > uint64(len(rest)) {
			break
		}
		if c, err := mcap.ParseChannel(rest[:size]); kind == mcap.OpChannel && err == nil {
			k := topic{c.Topic, c.SchemaID}
			if !slices.Contains(channels[k], c.ID) {
				channels[k] = append(channels[k], c.ID)
			}
		}
		rest = rest[size:]
	}
	out := map[uint16]*disagreement{}
	for _, ids := range channels {
		t := &disagreement{senders: map[string]*sequence{}}
		for _, id := range ids {
			if len(ids) > 1 {
				out[id] = t
			}
		}
	}
	return out
}

// summary returns the records behind the data of a file; nil where there are none.
func summary(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	end := make([]byte, headSize+footerSize+len(Magic))
	from := info.Size() - int64(len(end))
	if _, err := file.ReadAt(end, from); err != nil || mcap.OpCode(end[0]) != mcap.OpFooter || !bytes.Equal(end[headSize+footerSize:], Magic) {
		return nil
	}
	start := binary.LittleEndian.Uint64(end[headSize:])
	if start == 0 || start > uint64(from) || uint64(from)-start > maxSummary {
		return nil
	}
	b := make([]byte, uint64(from)-start)
	if _, err := file.ReadAt(b, int64(start)); err != nil {
		return nil
	}
	return b
}

// add adds a message of a channel.
func (p *publishers) add(messages *ros.Messages, s *ros.Subscription, id uint16, data []byte) {
	t := p.topics[id]
	if t == nil {
		return
	}
	var key []byte
	key, p.numbers = messages.Numbers(p.numbers[:0], s, data, mostNumbers)
	x := t.senders[string(key)]
	if x == nil {
		if len(t.senders) >= mostSenders {
			return
		}
		x = &sequence{latest: map[uint16][]float64{}, own: make([]int, mostNumbers), other: make([]int, mostNumbers)}
		t.senders[string(key)] = x
	}
	if own, other := x.latest[id], x.latest[x.last]; x.begun && id != x.last {
		for i := range min(len(p.numbers), len(own), len(other)) {
			switch a, b := math.Abs(p.numbers[i]-own[i]), math.Abs(p.numbers[i]-other[i]); {
			case a < b:
				x.own[i]++
			case a > b:
				x.other[i]++
			}
		}
	}
	x.latest[id] = append(x.latest[id][:0], p.numbers...)
	x.last, x.begun = id, true
}

// apart reports whether channels are of several publishers.
func (t *disagreement) apart() bool {
	for _, x := range t.senders {
		for i, own := range x.own {
			if n := own + x.other[i]; n >= fewestTurns && float64(own) >= disagree*float64(n) {
				return true
			}
		}
	}
	return false
}
