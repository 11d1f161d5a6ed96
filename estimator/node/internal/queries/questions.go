package queries

import (
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// questions are those of a query, with what answers them.
type questions struct {
	*answerer
	batch     *batch
	many      *blocks // nil = each
	each      func(q *estimator.Query, i int) error
	at, limit int64 // ns
	began     int64 // ns, with the first question, or the second block, as the first one compiles the program
	first     int   // question that it began with
}

// Once so many shares of the timeout have passed it is known whether the rest suffices.
const earlyShare = 20

// run answers the questions from one to before another.
func (w *questions) run(from, to int) error {
	o := w.answerer
	a := &o.answered
	for i := from; i < to; {
		if err := w.inTime(i); err != nil {
			return err
		}
		if next, err := w.runMany(i, to); err != nil {
			return err
		} else if next > i {
			i = next
			continue
		}
		question, all := w.batch.At(i), false
		question.History, all = o.past.before(w.batch.past, i, question.X0)
		if !all && !w.batch.wants.dynamics {
			a.NoHistory++
		}
		if err := w.each(&question, i); err != nil {
			return err
		}
		i++
		o.budget.rest()
	}
	return nil
}

// inTime returns a refusal where the questions before i have taken too long, or show that the others will.
func (w *questions) inTime(i int) error {
	o, n := w.answerer, w.batch.n
	_, now := o.cfg.Clock()
	if i == 0 {
		w.began = now
	}
	if now-w.at > w.limit {
		return &refusal{codeTimeout, "timeout", fmt.Sprintf("%d of %d questions were answered within it", i, n)}
	}
	if now-w.at > timeout && o.ending() {
		return &refusal{codeTimeout, "", "the estimator ends"}
	}
	if spent := now - w.began; i > w.first && spent > w.limit/earlyShare {
		if all := spent / int64(i-w.first) * int64(n); all > w.limit {
			return &refusal{codeTimeout, "timeout", fmt.Sprintf("%d questions take about %v, and it is %v: ask for at most %d at a time, for fewer times, or set it",
				n, time.Duration(all).Round(time.Millisecond), time.Duration(w.limit), int64(n)*w.limit/all)}
		}
	}
	return nil
}

// runMany answers questions from i on together, and returns the one behind them: i where they are to be answered one by one.
func (w *questions) runMany(i, to int) (next int, err error) {
	o, end := w.answerer, min(i+mostBlock, to)
	if w.many == nil || end-i < leastBlock {
		return i, nil
	}
	done, err := w.many.run(o.model, &o.past, &o.answered, w.batch, i, end)
	if err != nil || !done {
		return i, err
	}
	o.flagCorrected()
	if i == 0 {
		_, w.began = o.cfg.Clock()
		w.first = end
	}
	o.budget.rest()
	return end, nil
}

// ending reports whether the service ends.
func (o *answerer) ending() bool {
	select {
	case <-o.quit:
		return true
	default:
		return false
	}
}

// flagCorrected sets the flag of an answer with a prediction that was corrected.
func (o *answerer) flagCorrected() {
	if c := o.predictors.Correction; c != nil && c.Applied {
		o.answered.Flags |= wire.Adapted
	}
}
