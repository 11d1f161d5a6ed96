package export

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Options describes the content of an MCAP file.
type Options struct {
	Schema   Schema
	Model    *model.Model    // (optional) predictions by it
	Horizons []time.Duration // (optional) of the predictions, rising; defaults to a tenth, a quarter, half and all of the model's
	Every    time.Duration   // (optional) between states that are predicted from; 0 = from each
	Progress func(float64)   // (optional) called now and then with the share that is done
}

// MCAP writes a log as an MCAP file. It has its name only when it is
// whole.
func MCAP(ctx context.Context, path, out string, o Options) (*Summary, error) {
	l, err := openLog(path, o.Progress)
	if err != nil {
		return nil, err
	}
	defer l.file.Close()
	h := l.r.Header()
	var f *forecast
	if o.Model != nil {
		if f, err = newForecast(o.Model, h.Channels, o.Horizons); err != nil {
			return nil, err
		}
	}
	file, err := durable.Create(out)
	if err != nil {
		return nil, err
	}
	defer file.Abort()
	buffer := bufio.NewWriterSize(file, 256<<10)
	w, err := newWriter(buffer, &h, o.Schema, f)
	if err != nil {
		return nil, err
	}
	s := &Summary{Out: out}
	if err := w.log(ctx, l, f, o.Every, s); err != nil {
		return nil, err
	}
	if err := w.mcap.Close(); err != nil {
		return nil, err
	}
	if err := buffer.Flush(); err != nil {
		return nil, err
	}
	return s, file.Commit()
}

// writer writes the messages of one file.
type writer struct {
	mcap    *mcap.Writer
	as      Schema
	series  []*Series // by channel of the file
	state   int       // numbers of the series, −1 = none
	input   int
	aux     int
	predict []int // of each horizon
	status  int
	note    uint16
	buf     []byte
	seq     uint32
}

const noteMsg = "string data\n"

func newWriter(out *bufio.Writer, h *flightlog.Header, as Schema, f *forecast) (*writer, error) {
	m, err := mcap.NewWriter(out, &mcap.WriterOptions{Chunked: true, ChunkSize: 1 << 20, Compression: mcap.CompressionZSTD, IncludeCRC: true})
	if err != nil {
		return nil, err
	}
	profile := ""
	if as == ROS2 {
		profile = "ros2"
	}
	if err := m.WriteHeader(&mcap.Header{Profile: profile, Library: "dgm-bridge"}); err != nil {
		return nil, err
	}
	w := &writer{mcap: m, as: as, state: -1, input: -1, aux: -1, status: -1}
	root := "/dgm/" + h.Vehicle + "/"
	of := func(role channel.Role, name, kind string) (int, error) {
		all := channel.Select(h.Channels, role)
		if len(all) == 0 {
			return -1, nil
		}
		s := &Series{Topic: root + name, Kind: kind, Fields: channel.Names(all)}
		for _, c := range all {
			s.Units = append(s.Units, c.Unit)
		}
		return w.add(s)
	}
	if w.state, err = of(channel.State, "state", "State"); err != nil {
		return nil, err
	}
	if w.input, err = of(channel.Input, "input", "Input"); err != nil {
		return nil, err
	}
	if w.aux, err = of(channel.Aux, "aux", "Aux"); err != nil {
		return nil, err
	}
	if f != nil {
		for _, t := range f.times {
			s := *w.series[w.state]
			s.Topic, s.Kind, s.Band, s.Made = root+"predict/"+Label(t), "Prediction", true, true
			n, err := w.add(&s)
			if err != nil {
				return nil, err
			}
			w.predict = append(w.predict, n)
		}
		if w.status, err = w.add(&Series{Topic: root + "status", Kind: "Status", Fields: []string{"ood", "outside"}, Units: []string{"", ""}}); err != nil {
			return nil, err
		}
	}
	return w, w.addNote(root + "note")
}

// add describes a series in the file and returns its number.
func (w *writer) add(s *Series) (int, error) {
	n := len(w.series)
	w.series = append(w.series, s)
	name, encoding, text := s.Schema(w.as)
	return n, w.describe(uint16(n), s.Topic, name, encoding, text)
}

func (w *writer) describe(id uint16, topic, name, encoding, text string) error {
	message := "cdr"
	if w.as == JSON {
		message = "json"
	}
	if err := w.mcap.WriteSchema(&mcap.Schema{ID: id + 1, Name: name, Encoding: encoding, Data: []byte(text)}); err != nil {
		return err
	}
	return w.mcap.WriteChannel(&mcap.Channel{ID: id, SchemaID: id + 1, Topic: topic, MessageEncoding: message})
}

func (w *writer) addNote(topic string) error {
	w.note = uint16(len(w.series))
	if w.as == JSON {
		return w.describe(w.note, topic, "dgm.Note", "jsonschema", `{"title":"dgm.Note","type":"object","properties":{"data":{"type":"string"}}}`)
	}
	return w.describe(w.note, topic, "std_msgs/msg/String", "ros2msg", noteMsg)
}

// put writes a message of series n about time t, made at time made (ns). Its
// time in the file is t.
func (w *writer) put(n int, t, made int64, values []float64) error {
	if n < 0 {
		return nil
	}
	w.buf = w.series[n].Encode(w.buf[:0], w.as, t, made, values)
	return w.write(uint16(n), t, made, w.buf)
}

func (w *writer) write(id uint16, t, made int64, data []byte) error {
	if t < 0 || made < 0 {
		return fmt.Errorf("a sample is at %d ns: an MCAP file has no times before 0; import the log again with another clock", min(t, made))
	}
	w.seq++
	return w.mcap.WriteMessage(&mcap.Message{ChannelID: id, Sequence: w.seq, LogTime: uint64(t), PublishTime: uint64(made), Data: data})
}

// log writes all records.
func (w *writer) log(ctx context.Context, l *log, f *forecast, every time.Duration, s *Summary) error {
	next, begun := int64(0), false // when the next prediction is due
	return l.each(ctx, s, func(r *flightlog.Record) error {
		switch r.Kind {
		case flightlog.KindNote:
			return w.write(w.note, r.T, r.T, w.text(r.Text))
		case flightlog.KindSegment:
			begun = false
			return nil
		case flightlog.KindSample:
		default:
			return nil
		}
		s.Samples++
		for _, part := range []struct {
			n      int
			values []float64
		}{{w.state, r.X}, {w.input, r.U}, {w.aux, r.Aux}} {
			if err := w.put(part.n, r.T, r.T, part.values); err != nil {
				return err
			}
		}
		if f == nil || begun && r.T < next {
			return nil
		}
		next, begun = r.T+int64(every), true
		if !f.from(r.X, r.U) {
			s.NotMade++
			return nil
		}
		for i, n := range w.predict {
			s.Predictions++
			if err := w.put(n, r.T+f.times[i], r.T, f.band(i)); err != nil {
				return err
			}
		}
		outside := 0.0
		if f.pred.OutOfDistribution {
			outside = 1
		}
		return w.put(w.status, r.T, r.T, []float64{f.pred.OOD, outside})
	})
}

// text encodes a note.
func (w *writer) text(s string) []byte {
	if w.as == JSON {
		w.buf = append(w.buf[:0], `{"data":`...)
		w.buf = append(appendJSONText(w.buf, s), '}')
		return w.buf
	}
	w.buf = append(w.buf[:0], 0, 1, 0, 0)
	n := len(s) + 1
	w.buf = append(w.buf, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	w.buf = append(append(w.buf, s...), 0)
	return w.buf
}
