package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Audit is what an audit of a server has tried, and what got through.
type Audit struct {
	Tried   int       `json:"tried"`
	Through []Through `json:"through"`
}

// Through is something that a role did and may not do.
type Through struct {
	Role   string `json:"role"`
	Action string `json:"action"` // subject, and with it the reply or deliver subject
	Target string `json:"target"` // what changed, or was read
}

// Examine tries, with the credentials of every role but the operator, what it may not do: every verb of the API of JetStream on every
// stream, answered at its own inbox or at a subject of somebody else; consumers, mirrors, sources and republished streams that deliver
// there; messages on the subjects of others; and to hear what others say. What it may do, by the grants, is tried with the answer elsewhere. connect
// connects as a role. progress (optional) is called after each role.
func (a *Authority) Examine(ctx context.Context, connect func(role string) (*nats.Conn, error), progress func(role string, tried int)) (Audit, error) {
	return a.examine(ctx, connect, progress, mostTargets, a.Roles()[1:])
}

// ExamineAs is Examine with the credentials of one role alone.
func (a *Authority) ExamineAs(ctx context.Context, connect func(role string) (*nats.Conn, error), role string) (Audit, error) {
	return a.examine(ctx, connect, nil, mostTargets, []string{role})
}

const mostTargets = 100

// examine is Examine with the first so many of the subjects at which answers are to come, as some roles.
func (a *Authority) examine(ctx context.Context, connect func(role string) (*nats.Conn, error), progress func(role string, tried int), targets int, as []string) (Audit, error) {
	x := &examiner{a: a, targets: targets, out: Audit{Through: []Through{}}}
	nc, err := connect(RoleOperator)
	if err != nil {
		return x.out, err
	}
	defer nc.Close()
	if x.js, err = jetstream.New(nc); err != nil {
		return x.out, err
	}
	if err := x.listen(nc, RoleOperator, ">"); err != nil {
		return x.out, err
	}
	var conns []*nats.Conn
	defer func() {
		for _, nc := range conns {
			nc.Close()
		}
	}()
	for _, role := range a.Roles()[1:] {
		nc, err := connect(role)
		if err != nil {
			return x.out, fmt.Errorf("%s: %w", role, err)
		}
		conns = append(conns, nc)
		if strings.HasPrefix(role, "robot.") {
			if err := x.listen(nc, role, "dgm.>"); err != nil {
				return x.out, err
			}
		}
	}
	spoken := a.spoken(nc, conns)
	for i, role := range a.Roles()[1:] {
		if !slices.Contains(as, role) {
			continue
		}
		heard, err := a.overhear(conns[i], role, spoken)
		if err == nil {
			err = x.role(ctx, conns[i], role)
		}
		if err != nil {
			return x.out, fmt.Errorf("%s: %w", role, err)
		}
		x.out.Tried, x.out.Through = x.out.Tried+len(spoken), append(x.out.Through, heard...)
		if progress != nil {
			progress(role, x.out.Tried)
		}
	}
	return x.out, nil
}

// examiner tries what a role may not do.
type examiner struct {
	a       *Authority
	js      jetstream.JetStream
	targets int
	out     Audit
	ears    []ear
}

// ear is a subscription of a role's, at which messages of the audit come that may not.
type ear struct {
	nc   *nats.Conn
	role string
	sub  *nats.Subscription
}

// mark is in what the audit sends: where it is seen, something got through.
const mark = "dgm-audit"

// listen subscribes as a role.
func (x *examiner) listen(nc *nats.Conn, role, subject string) error {
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		return err
	}
	x.ears = append(x.ears, ear{nc, role, sub})
	return nc.Flush()
}

// strays returns what came to others' accounts, since it was last asked, of what a role had sent: the server has sent it before it answers
// a ping, and the client has it when the answer is there.
func (x *examiner) strays(by string) (came []string, err error) {
	for _, e := range x.ears {
		if err := e.nc.FlushTimeout(flushLimit); err != nil {
			return nil, err
		}
		for n, _, err := e.sub.Pending(); n > 0 || err != nil; n-- {
			if err != nil {
				return nil, err
			}
			m, err := e.sub.NextMsg(answerWait)
			if errors.Is(err, nats.ErrNoResponders) { // an answer to the operator
				continue
			}
			if err != nil {
				return nil, err
			}
			if by == e.role || !strings.Contains(string(m.Data), mark) || strings.HasPrefix(m.Subject, "_INBOX") || strings.HasPrefix(m.Subject, "_R_") {
				continue
			}
			if e.role != RoleOperator || !x.may(by, m.Subject) {
				came = append(came, fmt.Sprintf("%s on %s", account(e.role), m.Subject))
			}
		}
	}
	return came, nil
}

// may reports whether a role has a grant on a subject.
func (x *examiner) may(role, subject string) bool {
	if of, ok := strings.CutPrefix(subject, api+"."); ok && !strings.HasPrefix(of, "$") {
		subject = "$JS.API." + of
	}
	return slices.ContainsFunc(x.a.Grants(role), func(g Grant) bool { return matches(g.Subject, subject) }) ||
		slices.ContainsFunc(x.a.Robots, func(v string) bool { // what it says of itself is seen
			return role == RobotRole(v) && slices.Contains(seen(v), subject) || role == RoleViewer && subject == wire.QuerySubject(v)
		})
}

// matches reports whether a subject is one of a pattern.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return len(s) > i
		case i >= len(s) || token != "*" && token != s[i]:
			return false
		}
	}
	return len(p) == len(s)
}

// role tries all attempts of a role.
func (x *examiner) role(ctx context.Context, nc *nats.Conn, role string) error {
	time.Sleep(takeOver)
	if _, err := x.strays(role); err != nil { // of the role before
		return err
	}
	before, err := x.state(ctx)
	if err != nil {
		return err
	}
	for _, group := range x.a.attempts(role, streams(before), x.targets) {
		x.out.Tried += len(group)
		if err := x.try(nc, role, group); err != nil {
			return err
		}
		after, err := x.state(ctx)
		if err != nil {
			return err
		}
		for _, name := range changed(before, after) {
			if !x.own(role, name) {
				x.through(role, group[0], "changed "+name)
			}
		}
		before = after
		strays, err := x.strays(role)
		if err != nil {
			return err
		}
		for _, s := range strays {
			x.through(role, group[0], s)
		}
	}
	return nil
}

func (x *examiner) through(role string, t attempt, target string) {
	action := t.subject
	if t.reply != "" {
		action += " answered at " + t.reply
	}
	if n := len(x.out.Through); n > 0 && x.out.Through[n-1] == (Through{role, action, target}) {
		return
	}
	x.out.Through = append(x.out.Through, Through{role, action, target})
}

const (
	answerWait = 40 * time.Millisecond // an answer is waited for that may not come
	flushLimit = 10 * time.Second
	takeOver   = 300 * time.Millisecond // in which the common index takes what the role before has entered in its own
)

// try does what is in a group; an answer without an error on a subject that the role has no grant for is through.
func (x *examiner) try(nc *nats.Conn, role string, group []attempt) error {
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox + ".*")
	if err != nil {
		return err
	}
	defer func() { _ = answers.Unsubscribe() }()
	for i, t := range group {
		m := &nats.Msg{Subject: t.subject, Reply: cmp.Or(t.reply, fmt.Sprintf("%s.%d", inbox, i)), Header: t.header, Data: []byte(t.body)}
		if err := nc.PublishMsg(m); err != nil {
			return err
		}
	}
	if err := nc.FlushTimeout(flushLimit); err != nil {
		return err
	}
	for n := 0; group[0].reply == "" && n < len(group); n++ {
		m, err := answers.NextMsg(answerWait)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			continue
		case errors.Is(err, nats.ErrTimeout):
			return nil
		case err != nil:
			return err
		}
		number, ofInbox := strings.CutPrefix(m.Subject, inbox+".")
		if !ofInbox { // what a consumer delivers has the subject that it was stored on
			if !slices.ContainsFunc(group, func(t attempt) bool { return strings.Contains(t.subject, "MSG.NEXT") && x.may(role, t.subject) }) {
				x.through(role, group[0], "gets a message of "+m.Subject)
			}
			continue
		}
		i, err := strconv.Atoi(number)
		if err != nil || i >= len(group) {
			return fmt.Errorf("an answer on %s", m.Subject)
		}
		if !refused(m) && !x.may(role, group[i].subject) {
			x.through(role, group[i], "is answered")
		}
	}
	return nil
}

// refused reports whether an answer is an error. That a stream has no such message is none: who may not read it does not reach it.
func refused(m *nats.Msg) bool {
	var answer struct {
		Error *json.RawMessage `json:"error"`
	}
	return json.Unmarshal(m.Data, &answer) == nil && answer.Error != nil || m.Header.Get("Status") == noResponders
}

// noResponders is the status of an answer to who asks on a subject that nobody listens to.
const noResponders = "503"

// state returns what the operator's account stores: of each stream its configuration, messages and consumers.
func (x *examiner) state(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	list := x.js.ListStreams(ctx)
	for s := range list.Info() {
		b, err := json.Marshal([]any{s.Config, s.State.Msgs, s.State.LastSeq, s.State.Consumers})
		if err != nil {
			return nil, err
		}
		out[s.Config.Name] = string(b)
	}
	if list.Err() != nil {
		return nil, list.Err()
	}
	index, err := x.js.Stream(ctx, "KV_"+logIndex)   // one for all robots, of which each writes its own keys
	if errors.Is(err, jetstream.ErrStreamNotFound) { // what got through has removed it
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for _, v := range x.a.Robots {
		s, err := index.Info(ctx, jetstream.WithSubjectFilter("$KV."+logIndex+"."+v+".>"))
		if err != nil {
			return nil, err
		}
		out[keysOf(v)] = fmt.Sprint(s.State.Subjects)
	}
	return out, nil
}

// Fill stores a message in each stream of a server that is only there to be audited: what is empty shows no removal.
func (a *Authority) Fill(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	var subjects []string
	list := js.ListStreams(ctx)
	for s := range list.Info() {
		for _, subject := range s.Config.Subjects {
			subjects = append(subjects, strings.NewReplacer("*", "filled", ">", "filled").Replace(subject))
		}
	}
	for _, v := range a.Robots {
		subjects = append(subjects, "$KV."+OwnIndex(v)+"."+v+".filled")
	}
	err = list.Err()
	for _, subject := range subjects {
		if err == nil {
			_, err = js.Publish(ctx, subject, nil)
		}
	}
	return err
}

// streams returns the names of the streams of a state, in order.
func streams(state map[string]string) []string {
	names := slices.Sorted(maps.Keys(state))
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, keysOf("")) })
}

// keysOf names the keys of a vehicle in the index of logs.
func keysOf(v string) string { return "KV_" + logIndex + " of " + v }

// changed returns the streams that differ, or are in one state alone.
func changed(a, b map[string]string) (names []string) {
	for name, v := range a {
		if b[name] != v {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// own reports whether a role writes a stream by its grants.
func (x *examiner) own(role, stream string) bool {
	if strings.HasPrefix(stream, keysOf("")) {
		return stream == keysOf(strings.TrimPrefix(role, RobotRole("")))
	}
	if stream == "KV_"+logIndex { // it takes what vehicles enter in theirs; whose keys have changed is looked at by itself
		return strings.HasPrefix(role, RobotRole(""))
	}
	bucket, object := strings.CutPrefix(stream, "OBJ_")
	key, values := strings.CutPrefix(stream, "KV_")
	return slices.ContainsFunc(x.a.Grants(role), func(g Grant) bool {
		return object && strings.HasPrefix(g.Subject, "$O."+bucket+".") || values && strings.HasPrefix(g.Subject, "$KV."+key+".") ||
			stream == jobStream && strings.HasPrefix(g.Subject, "$JS.ACK."+jobStream)
	})
}
