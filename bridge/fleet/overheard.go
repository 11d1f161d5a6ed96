package fleet

import (
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// spoken returns the subjects on which robots and the operator say something, and who does; conns are those of the other roles.
func (a *Authority) spoken(operator *nats.Conn, conns []*nats.Conn) map[string]*nats.Conn {
	by := map[string]*nats.Conn{"dgm." + mark: operator}
	for i, role := range a.Roles()[1:] {
		if v, robot := strings.CutPrefix(role, RobotRole("")); robot {
			for _, s := range append(seen(v), wire.SwapSubject(v), wire.ModelSubject(v), wire.QuerySubject(v), "dgm."+mark+"."+v) {
				by[s] = conns[i]
			}
		}
	}
	return by
}

// overhear lets everybody say something on each of his subjects, and returns what a role hears of that and may not. A role that may not
// subscribe to all subscribes to each.
func (a *Authority) overhear(nc *nats.Conn, role string, spoken map[string]*nats.Conn) (heard []Through, err error) {
	subjects := []string{">"}
	for s := range spoken {
		subjects = append(subjects, s)
	}
	var subs []*nats.Subscription
	for _, s := range subjects {
		sub, err := nc.SubscribeSync(s)
		if err != nil {
			return nil, err
		}
		defer func() { _ = sub.Unsubscribe() }()
		subs = append(subs, sub)
	}
	err = nc.FlushTimeout(flushLimit)
	for s, by := range spoken {
		err = errors.Join(err, by.Publish(s, []byte(mark)), by.FlushTimeout(flushLimit))
	}
	if err = errors.Join(err, nc.FlushTimeout(flushLimit)); err != nil {
		return nil, err
	}
	for _, sub := range subs {
		for m, err := sub.NextMsg(answerWait); err == nil; m, err = sub.NextMsg(answerWait) {
			if string(m.Data) == mark && !a.hears(role, m.Subject) {
				heard = append(heard, Through{role, "subscribes to " + sub.Subject, "hears " + m.Subject})
			}
		}
	}
	return heard, nil
}

// hears reports whether a role may hear what is said on a subject.
func (a *Authority) hears(role, subject string) bool {
	kind, of, _ := strings.Cut(role, ".")
	switch kind {
	case "robot":
		return strings.HasSuffix(subject, "."+of)
	case "planner":
		return slices.Contains(seen(of), subject)
	}
	return role == RoleViewer && slices.ContainsFunc(a.Robots, func(v string) bool { return slices.Contains(seen(v), subject) })
}
