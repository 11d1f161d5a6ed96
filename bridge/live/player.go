package live

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// player sends the samples of one log.
type player struct {
	c       PlayConfig
	sum     *PlaySummary
	nc      *nats.Conn
	subject string
	state   wire.State
	buf     []byte
	sensors []*sensor // none = samples are sent whole

	begun  bool
	first  int64     // ns, stamp of the log's first sample
	last   int64     // ns, stamp of the sample before
	due    time.Time // when that was due
	plan   []float64 // of the record before
	planDt float64   // s, of its rows
	planAt int64
}

// publish sends the state.
func (p *player) publish() {
	p.buf = p.state.Append(p.buf[:0])
	p.state.Seq++
	if !p.nc.IsConnected() || p.nc.Publish(p.subject, p.buf) != nil {
		p.sum.Unsent++
		return
	}
	p.sum.Sent++
}
