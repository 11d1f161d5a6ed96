package node

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// ReplayConfig says with what a journal is replayed. The zero value takes
// everything from the journal.
type ReplayConfig struct {
	Model  *model.Model // (optional) instead of those that flew
	Config *Config      // (optional) instead of the one that flew
}

// Replayed counts what was replayed.
type Replayed struct {
	States      int
	Predictions int // made again, with the same bits
	Models      int
	Lost        uint64 // records that the journal lacks
	Torn        bool   // the journal was not ended in order
}

// Difference is the first record of a journal whose prediction is not made again
// bit for bit, and why.
type Difference struct {
	Name   string // of the journal
	Record int    // number of the record in the file, the header being 0
	Seq    uint64 // of the state predicted from
	Tick   uint64 // 0 = the answer to a state
	What   string // what differs
	Why    string // where that may come from
}

func (d *Difference) Error() string {
	which := fmt.Sprintf("the answer to seq %d", d.Seq)
	if d.Tick > 0 {
		which = fmt.Sprintf("tick %d, from seq %d", d.Tick, d.Seq)
	}
	return fmt.Sprintf("%s: record %d, %s: %s: %s", d.Name, d.Record, which, d.What, d.Why)
}

// replay is a journal being replayed.
type replay struct {
	r    *journal.Reader
	with ReplayConfig
	name string
	cfg  Config
	e    *engine
	a    arrival
	any  bool // a holds a state
	sum  Replayed

	models  []string // what differs between the models that flew and those used
	states  uint64   // records lost when the last state was read
	message []byte
	again   journal.Prediction
	ood     [1]float64
}

// Replay makes every prediction of a journal again. It returns a *Difference for
// the first whose bits are not the same, and another error where the journal
// cannot be read. name is for errors.
func Replay(in io.Reader, name string, with ReplayConfig) (Replayed, error) {
	r, err := journal.NewReader(in, name)
	if err != nil {
		return Replayed{}, err
	}
	p := &replay{r: r, with: with, name: name}
	h := &r.Header
	p.cfg = Config{
		Vehicle: h.Vehicle, Instance: h.Instance, Times: orNil(h.Times), Rate: h.Rate, RobotClock: h.RobotClock,
		Validity: time.Duration(h.Validity), Deadline: time.Duration(h.Deadline), AgeLimit: time.Duration(h.AgeLimit),
		FalseAlarms: time.Duration(h.FalseAlarms), NoTrust: h.NoTrust, Chain: h.Chain, Plain: !h.Fast,
	}
	if with.Config != nil {
		p.cfg = *with.Config
		p.cfg.Instance = h.Instance
	}
	err = p.run()
	p.sum.Lost = r.Lost
	return p.sum, err
}

func (p *replay) run() error {
	ended := false
	for {
		k, err := p.r.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, journal.ErrTorn):
			p.sum.Torn = !ended
			return nil
		case err != nil:
			return err
		}
		switch k {
		case journal.KindModel:
			err = p.model()
		case journal.KindState:
			err = p.state()
		case journal.KindPrediction:
			err = p.prediction()
		case journal.KindEnd:
			ended = true
		}
		if err != nil {
			return err
		}
	}
}

func (p *replay) fail(format string, args ...any) error {
	n, at := p.r.Record()
	return &journal.Error{Name: p.name, Record: n, Offset: at, Text: fmt.Sprintf(format, args...)}
}

// model takes the model of a record, or the one that is to be used instead.
func (p *replay) model() error {
	flew, err := model.Decode(p.r.Model.File)
	if err != nil {
		return p.fail("its model: %v", err)
	}
	m := flew
	if p.with.Model != nil {
		m = p.with.Model
		if m.ID != flew.ID {
			p.models = append(p.models, fmt.Sprintf("model %s instead of %s, which flew", m.ID, flew.ID))
		}
		if err := fits(m, flew); err != nil {
			return err
		}
	}
	if err := p.cfg.complete(m); err != nil {
		return p.fail("its configuration: %v", err)
	}
	c, err := newCraft(&p.cfg, m)
	if err != nil {
		return p.fail("its model: %v", err)
	}
	if len(p.r.Model.Trust) > 0 {
		c.trust = slices.Clone(p.r.Model.Trust)
	}
	if p.e == nil {
		p.e = newEngine(&p.cfg, c)
	} else {
		p.e.use(c)
	}
	p.sum.Models++
	return nil
}

func (p *replay) state() error {
	if p.e == nil {
		return p.fail("a state comes before any model")
	}
	s := &p.r.State
	m := p.e.craft.m
	if err := p.a.state.Decode(s.Message, m.K, m.P); err != nil {
		return p.fail("its state: %v", err)
	}
	p.a.at, p.a.age, p.a.period = s.At, s.Age, s.Period
	p.any = true
	p.states = p.r.Lost
	p.sum.States++
	return nil
}

// prediction makes one again and compares.
func (p *replay) prediction() error {
	f := &p.r.Prediction
	if p.e == nil || !p.any {
		if p.r.Lost > 0 {
			return p.differs("its state is missing")
		}
		return p.fail("a prediction comes before any state")
	}
	if f.Rung < 0 || f.Rung >= len(p.e.craft.rungs) {
		return p.differs(fmt.Sprintf("step %d of the horizon does not exist", f.Rung))
	}
	if (f.Tick > 0) != (p.e.craft.bridge != nil) {
		return p.differs("it was made in the other mode")
	}
	k := task{
		a: &p.a, tick: f.Tick, due: f.Due, rung: f.Rung, fresh: f.Fresh,
		contested: f.Contested, end: f.End, unix: f.Unix,
	}
	d, outcome := p.e.predict(&k)
	if outcome == wire.OK {
		p.message, outcome = p.e.finish(p.message[:0], &k, d)
	}
	describe(&p.again, &k, outcome, &p.e.out, &p.ood)
	p.e.learn(&k)
	if p.again == *f {
		p.sum.Predictions++
		return nil
	}
	g := &p.again
	var what []string
	note := func(same bool, name string, was, is any) {
		if !same {
			what = append(what, fmt.Sprintf("%s is %v and was %v", name, is, was))
		}
	}
	note(g.Outcome == f.Outcome, "the outcome", f.Outcome, g.Outcome)
	if g.Outcome == f.Outcome {
		note(g.Seq == f.Seq, "seq", f.Seq, g.Seq)
		note(g.T == f.T, "t", f.T, g.T)
		note(g.ValidUntil == f.ValidUntil, "valid_until", f.ValidUntil, g.ValidUntil)
		note(g.Points == f.Points, "the number of points", f.Points, g.Points)
		note(g.Flags == f.Flags, "flags", fmt.Sprintf("%#x", f.Flags), fmt.Sprintf("%#x", g.Flags))
		for i, name := range journal.Digested {
			if g.Digests[i] != f.Digests[i] {
				what = append(what, name+" has other bits")
			}
		}
	}
	return p.differs(strings.Join(what, ", "))
}

// differs returns the difference at the present record with what may explain it.
func (p *replay) differs(what string) error {
	f := &p.r.Prediction
	n, _ := p.r.Record()
	d := &Difference{Name: p.name, Record: n, Seq: f.Seq, Tick: f.Tick, What: what}
	if p.any && f.Seq == 0 {
		d.Seq = p.a.state.Seq
	}
	why := append([]string(nil), p.models...)
	if h := p.configuration(); h != "" {
		why = append(why, "other configuration: "+h)
	}
	if p.r.Lost > 0 {
		why = append(why, fmt.Sprintf("missing input: the journal lacks %d records before this one, for which the disk was too slow", p.r.Lost))
	}
	if here := platform(); len(why) == 0 && here != p.r.Header.Platform {
		why = append(why, fmt.Sprintf("other program or processor: recorded with %s, this is %s", p.r.Header.Platform, here))
	}
	if len(why) == 0 {
		why = append(why, "same model, same configuration, nothing missing: the program does not give the same numbers for the same input")
	}
	for i, w := range why {
		if strings.HasPrefix(w, "model ") {
			why[i] = "other model: " + w
		}
	}
	d.Why = strings.Join(why, "; ")
	return d
}

// configuration names the settings that differ from those that flew.
func (p *replay) configuration() string {
	was, is := &p.r.Header, header(&p.cfg)
	var out []string
	note := func(same bool, name string, was, is any) {
		if !same {
			out = append(out, fmt.Sprintf("%s is %v and was %v", name, is, was))
		}
	}
	note(slices.Equal(is.Times, was.Times), "times", was.Times, is.Times)
	note(is.Rate == was.Rate, "rate", was.Rate, is.Rate)
	note(is.RobotClock == was.RobotClock, "clock = robot", was.RobotClock, is.RobotClock)
	note(is.Chain == was.Chain, "chain", was.Chain, is.Chain)
	note(is.Fast == was.Fast, "predictor = fast", was.Fast, is.Fast)
	note(is.NoTrust == was.NoTrust, "trust off", was.NoTrust, is.NoTrust)
	for _, v := range [...]struct {
		name    string
		was, is int64
	}{
		{"validity", was.Validity, is.Validity},
		{"deadline", was.Deadline, is.Deadline},
		{"age_limit", was.AgeLimit, is.AgeLimit},
		{"false_alarms", was.FalseAlarms, is.FalseAlarms},
	} {
		note(v.was == v.is, v.name, time.Duration(v.was), time.Duration(v.is))
	}
	return strings.Join(out, ", ")
}
