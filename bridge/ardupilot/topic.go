package ardupilot

import (
	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
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

// topic returns the topic that a record belongs to.
func (r *Reader) topic(f *format, content []byte) (*subscription, error) {
	if f.topics == nil && !f.described && f.numbered() && !r.looked {
		r.looked = true
		if err := r.lookAhead(); err != nil {
			return nil, err
		}
	}
	instance := 0
	if f.instance.kind != number.None {
		if v := f.instance.read(content); v > 0 && v < 256 {
			instance = int(v)
		}
	}
	if s := f.topics[instance]; s != nil {
		return s, nil
	}
	s := &subscription{}
	s.time, s.scale = f.time()
	if a, err := f.path("SampleUS"); err == nil && s.scale == 1e3 {
		s.sample = a
	}
	var err error
	if before := r.before[topicKey{f.name, instance}]; before != nil {
		s.topic, s.paths = before.topic, before.paths
		s.wanted, err = f.places(s.paths)
	} else {
		err = r.subscribe(s, f, instance)
	}
	if err != nil {
		return nil, err
	}
	s.values = make([]float64, len(s.wanted))
	if f.topics == nil {
		f.topics = map[int]*subscription{}
	}
	f.topics[instance] = s
	return s, nil
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
	r.log, r.data, r.looked, r.later = r.log+1, false, false, [256]*format{}
}

// maxAhead is how much of a file is read ahead, in bytes: the logger describes all formats
// within seconds of its start.
const maxAhead = 16 << 20

// lookAhead reads the descriptions of formats that are to come: in a log that begins in
// flight they are behind records that they describe.
func (r *Reader) lookAhead() error {
	if r.Size() == 0 { // a stream
		return nil
	}
	s, err := Open(r.Path, telemetry.Wants{})
	if err != nil {
		return err
	}
	s.ahead = true
	for err == nil && s.Window.Offset() < maxAhead {
		_, err = s.Next()
	}
	for id, f := range r.formats {
		if g := s.formats[id]; f != nil && g != nil && g.described && g.name == f.name && g.length == f.length {
			f.instance, f.described = g.instance, true
		}
	}
	for id, g := range s.formats { // formats that are still to come
		if r.formats[id] == nil && g != nil {
			r.later[id] = g
		}
	}
	return s.Close()
}
