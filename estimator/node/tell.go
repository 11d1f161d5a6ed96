package node

import (
	"sync"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/trust"
)

// findings carry what the worker knows to the reporter. The worker writes when it
// was asked, between two predictions; the reporter shows what was written last.
type findings struct {
	asked atomic.Bool // for the report
	keep  atomic.Bool // for the state too

	mu     sync.Mutex
	model  string
	report trust.Report
	known  bool // report is of a monitor
	health float64
	state  []byte // of the monitor, to be kept; empty = nothing new
}

// keepEvery is how many statuses pass between two writings of what is known of the
// intervals.
const keepEvery = 60

// tell writes down what was asked for. It is the worker's.
func (n *Node) tell() {
	if !n.findings.asked.Load() {
		return
	}
	n.findings.asked.Store(false)
	f, e := &n.findings, n.engine
	f.mu.Lock()
	defer f.mu.Unlock()
	f.model, f.health, f.known = e.out.Model, e.craft.health.score(), e.trust != nil
	if e.trust == nil {
		return
	}
	e.trust.Report(&f.report)
	if f.keep.Load() {
		f.keep.Store(false)
		f.state = e.trust.Append(f.state[:0], f.model)
	}
}

// keepTrust writes the file of what is known of the intervals. A disk that is full
// or gone is told once; nothing depends on it while the program runs.
func (n *Node) keepTrust() {
	f := &n.findings
	f.mu.Lock()
	b := append([]byte(nil), f.state...)
	f.state = f.state[:0]
	f.mu.Unlock()
	if len(b) == 0 || n.cfg.TrustFile == "" {
		return
	}
	if err := durable.WriteFile(n.cfg.TrustFile, b); err != nil {
		if !n.untold {
			n.cfg.Log("what is known of the intervals is not kept: " + err.Error())
		}
		n.untold = true
		return
	}
	n.untold = false
}

// readTrust returns what was kept for a model, nil if nothing was.
func (n *Node) readTrust(m *model.Model) []byte {
	if n.cfg.TrustFile == "" || n.cfg.NoTrust {
		return nil
	}
	b, err := readSmall(n.cfg.TrustFile, mostTrust)
	if err != nil {
		return nil // nothing was kept yet
	}
	return b
}
