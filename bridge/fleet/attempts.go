package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// attempt is one thing that is tried.
type attempt struct {
	subject, reply string // reply "" = the own inbox, where an answer is a result
	body           string
	header         nats.Header
}

// Verbs of the API of JetStream on a stream {}, and without one.
var (
	verbs = strings.Fields(`STREAM.INFO.{} STREAM.UPDATE.{} STREAM.DELETE.{} STREAM.PURGE.{} STREAM.MSG.GET.{} STREAM.MSG.DELETE.{} STREAM.SNAPSHOT.{}
		STREAM.RESTORE.{} STREAM.PEER.REMOVE.{} STREAM.LEADER.STEPDOWN.{} CONSUMER.CREATE.{} CONSUMER.CREATE.{}.c CONSUMER.CREATE.{}.c.> CONSUMER.DURABLE.CREATE.{}.c
		CONSUMER.NAMES.{} CONSUMER.LIST.{} CONSUMER.INFO.{}.workers CONSUMER.DELETE.{}.workers CONSUMER.PAUSE.{}.workers CONSUMER.LEADER.STEPDOWN.{}.workers
		CONSUMER.UNPIN.{}.workers CONSUMER.MSG.NEXT.{}.workers DIRECT.GET.{} DIRECT.GET.{}.$KV.x DIRECT.GET.{}.$O.x`)
	plainVerbs = strings.Fields(`INFO STREAM.NAMES STREAM.LIST STREAM.CREATE.thief STREAM.TEMPLATE.CREATE.thief META.LEADER.STEPDOWN SERVER.REMOVE ACCOUNT.PURGE.OPERATOR`)
)

// attempts returns what a role tries on streams, in groups after each of which the state is looked at, with the first so many of the
// subjects at which answers are to come.
func (a *Authority) attempts(role string, streams []string, most int) (groups [][]attempt) {
	victim := a.Robots[0]
	if role == RobotRole(victim) || role == PlannerRole(victim) {
		victim = a.Robots[len(a.Robots)-1]
	}
	targets := targetsAt(victim)
	for _, target := range targets[:min(most, len(targets))] {
		groups = append(groups, requests(streams, target)...)
		if target != "" {
			groups = append(groups, a.granted(role, target)...)
		}
	}
	for _, v := range a.Robots {
		for _, s := range append(seen(v), wire.SwapSubject(v), wire.ModelSubject(v)) {
			if role != RobotRole(v) {
				groups = append(groups, []attempt{{subject: s, reply: "stolen." + mark, body: mark}})
			}
		}
	}
	return groups
}

// targetsAt returns subjects at which an answer would do harm to a vehicle or the fleet; the first is the own inbox.
func targetsAt(victim string) []string {
	return []string{
		"", "$JS.API.STREAM.DELETE." + decisionStream, "$JS.API.STREAM.PURGE.OBJ_" + OwnLogs(victim), "$JS.API.CONSUMER.DELETE." + jobStream + "." + jobConsumer,
		wire.PredictSubject(victim), wire.StateSubject(victim), wire.StatusSubject(victim), wire.ModelSubject(victim),
		decisionPrefix + "installation." + victim, "$KV." + logIndex + "." + victim + ".x", "$O." + OwnFlown(victim) + ".M.x", jobPrefix + "x",
	}
}

// requests returns every verb of the API on every stream, answered at a target.
func requests(streams []string, target string) (groups [][]attempt) {
	for _, verb := range verbs {
		var group []attempt
		for _, s := range append(slices.Clone(streams), "*", ">") {
			subject := strings.Replace(strings.Replace(verb, ".>", ".$O.x", 1), "{}", s, 1)
			for _, prefix := range []string{"$JS.API.", api + "."} {
				group = append(group, attempt{subject: prefix + subject, reply: target, body: body(verb, s, target)})
			}
		}
		groups = append(groups, group)
	}
	for _, verb := range plainVerbs {
		for _, body := range thieves(verb, streams, target) {
			groups = append(groups, []attempt{{subject: "$JS.API." + verb, reply: target, body: body}})
		}
	}
	return groups
}

// granted returns what a role may ask, answered at a target, and messages on that.
func (a *Authority) granted(role, target string) (groups [][]attempt) {
	for _, g := range a.Grants(role) {
		subject := strings.NewReplacer("*", "x", ">", "x").Replace(g.Subject)
		groups = append(groups, []attempt{{subject: subject, reply: target}}, headed(subject, target))
	}
	return append(groups, []attempt{{subject: target, body: mark}}, []attempt{{subject: target, reply: "stolen." + mark, body: mark}}, headed(target, target))
}

// headed returns messages on a subject with the headers by which a server removes messages, and sends or stores ones at a target.
func headed(subject, target string) (group []attempt) {
	for _, h := range []nats.Header{
		{"Nats-Rollup": {"all"}}, {"Nats-Rollup": {"sub"}, "KV-Operation": {"PURGE"}},
		{"Nats-Trace-Dest": {target}}, {"Nats-Trace-Dest": {target}, "Nats-Trace-Only": {"true"}},
		{"Nats-Schedule": {"@at 2020-01-01T00:00:00Z"}, "Nats-Schedule-Target": {target}},
		{"Nats-Batch-Id": {mark}, "Nats-Batch-Sequence": {"1"}, "Nats-Batch-Commit": {"1"}},
		{"Nats-Expected-Last-Sequence": {"0"}}, {"Nats-TTL": {"1h"}}, {"Nats-Incr": {"+1"}},
	} {
		h.Set("Dgm-Audit", mark) // a trace has the headers
		group = append(group, attempt{subject: subject, reply: target, body: mark, header: h})
	}
	return group
}

// body returns the body of a verb on a stream that delivers to a target.
func body(verb, stream, target string) string {
	switch {
	case strings.HasPrefix(verb, "CONSUMER.CREATE"), strings.HasPrefix(verb, "CONSUMER.DURABLE"):
		deliver := target
		if deliver == "" {
			deliver = "stolen." + mark
		}
		return fmt.Sprintf(`{"stream_name":%q,"config":{"deliver_subject":%q,"durable_name":"c","name":"c","ack_policy":"none"}}`, stream, deliver)
	case strings.HasPrefix(verb, "STREAM.MSG"):
		return `{"seq":1}`
	case strings.HasPrefix(verb, "DIRECT.GET") && !strings.Contains(verb, "$"):
		return `{"seq":1}`
	case strings.HasPrefix(verb, "STREAM.SNAPSHOT"):
		return fmt.Sprintf(`{"deliver_subject":%q}`, "stolen."+mark)
	case strings.HasPrefix(verb, "STREAM.INFO"):
		return `{"subjects_filter":">"}`
	}
	return ""
}

// thieves returns bodies of a verb without a stream: new streams that read others.
func thieves(verb string, streams []string, target string) []string {
	if !strings.HasPrefix(verb, "STREAM.CREATE") {
		return []string{""}
	}
	at := target
	if at == "" {
		at = "stolen." + mark
	}
	bodies := []string{fmt.Sprintf(`{"name":"thief","subjects":["stolen.>"],"republish":{"src":">","dest":%q}}`, at)}
	for _, s := range streams {
		bodies = append(bodies, fmt.Sprintf(`{"name":"thief","mirror":{"name":%q}}`, s), fmt.Sprintf(`{"name":"thief","sources":[{"name":%q}]}`, s))
	}
	return bodies
}
