package node

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// ReplayConfig replaces what is recorded in a journal. The zero value replaces
// nothing.
type ReplayConfig struct {
	Model  *model.Model // (optional) instead of the recorded ones
	Config *Config      // (optional) instead of the recorded settings
}

// Replayed counts what was replayed.
type Replayed struct {
	States      int
	Predictions int // made again, with the same bits
	Models      int
	Lost        uint64 // records that the journal lacks
	Torn        bool   // the journal has no end, as after a power cut
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
	r        *journal.Reader
	with     ReplayConfig
	name     string
	cfg      Config
	settings *journal.Settings  // of cfg
	engine   *prediction.Engine // nil before the first model
	arrival  intake.Arrival     // of the last state that is answered
	taken    intake.Arrival     // of the last state
	any      bool               // arrival holds a state
	sum      Replayed

	models []string // what differs between the recorded models and those used
	again  journal.Prediction
}

// Replay makes every prediction of a journal again. It returns a *Difference for
// the first whose bits are not the same, and another error where the journal
// cannot be read. name is for errors.
func Replay(in io.Reader, name string, with ReplayConfig) (Replayed, error) {
	r, err := journal.NewReader(in, name)
	if err != nil {
		return Replayed{}, err
	}
	p := &replay{r: r, with: with, name: name, cfg: configOf(&r.Header.Settings)}
	if with.Config != nil {
		p.cfg = *with.Config
		p.cfg.Instance = r.Header.Instance
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
		case journal.KindReset:
			if p.engine != nil {
				p.engine.ResetAdaptation()
			}
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

// model loads the model of a record, or the one that is to be used instead.
func (p *replay) model() error {
	recorded, err := model.Decode(p.r.Model.File)
	if err != nil {
		return p.fail("its model: %v", err)
	}
	m := recorded
	if p.with.Model != nil {
		m = p.with.Model
		if m.ID != recorded.ID {
			p.models = append(p.models, fmt.Sprintf("other model: model %s instead of the recorded %s", m.ID, recorded.ID))
		}
		if err := prediction.Replaceable(m, recorded); err != nil {
			return err
		}
	}
	if err := p.cfg.complete(m); err != nil {
		return p.fail("its configuration: %v", err)
	}
	p.settings = p.cfg.settings()
	l, err := prediction.Load(p.settings, m, false)
	if err != nil {
		return p.fail("its model: %v", err)
	}
	if len(p.r.Model.Trust) > 0 {
		l.Trust = slices.Clone(p.r.Model.Trust)
	}
	_ = l.RestoreAdaptation(slices.Clone(p.r.Model.Adaptation), p.r.Model.Unix) // what was refused then is refused again
	if p.engine == nil {
		p.engine = prediction.NewEngine(p.settings, l)
	} else {
		p.engine.Use(l)
	}
	p.sum.Models++
	return nil
}

func (p *replay) state() error {
	if p.engine == nil {
		return p.fail("a state comes before any model")
	}
	s, a := &p.r.State, &p.taken
	m := p.engine.Loaded.Model
	if err := a.State.Decode(s.Message, m.K, m.P); err != nil {
		return p.fail("its state: %v", err)
	}
	a.At, a.Age, a.Period = s.At, s.Age, s.Period
	p.engine.Take(a)
	if !a.Dropped && !a.Late && !a.Unasked {
		p.arrival, p.taken, p.any = p.taken, p.arrival, true
	}
	p.sum.States++
	return nil
}

// prediction makes one again and compares.
func (p *replay) prediction() error {
	was, is := &p.r.Prediction, &p.again
	if p.engine == nil || !p.any {
		if p.r.Lost > 0 {
			return p.differs("its state is missing")
		}
		return p.fail("a prediction comes before any state")
	}
	if was.Level < 0 || was.Level >= len(p.engine.Loaded.Ladder.Costs) {
		return p.differs(fmt.Sprintf("level %d of the horizon does not exist", was.Level))
	}
	if (was.Tick > 0) != (p.settings.Rate > 0) {
		return p.differs("it was made in the other mode")
	}
	t := prediction.Task{
		Arrival: &p.arrival, Tick: was.Tick, Due: was.Due, Level: was.Level, Fresh: was.Fresh, Contested: was.Contested,
		Clock: func() (unix, steady int64) { return was.Unix, was.End },
	}
	m, outcome := p.engine.Step(&t)
	recording.Describe(is, &t, m, outcome)
	p.engine.Learn(&t)
	if *is == *was {
		p.sum.Predictions++
		return nil
	}
	var c comparison
	c.add("the outcome", was.Outcome, is.Outcome)
	if is.Outcome == was.Outcome {
		c.add("seq", was.Seq, is.Seq)
		c.add("t", was.T, is.T)
		c.add("valid_until", was.ValidUntil, is.ValidUntil)
		c.add("the number of points", was.Points, is.Points)
		c.add("flags", fmt.Sprintf("%#x", was.Flags), fmt.Sprintf("%#x", is.Flags))
		for i, name := range journal.Digested {
			if is.Digests[i] != was.Digests[i] {
				c = append(c, name+" has other bits")
			}
		}
	}
	return p.differs(strings.Join(c, ", "))
}

// comparison lists what differs.
type comparison []string

func (c *comparison) add(name string, was, is any) {
	if w, i := fmt.Sprint(was), fmt.Sprint(is); w != i {
		*c = append(*c, fmt.Sprintf("%s is %s and was %s", name, i, w))
	}
}

// differs returns the difference at the present record with what may explain it.
func (p *replay) differs(what string) error {
	f := &p.r.Prediction
	n, _ := p.r.Record()
	d := &Difference{Name: p.name, Record: n, Seq: f.Seq, Tick: f.Tick, What: what}
	if p.any && f.Seq == 0 {
		d.Seq = p.arrival.State.Seq
	}
	why := slices.Clone(p.models)
	if c := p.configuration(); c != "" {
		why = append(why, "other configuration: "+c)
	}
	if p.r.Lost > 0 {
		why = append(why, fmt.Sprintf("missing input: %d records before this one are missing, because the disk was too slow", p.r.Lost))
	}
	switch here := recording.Platform(); {
	case len(why) > 0:
	case here != p.r.Header.Platform:
		why = append(why, fmt.Sprintf("other program, processor or vector unit: recorded with %s, this is %s", p.r.Header.Platform, here))
	default:
		why = append(why, "same model, same configuration, no missing record, both on "+here+": the program computes different numbers from the same input")
	}
	d.Why = strings.Join(why, "; ")
	return d
}

// configuration lists the settings that differ from the recorded ones.
func (p *replay) configuration() string {
	was, is := &p.r.Header.Settings, p.settings
	var c comparison
	c.add("times", was.Times, is.Times)
	c.add("rate", was.Rate, is.Rate)
	c.add("clock = robot", was.RobotClock, is.RobotClock)
	c.add("chain", was.Chain, is.Chain)
	c.add("predictor = fast", was.Fast, is.Fast)
	c.add("untimed plans", !was.TimedPlans, !is.TimedPlans)
	c.add("adapt", cmp.Or(was.Adapt, wire.AdaptOff), is.Adapt)
	c.add("trust off", was.NoTrust, is.NoTrust)
	c.add("validity", time.Duration(was.Validity), time.Duration(is.Validity))
	c.add("deadline", time.Duration(was.Deadline), time.Duration(is.Deadline))
	c.add("age_limit", time.Duration(was.AgeLimit), time.Duration(is.AgeLimit))
	c.add("false_alarms", time.Duration(was.FalseAlarms), time.Duration(is.FalseAlarms))
	return strings.Join(c, ", ")
}
