package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Authority is who may do what on a server. Each role, and each robot, has an account of its own: what it publishes stays there, but
// for the requests that are listed here, which go to the account with the stores. A server does not check the reply subject of a
// request; between accounts it replaces it, so that an answer comes to who has asked and goes nowhere else.
type Authority struct {
	Robots []string          // vehicles
	Keys   map[string]string // public nkey of each role, see Roles
}

// Roles that are not of one robot.
const (
	RoleOperator = "operator" // whoever decides which vehicle uses which model; its account has the stores, and it may do everything there
	RoleWorker   = "worker"   // dgm-fleet worker
	RoleViewer   = "viewer"   // dgm-fleet status, the page
)

// RobotRole and PlannerRole are those of a vehicle: its estimator, bridge and uploads; and a program that asks the estimator.
func RobotRole(vehicle string) string   { return "robot." + vehicle }
func PlannerRole(vehicle string) string { return "planner." + vehicle }

// Roles returns the roles with a key.
func (a *Authority) Roles() []string {
	out := []string{RoleOperator, RoleWorker, RoleViewer}
	for _, v := range a.Robots {
		out = append(out, RobotRole(v), PlannerRole(v))
	}
	return out
}

// Grant is a subject on which a role asks the account with the stores.
type Grant struct {
	Subject string
	Many    bool // more than one answer comes
}

// direct returns the grants to read a stream by direct gets.
func direct(stream string, many bool) []Grant {
	return []Grant{{directGet(stream), many}, {directGet(stream) + ".>", false}}
}

func directGet(stream string) string { return "$JS.API.DIRECT.GET." + stream }

// info returns the grants to open stores.
func info(streams ...string) (out []Grant) {
	for _, s := range streams {
		out = append(out, Grant{"$JS.API.STREAM.INFO." + s, false})
	}
	return out
}

// Grants returns what the role may ask for.
func (a *Authority) Grants(role string) []Grant {
	kind, v, _ := strings.Cut(role, ".")
	switch kind {
	case "robot":
		return slices.Concat(direct("OBJ_"+OwnLogs(v), false), direct("OBJ_"+OwnFlown(v), false), []Grant{
			{"$O." + OwnLogs(v) + ".C.*", false}, {"$O." + OwnLogs(v) + ".M.*", false},
			{directGet("KV_"+logIndex) + ".$KV." + logIndex + "." + v + ".*", false}, {"$KV." + logIndex + "." + v + ".*", false},
		})
	case RoleWorker:
		out := slices.Concat(
			info(jobStream, "KV_"+jobStates, "KV_"+logIndex, "KV_"+modelIndex, "OBJ_"+logObjects, "OBJ_"+modelObjects),
			direct("KV_"+jobStates, true), direct("KV_"+logIndex, true), direct("KV_"+modelIndex, true), direct("OBJ_"+modelObjects, false), direct("OBJ_"+logObjects, false),
			[]Grant{
				{"$JS.API.CONSUMER.INFO." + jobStream + "." + jobConsumer, false}, {"$JS.API.CONSUMER.MSG.NEXT." + jobStream + "." + jobConsumer, true}, {"$JS.ACK." + jobStream + "." + jobConsumer + ".>", false},
				{"$KV." + jobStates + ".*", false}, {"$KV." + modelIndex + ".*.*", false}, {"$O." + modelObjects + ".C.*", false}, {"$O." + modelObjects + ".M.*", false},
			})
		for _, v := range a.Robots {
			out = append(out, direct("OBJ_"+OwnLogs(v), false)...)
		}
		return out
	case RoleViewer:
		out := info(jobStream, "KV_"+jobStates, "KV_"+logIndex, "KV_"+modelIndex, decisionStream, "OBJ_"+logObjects, "OBJ_"+modelObjects, "OBJ_"+FlownObjects)
		for _, stream := range []string{"KV_" + jobStates, "KV_" + logIndex, "KV_" + modelIndex, decisionStream} {
			out = append(out, direct(stream, true)...)
		}
		return append(out, Grant{"$JS.API.CONSUMER.INFO." + jobStream + "." + jobConsumer, false})
	}
	return nil
}

// seen are the subjects of a vehicle that others than its robot see, and asked those on which they ask it.
func seen(v string) []string {
	return []string{wire.StatusSubject(v), wire.PredictSubject(v), wire.StateSubject(v), wire.EstimateSubject(v)}
}

// account returns the name of a role's account.
func account(role string) string {
	kind, v, _ := strings.Cut(role, ".")
	if kind == "planner" {
		kind = "robot"
	}
	return strings.TrimSuffix(strings.ToUpper(kind)+"_"+v, "_")
}

// Config returns the accounts and users as a part of a server's configuration. Everybody who connects needs a key.
func (a *Authority) Config() (string, error) {
	for _, v := range a.Robots {
		if err := wire.CheckVehicle(v); err != nil {
			return "", err
		}
	}
	for _, role := range a.Roles() {
		if a.Keys[role] == "" {
			return "", fmt.Errorf("the role %s has no key", role)
		}
	}
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat("  ", indent)+format+"\n", args...)
	}
	roles := []string{RoleWorker, RoleViewer}
	for _, v := range a.Robots {
		roles = append(roles, RobotRole(v))
	}
	exports, many := map[string][]string{}, map[string]bool{}
	for _, role := range roles {
		for _, g := range a.Grants(role) {
			exports[g.Subject] = append(exports[g.Subject], account(role))
			many[g.Subject] = many[g.Subject] || g.Many
		}
	}
	line(0, "accounts {")
	line(1, "%s {", account(RoleOperator))
	line(2, "jetstream: enabled")
	line(2, "users: [ { nkey: %s } ]", a.Keys[RoleOperator])
	line(2, "exports: [")
	for _, s := range slices.Sorted(maps.Keys(exports)) {
		kind := ""
		if many[s] {
			kind = ", response_type: stream"
		}
		line(3, "{ service: %q, accounts: [%s]%s }", s, strings.Join(exports[s], ", "), kind)
	}
	line(2, "]")
	line(2, "imports: [")
	for _, v := range a.Robots {
		line(3, "{ stream: { account: %s, subject: %q } }", account(RobotRole(v)), wire.StatusSubject(v))
		line(3, "{ service: { account: %s, subject: %q } }", account(RobotRole(v)), wire.ModelSubject(v))
	}
	line(2, "]")
	line(1, "}")
	for _, role := range roles {
		a.account(line, role)
	}
	line(0, "}")
	return b.String(), nil
}

// account writes the account of a role that asks that of the operator.
func (a *Authority) account(line func(indent int, format string, args ...any), role string) {
	kind, v, _ := strings.Cut(role, ".")
	line(1, "%s {", account(role))
	switch kind {
	case "robot":
		line(2, "users: [")
		line(3, "{ nkey: %s }", a.Keys[role])
		line(3, "{ nkey: %s, permissions: { publish: [%q], subscribe: [%q, %q, %q, %q, %q] } }", a.Keys[PlannerRole(v)], wire.QuerySubject(v),
			wire.StatusSubject(v), wire.PredictSubject(v), wire.StateSubject(v), wire.EstimateSubject(v), "_INBOX_planner.>")
		line(2, "]")
		line(2, "exports: [")
		for _, s := range seen(v) {
			line(3, "{ stream: %q, accounts: [%s, %s] }", s, account(RoleOperator), account(RoleViewer))
		}
		line(3, "{ service: %q, accounts: [%s] }", wire.QuerySubject(v), account(RoleViewer))
		line(3, "{ service: %q, accounts: [%s] }", wire.ModelSubject(v), account(RoleOperator))
		line(2, "]")
	default:
		line(2, "users: [ { nkey: %s } ]", a.Keys[role])
	}
	line(2, "imports: [")
	for _, g := range a.Grants(role) {
		asked, ofAPI := strings.CutPrefix(g.Subject, "$JS.API.")
		if kind != "robot" { // as a client of JetStream asks in an account without stores
			line(3, "{ service: { account: %s, subject: %q }, to: %q }", account(RoleOperator), g.Subject, api+"."+asked)
		}
		if !ofAPI || strings.HasPrefix(asked, "DIRECT.") { // the server answers all else of the API in each account, that it has no stores
			line(3, "{ service: { account: %s, subject: %q } }", account(RoleOperator), g.Subject)
		}
	}
	if role == RoleViewer {
		for _, v := range a.Robots {
			for _, s := range seen(v) {
				line(3, "{ stream: { account: %s, subject: %q } }", account(RobotRole(v)), s)
			}
			line(3, "{ service: { account: %s, subject: %q } }", account(RobotRole(v)), wire.QuerySubject(v))
		}
	}
	line(2, "]")
	line(1, "}")
}
