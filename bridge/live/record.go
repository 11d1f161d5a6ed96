package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// RecordConfig describes what is recorded and where to.
type RecordConfig struct {
	Vehicle  string
	Out      string            // a log that is there already is continued
	Channels []channel.Channel // (optional) states and inputs of the vehicle; else they are called x1, x2, …, u1, u2, … by the first state
	Source   string            // (optional) free text for the header
	Duration time.Duration     // (optional) how long; defaults to until the context ends
	Remark   func() string     // (optional) is asked once a second and at the end; what it returns is written as a note when it changes
	Pause    time.Duration     // (optional) a longer time between stamps begins a segment; defaults to 1 s
}

// RecordSummary counts what was recorded.
type RecordSummary struct {
	States   int
	Segments int
	Refused  int    // messages that are no state of these channels
	Why      string // why the last of them was
}

// queue is how many states may wait to be written.
const queue = 8192

// Record writes the states of a vehicle into a log until the context or the
// duration ends, which is no error. What was written stays there whatever happens:
// it is put on the disk once a second.
func Record(ctx context.Context, nc *nats.Conn, c RecordConfig) (sum RecordSummary, err error) {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return sum, err
	}
	c.Pause = cmp.Or(c.Pause, time.Second)
	w := &recorder{c: c, sum: &sum}
	if c.Channels != nil {
		// What cannot be written is reported before anything is received.
		if err := w.open(c.Channels); err != nil {
			return sum, err
		}
	}
	defer func() {
		if w.file == nil {
			return
		}
		// The first error counts: a full disk is reported by each.
		if err == nil {
			err = w.remark()
		}
		if e := w.file.Commit(); err == nil {
			err = e
		}
	}()
	messages := make(chan *nats.Msg, queue)
	sub, err := nc.ChanSubscribe(wire.StateSubject(c.Vehicle), messages)
	if err != nil {
		return sum, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection ends with the caller anyway
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	flush := time.NewTicker(time.Second)
	defer flush.Stop()
	for {
		select {
		case <-ctx.Done():
			return sum, nil
		case <-flush.C:
			if w.file != nil {
				if err := errors.Join(w.remark(), w.file.Flush()); err != nil {
					return sum, err
				}
			}
		case m := <-messages:
			if err := w.add(m.Data); err != nil {
				return sum, err
			}
		}
	}
}

// recorder writes one log.
type recorder struct {
	c       RecordConfig
	sum     *RecordSummary
	file    *flightlog.File
	K, P    int
	layout  string
	aux     []float64
	state   wire.State
	last    int64 // ns, of the state before
	noted   string
	segment bool // a segment is open
}

// open begins or continues the log.
func (w *recorder) open(channels []channel.Channel) error {
	file, err := flightlog.AppendFile(w.c.Out, flightlog.Header{Vehicle: w.c.Vehicle, Channels: channels, Source: w.c.Source})
	if err != nil {
		return err
	}
	w.file, w.K, w.P = file, len(channel.Select(channels, channel.State)), len(channel.Select(channels, channel.Input))
	w.aux = make([]float64, len(channels)-w.K-w.P)
	for i := range w.aux {
		w.aux[i] = math.NaN()
	}
	w.layout = wire.Layout(channels)
	return nil
}

// remark writes the remark if it has changed.
func (w *recorder) remark() error {
	if w.c.Remark == nil || w.last == 0 {
		return nil
	}
	text := w.c.Remark()
	if text == w.noted {
		return nil
	}
	w.noted = text
	return w.file.Note(w.last, text)
}

func (w *recorder) add(message []byte) error {
	s := &w.state
	var refused error
	if w.file == nil {
		var K, P int
		if K, P, refused = sizes(s, message); refused == nil {
			if err := w.open(invented(K, P)); err != nil {
				return err
			}
			w.layout = "" // of names that are made up
		}
	} else if refused = s.Decode(message, w.K, w.P); refused == nil && s.Layout != "" && w.layout != "" && s.Layout != w.layout {
		refused = errors.New("it was made for other channels")
	}
	if refused != nil {
		w.sum.Refused++
		w.sum.Why = refused.Error()
		return nil
	}
	u := s.U
	if len(u) == 0 && w.P > 0 {
		u = make([]float64, w.P)
		for i := range u {
			u[i] = math.NaN()
		}
	}
	if step := s.T - w.last; !w.segment || step < 0 || step > int64(w.c.Pause) {
		if err := w.file.BeginSegment(time.Unix(0, s.T).UTC().Format("2006-01-02T15:04:05Z"), nil); err != nil {
			return err
		}
		w.segment = true
		w.sum.Segments++
	}
	w.last = s.T
	w.sum.States++
	return w.file.Sample(s.T, s.X, u, w.aux)
}

// sizes finds how many states and inputs a message holds, by trying.
func sizes(s *wire.State, message []byte) (K, P int, err error) {
	for K, P = 1, 0; K <= wire.MaxChannels && P <= wire.MaxChannels; {
		var wrong *wire.Error
		switch err = s.Decode(message, K, P); {
		case err == nil:
			return K, P, nil
		case !errors.As(err, &wrong) || wrong.Reason != wire.WrongSize:
			return 0, 0, err
		case wrong.Field == "x":
			K++
		case wrong.Field == "u", wrong.Field == "plan":
			P++
		default:
			return 0, 0, err
		}
	}
	return 0, 0, err
}

// invented names channels of which only the numbers are known.
func invented(K, P int) (all []channel.Channel) {
	for i := range K {
		all = append(all, channel.Channel{Name: fmt.Sprintf("x%d", i+1), Role: channel.State})
	}
	for i := range P {
		all = append(all, channel.Channel{Name: fmt.Sprintf("u%d", i+1), Role: channel.Input})
	}
	return all
}
