package queries

import (
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// samples are the history of the questions of a batch.
type samples struct {
	fromStream bool
	t          []float64 // s, before the states
	x, u       estimator.Rows
}

// checkHistory returns the history that comes with a query, or is to be read from the
// stream.
func checkHistory(q *wire.Query, m *model.Model) (*samples, error) {
	n := len(q.HistoryT)
	h := &samples{
		fromStream: q.History == wire.HistoryOfStream, t: q.HistoryT,
		x: estimator.Rows{Name: "history_x", X: q.HistoryX, Size: n * m.K, Content: "samples × states"},
		u: estimator.Rows{Name: "history_u", X: q.HistoryU, Size: n * m.P, Content: "samples × inputs"},
	}
	switch {
	case q.History != "" && !h.fromStream:
		return nil, wrong("history", "is %q, and must be %s or absent", q.History, wire.HistoryOfStream)
	case h.fromStream && n+len(q.HistoryX)+len(q.HistoryU) > 0:
		return nil, wrong("history", "is that of the stream, and samples come with the query: give one of them")
	case n > wire.MaxHistory:
		return nil, wrong("history_t", "has %d samples, at most %d", n, wire.MaxHistory)
	case n == 0 && len(q.HistoryX)+len(q.HistoryU) > 0:
		return nil, wrong("history_t", "is missing, and history_x or history_u are there")
	case n > 0 && len(q.HistoryX) == 0:
		return nil, wrong("history_x", "is missing: %d samples of %d states", n, m.K)
	case n > 0 && m.P > 0 && len(q.HistoryU) == 0:
		return nil, wrong("history_u", "is missing: %d samples of %d inputs", n, m.P)
	}
	for i, t := range q.HistoryT {
		if !(t <= 0 && t > -longAgo) || (i > 0 && t <= q.HistoryT[i-1]) {
			return nil, wrong("history_t", "must ascend to at most 0 s, and %g s is at place %d", t, i)
		}
	}
	return h, nil
}

// longAgo keeps times in ns within 64 bits, s.
const longAgo = 1e9

// past resamples the history of questions to the rows that a model reads.
type past struct {
	model  *model.Model
	buffer *history.Buffer // nil = the model reads none
	rows   []float64
	at     int64 // ns, of the states
}

func newPast(m *model.Model) past {
	return past{model: m, buffer: history.NewBuffer(m.Channels[:m.K], m.P, m.History), rows: make([]float64, m.History.Rows()*(m.K+m.P))}
}

// begin reads the history of a batch. ok is false if the stream's is not there in time.
func (p *past) begin(h *samples, stream func(dst *history.Buffer, within time.Duration) bool, within time.Duration) (ok bool) {
	p.buffer.Reset()
	p.at = 0
	if h.fromStream && p.buffer != nil {
		ok = stream(p.buffer, within)
		p.at, _ = p.buffer.Newest()
		return ok
	}
	p.add(h, 0)
	return true
}

// add replaces the samples by those of question i.
func (p *past) add(h *samples, i int) {
	p.buffer.Reset()
	p.buffer.AddSamples(h.t, h.x.Row(i), h.u.Row(i))
}

// before returns the rows before the state of question i, and whether they are all that
// the model reads.
func (p *past) before(h *samples, i int, x0 []float64) (rows []float64, all bool) {
	if i > 0 && !(h.x.Same() && h.u.Same()) {
		p.add(h, i)
	}
	n := p.buffer.Fill(p.rows, p.at, x0)
	if n > 0 {
		rows = p.rows[:n*(p.model.K+p.model.P)]
	}
	return rows, n == p.buffer.Rows()
}
