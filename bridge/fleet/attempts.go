package fleet

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// attempt is one thing that is tried.
type attempt struct {
	subject, reply string // reply "" = the own inbox, where an answer is a result
	body           string
}

// Verbs of the API of JetStream on a stream S, and without one.
var (
	verbs = strings.Fields(`STREAM.INFO.S STREAM.UPDATE.S STREAM.DELETE.S STREAM.PURGE.S STREAM.MSG.GET.S STREAM.MSG.DELETE.S STREAM.SNAPSHOT.S
		STREAM.RESTORE.S STREAM.PEER.REMOVE.S STREAM.LEADER.STEPDOWN.S CONSUMER.CREATE.S CONSUMER.CREATE.S.c CONSUMER.CREATE.S.c.> CONSUMER.DURABLE.CREATE.S.c
		CONSUMER.NAMES.S CONSUMER.LIST.S CONSUMER.INFO.S.workers CONSUMER.DELETE.S.workers CONSUMER.PAUSE.S.workers CONSUMER.LEADER.STEPDOWN.S.workers
		CONSUMER.UNPIN.S.workers CONSUMER.MSG.NEXT.S.workers DIRECT.GET.S DIRECT.GET.S.$KV.x DIRECT.GET.S.$O.x`)
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
			if !strings.HasSuffix(role, "."+v) {
				groups = append(groups, []attempt{{s, "stolen." + mark, mark}})
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
		for _, s := range streams {
			subject := strings.Replace(verb, ".S", "."+s, 1)
			if strings.HasSuffix(subject, ".>") {
				subject = strings.TrimSuffix(subject, ">") + "$O.x"
			}
			for _, prefix := range []string{"$JS.API.", api + "."} {
				group = append(group, attempt{prefix + subject, target, body(verb, s, target)})
			}
		}
		groups = append(groups, group)
	}
	for _, verb := range plainVerbs {
		for _, body := range thieves(verb, streams, target) {
			groups = append(groups, []attempt{{"$JS.API." + verb, target, body}})
		}
	}
	return groups
}

// granted returns what a role may ask, answered at a target, and messages on that.
func (a *Authority) granted(role, target string) (groups [][]attempt) {
	for _, g := range a.Grants(role) {
		subject := strings.NewReplacer("*", "x", ">", "x").Replace(g.Subject)
		groups = append(groups, []attempt{{subject, target, ""}})
	}
	return append(groups, []attempt{{target, "", mark}}, []attempt{{target, "stolen." + mark, mark}})
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
	case strings.HasPrefix(verb, "DIRECT.GET.S") && !strings.Contains(verb, "$"):
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
