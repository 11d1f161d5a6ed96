package ardupilot

import (
	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// topicKey names a topic.
type topicKey struct {
	name     string
	instance int
}

// subscription is a topic with the places of its fields.
type subscription struct {
	topic  *telemetry.Topic
	paths  []string
	time   accessor // of no kind where there is none
	scale  int64    // of time, ns
	sample accessor // of no kind where there is none
	wanted []accessor
	values []float64
}

// subscribe gives a subscription a topic of its own.
func (r *Reader) subscribe(s *subscription, f *format, instance int) (err error) {
	s.topic = &telemetry.Topic{
		Name: f.name, Instance: instance, Seq: r.seq,
		Fields: func() []telemetry.Field { return f.fields(&r.units) },
		Check:  func(path string) error { _, err := f.path(path); return err },
	}
	r.seq++
	s.wanted, err = logfile.Wanted(&r.Reader, s.topic, func(path string) (accessor, error) {
		s.paths = append(s.paths, path)
		return f.path(path)
	})
	return err
}

// another begins another log behind the one so far, as where files were put one behind the other: it defines its formats anew, and
// topics go on that the logs before have.
func (r *Reader) another() {
	if r.before == nil {
		r.before = map[topicKey]*subscription{}
	}
	for _, f := range r.formats {
		for instance, s := range f.subscriptions() {
			r.before[topicKey{f.name, instance}] = s
		}
	}
	r.log, r.data, r.looked, r.later, r.Wrapped = r.log+1, false, false, [256]*format{}, 0
}
