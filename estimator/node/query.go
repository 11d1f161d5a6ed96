package node

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// queries answers questions about the vehicle as a NATS micro service. It has
// goroutines and predictors of its own, so that the longest question delays no
// prediction but by the processor that it takes.
type queries struct {
	n       *Node
	nc      *nats.Conn
	service micro.Service
	work    chan question
	quit    chan struct{} // closed at the end; work is not, because what drains may still put into it
	workers sync.WaitGroup
}

// question is a request that waits.
type question struct {
	r  micro.Request
	at int64 // ns, steady, when it came
}

const (
	queryWorkers = 2
	mostWaiting  = 8 // requests; more are refused at once
	queryTimeout = int64(time.Second)
	serviceName  = "dgm-estimator"
	serviceV     = "1.0.0"
)

// The codes of the service's errors, with the meanings that they have on the web.
const (
	codeWrong    = 400
	codeTimeout  = 408
	codeLarge    = 413
	codeBusy     = 429
	codeNotSound = 500
	codeCannot   = 501
)

// refusal is why a question is not answered.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

func wrong(format string, args ...any) error {
	return &refusal{codeWrong, fmt.Sprintf(format, args...)}
}

// serveQueries offers the service until close.
func (n *Node) serveQueries(nc *nats.Conn) (*queries, error) {
	q := &queries{n: n, nc: nc, work: make(chan question, mostWaiting), quit: make(chan struct{})}
	s, err := micro.AddService(nc, micro.Config{
		Name: serviceName, Version: serviceV, Description: "distributions of the states to come of a robot",
		Metadata: map[string]string{"vehicle": n.cfg.Vehicle, "instance": n.cfg.Instance},
	})
	if err != nil {
		return nil, fmt.Errorf("offering queries: %w", err)
	}
	q.service = s
	for range queryWorkers {
		q.workers.Go(q.run)
	}
	// Instances would share the questions of all vehicles if the queue group, too,
	// did not name the vehicle.
	err = s.AddEndpoint("query", micro.HandlerFunc(q.take),
		micro.WithEndpointSubject(wire.QuerySubject(n.cfg.Vehicle)), micro.WithEndpointQueueGroup(n.cfg.Vehicle))
	if err != nil {
		q.close()
		return nil, fmt.Errorf("offering queries at %s: %w", wire.QuerySubject(n.cfg.Vehicle), err)
	}
	return q, nil
}

// close ends the service after what was taken is answered.
func (q *queries) close() {
	_ = q.service.Stop() // the connection may be gone
	close(q.quit)
	q.workers.Wait()
}

// take takes a request, on the goroutine of the subscription.
func (q *queries) take(r micro.Request) {
	_, now := q.n.cfg.Clock()
	select {
	case q.work <- question{r, now}:
	default:
		q.respond(r, nil, &refusal{codeBusy, fmt.Sprintf("%d requests are waiting already; ask again, or fewer at a time", mostWaiting)})
	}
}

// respond answers a request with data or with why not, over the connection itself:
// what a micro.Request notes of its answer is read when take returns, which is
// before most are answered.
func (q *queries) respond(r micro.Request, data []byte, err error) {
	m := &nats.Msg{Subject: r.Reply(), Data: data}
	if err != nil {
		code := codeWrong
		var f *refusal
		if errors.As(err, &f) {
			code = f.code
		}
		m.Header = nats.Header{micro.ErrorHeader: {shorten(err.Error())}, micro.ErrorCodeHeader: {strconv.Itoa(code)}}
	}
	_ = q.nc.PublishMsg(m) // who asked may be gone
}

// run answers requests until there are no more.
func (q *queries) run() {
	o := oracle{n: q.n}
	var buf []byte
	for {
		select {
		case w := <-q.work:
			buf = q.reply(&o, w, buf)
			continue
		default:
		}
		select {
		case w := <-q.work:
			buf = q.reply(&o, w, buf)
		case <-q.quit:
			return // and nothing waits
		}
	}
}

// reply answers one request and returns its buffer for the next.
func (q *queries) reply(o *oracle, w question, buf []byte) []byte {
	a, err := o.answer(w.r.Data(), w.at)
	if err == nil {
		if most := q.n.maxPayload.Load(); most > 0 && int64(a.Size())+1024 > most {
			err = &refusal{codeLarge, fmt.Sprintf("the answer has %d bytes, and the server takes %d: ask for fewer questions or times, or for dtype f4", a.Size(), most)}
		}
	}
	if err == nil {
		buf = a.Append(buf[:0])
		q.respond(w.r, buf, nil)
	} else {
		q.respond(w.r, nil, err)
	}
	return buf
}
