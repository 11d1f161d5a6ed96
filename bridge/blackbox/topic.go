package blackbox

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// topic is a kind of frames as a telemetry.Topic.
type topic struct {
	telemetry.Topic
	paths  []string
	wanted []place
	values []float64
}

// place is where a wanted value is in a frame.
type place struct {
	index int // −1: a frame has it not
	scale scale
	w     bool // the part of the quaternion whose others are at index and behind
}

// names of the topics by kind of frames.
var names = map[byte]string{'I': "main", 'S': "slow", 'G': "gps"}

// topic makes the topic of a kind of frames at the first of them.
func (r *Reader) topic(kind byte) (err error) {
	t := &topic{Topic: telemetry.Topic{Name: names[kind], Seq: len(r.topics)}}
	t.Fields = func() []telemetry.Field { return r.list(kind) }
	t.Check = func(path string) error { _, err := r.find(kind, path); return err }
	t.wanted, err = logfile.Wanted(&r.Reader, &t.Topic, func(path string) (place, error) {
		t.paths = append(t.paths, path)
		return r.find(kind, path)
	})
	if err != nil {
		return err
	}
	t.values = make([]float64, len(t.wanted))
	r.topics[kind] = t
	return nil
}

// whole is the name of the part of the attitude quaternion that is not logged.
const whole = "imuQuaternion[w]"

func (r *Reader) list(kind byte) (out []telemetry.Field) {
	f := r.header.frames[kind]
	if f == nil {
		return nil
	}
	for _, n := range f.names {
		out = append(out, telemetry.Field{Path: n, Unit: r.header.scaleOf(n).unit})
		if n == "imuQuaternion[2]" {
			out = append(out, telemetry.Field{Path: whole})
		}
	}
	return out
}

// find returns where a field is, or what is wrong with its name.
func (r *Reader) find(kind byte, path string) (place, error) {
	f := r.header.frames[kind]
	if f == nil {
		return place{}, fmt.Errorf("there are no such frames in this log")
	}
	if path == whole {
		i := slices.Index(f.names, "imuQuaternion[0]")
		if i < 0 || i+2 >= len(f.names) || f.names[i+2] != "imuQuaternion[2]" {
			return place{}, fmt.Errorf("there is no %q", path)
		}
		return place{index: i, scale: r.header.scaleOf("imuQuaternion"), w: true}, nil
	}
	i := slices.Index(f.names, path)
	if i < 0 {
		return place{}, fmt.Errorf("there is no %q", path)
	}
	return place{index: i, scale: r.header.scaleOf(path)}, nil
}

// send returns the message of a frame.
func (r *Reader) send(kind byte, values []int64, us int64) (*telemetry.Message, error) {
	t := r.topics[kind]
	if t == nil {
		if err := r.topic(kind); err != nil {
			return nil, err
		}
		t = r.topics[kind]
	}
	for i, p := range t.wanted {
		switch {
		case p.index < 0:
			t.values[i] = math.NaN()
		case p.w:
			left := 1.0
			for _, v := range values[p.index : p.index+3] {
				left -= p.scale.factor * p.scale.factor * float64(v) * float64(v)
			}
			t.values[i] = math.Sqrt(math.Max(0, left))
		default:
			t.values[i] = p.scale.factor*float64(values[p.index]) + p.scale.offset
		}
	}
	r.message = telemetry.Message{Topic: &t.Topic, Time: us * 1000, Stamped: true, Logged: us * 1000, Values: t.values}
	return &r.message, nil
}
