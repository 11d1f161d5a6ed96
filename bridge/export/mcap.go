package export

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/estimator/channel"
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

// MCAP writes a log as an MCAP file. It has its name only when it is whole.
func MCAP(ctx context.Context, path, out string, o Options) (*Summary, error) {
	return convert(path, out, o.Progress, func(l *log, file *bufio.Writer, s *Summary) (err error) {
		h := l.r.Header()
		var f *forecast
		if o.Model != nil {
			if f, err = newForecast(o.Model, h.Channels, o.Horizons); err != nil {
				return err
			}
		}
		w, err := newWriter(file, &h, o.Schema, f)
		if err != nil {
			return err
		}
		if err := w.log(ctx, l, f, o.Every, s); err != nil {
			return err
		}
		return w.mcap.Close()
	})
}

// writer writes the messages of one file.
type writer struct {
	mcap    *mcap.Writer
	as      Schema
	series  []*Series // by channel of the file
	roles   []int     // numbers of the series of states, inputs and others, −1 = none
	predict []int     // of each horizon
	status  int
	note    uint16
	buf     []byte
	seq     uint32
}

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
	w := &writer{mcap: m, as: as}
	root := "/dgm/" + h.Vehicle + "/"
	for _, part := range []struct {
		role channel.Role
		kind string
	}{{channel.State, "State"}, {channel.Input, "Input"}, {channel.Aux, "Aux"}} {
		all, n := channel.Select(h.Channels, part.role), -1
		if len(all) > 0 {
			s := &Series{Topic: root + strings.ToLower(part.kind), Kind: part.kind, Fields: channel.Names(all)}
			for _, c := range all {
				s.Units = append(s.Units, c.Unit)
			}
			if n, err = w.add(s); err != nil {
				return nil, err
			}
		}
		w.roles = append(w.roles, n)
	}
	if f != nil {
		for _, t := range f.times {
			s := *w.series[w.roles[0]]
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
	w.note = uint16(len(w.series))
	name, encoding, text := "std_msgs/msg/String", "ros2msg", "string data\n"
	if as == JSON {
		name, encoding, text = "dgm.Note", "jsonschema", `{"title":"dgm.Note","type":"object","properties":{"data":{"type":"string"}}}`
	}
	return w, w.describe(w.note, root+"note", name, encoding, text)
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
		}
		if r.Kind != flightlog.KindSample {
			return nil
		}
		s.Samples++
		for i, values := range [][]float64{r.X, r.U, r.Aux} {
			if err := w.put(w.roles[i], r.T, r.T, values); err != nil {
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
		w.buf = append(appendJSON(w.buf, s), '}')
		return w.buf
	}
	w.buf = binary.LittleEndian.AppendUint32(append(w.buf[:0], cdrHeader...), uint32(len(s)+1))
	w.buf = append(append(w.buf, s...), 0)
	return w.buf
}
