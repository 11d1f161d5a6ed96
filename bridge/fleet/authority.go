package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
			{directGet(decisionStream), true},
			{"$O." + OwnLogs(v) + ".C.*", false}, {"$O." + OwnLogs(v) + ".M.*", false},
			{directGet("KV_"+logIndex) + ".$KV." + logIndex + "." + v + ".*", false}, {directGet("KV_"+OwnIndex(v)) + ".$KV." + OwnIndex(v) + "." + v + ".*", false},
			{"$KV." + OwnIndex(v) + "." + v + ".*", false},
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

// Account is an account of a server: its users, what others may ask it or see of it, and what it asks and sees of others.
type Account struct {
	Name    string
	Stores  bool // it has JetStream
	Users   []User
	Exports []Export
	Imports []Import
}

// User is a role with its permissions; without any it may do all in its account.
type User struct {
	Role               string
	Publish, Subscribe []string
}

// ManyFor is for how long after a request many answers come. Until then a server keeps about 1 kB of each, however many one asks.
const ManyFor = 10 * time.Second

// Export is a subject that other accounts may ask on or see.
type Export struct {
	Subject string
	Service bool     // it is asked, else it is seen
	Many    bool     // more than one answer comes
	To      []string // accounts
}

// Import is a subject of another account that is asked or seen.
type Import struct {
	Account, Subject string
	Service          bool
	Local            string // subject on which it is asked; "" = the same
}

// Accounts returns the accounts of all roles, that of the operator first.
func (a *Authority) Accounts() []Account {
	roles := []string{RoleWorker, RoleViewer}
	for _, v := range a.Robots {
		roles = append(roles, RobotRole(v))
	}
	asked, many := map[string][]string{}, map[string]bool{}
	for _, role := range roles {
		for _, g := range a.Grants(role) {
			asked[g.Subject] = append(asked[g.Subject], account(role))
			many[g.Subject] = many[g.Subject] || g.Many
		}
	}
	all := []Account{{Name: account(RoleOperator), Stores: true, Users: []User{{Role: RoleOperator}}}}
	for _, s := range slices.Sorted(maps.Keys(asked)) {
		all[0].Exports = append(all[0].Exports, Export{s, true, many[s], asked[s]})
	}
	for _, v := range a.Robots {
		all[0].Imports = append(all[0].Imports, Import{Account: account(RobotRole(v)), Subject: wire.StatusSubject(v)}, Import{Account: account(RobotRole(v)), Subject: wire.ModelSubject(v), Service: true})
	}
	for _, role := range roles {
		all = append(all, a.asking(role))
	}
	return all
}

// asking returns the account of a role that asks that of the operator.
func (a *Authority) asking(role string) Account {
	kind, v, _ := strings.Cut(role, ".")
	c := Account{Name: account(role), Users: []User{{Role: role}}}
	if kind == "robot" {
		c.Users = append(c.Users, User{PlannerRole(v), []string{wire.QuerySubject(v)}, append(seen(v), "_INBOX_planner.>")})
		for _, s := range seen(v) {
			c.Exports = append(c.Exports, Export{Subject: s, To: []string{account(RoleOperator), account(RoleViewer)}})
		}
		c.Exports = append(c.Exports, Export{Subject: wire.QuerySubject(v), Service: true, To: []string{account(RoleViewer)}}, Export{Subject: wire.ModelSubject(v), Service: true, To: []string{account(RoleOperator)}})
	}
	for _, g := range a.Grants(role) {
		asked, ofAPI := strings.CutPrefix(g.Subject, "$JS.API.")
		if kind != "robot" { // as a client of JetStream asks in an account without stores
			c.Imports = append(c.Imports, Import{account(RoleOperator), g.Subject, true, api + "." + asked})
		}
		if !ofAPI || strings.HasPrefix(asked, "DIRECT.") { // the server answers all else of the API in each account, that it has no stores
			c.Imports = append(c.Imports, Import{account(RoleOperator), g.Subject, true, ""})
		}
	}
	if role == RoleViewer {
		for _, v := range a.Robots {
			for _, s := range seen(v) {
				c.Imports = append(c.Imports, Import{Account: account(RobotRole(v)), Subject: s})
			}
			c.Imports = append(c.Imports, Import{Account: account(RobotRole(v)), Subject: wire.QuerySubject(v), Service: true})
		}
	}
	return c
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
	line(0, "accounts {")
	for _, c := range a.Accounts() {
		line(1, "%s {", c.Name)
		if c.Stores {
			line(2, "jetstream: enabled")
		}
		line(2, "users: [")
		for _, u := range c.Users {
			permissions := ""
			if len(u.Publish) > 0 {
				permissions = fmt.Sprintf(", permissions: { publish: [%s], subscribe: [%s] }", quoted(u.Publish), quoted(u.Subscribe))
			}
			line(3, "{ nkey: %s%s }", a.Keys[u.Role], permissions)
		}
		line(2, "]")
		line(2, "exports: [")
		for _, e := range c.Exports {
			more := ""
			if e.Many {
				more = fmt.Sprintf(", response_type: stream, threshold: %q", ManyFor)
			}
			line(3, "{ %s: %q, accounts: [%s]%s }", kindOf(e.Service), e.Subject, strings.Join(e.To, ", "), more)
		}
		line(2, "]")
		line(2, "imports: [")
		for _, i := range c.Imports {
			local := ""
			if i.Local != "" {
				local = fmt.Sprintf(", to: %q", i.Local)
			}
			line(3, "{ %s: { account: %s, subject: %q }%s }", kindOf(i.Service), i.Account, i.Subject, local)
		}
		line(2, "]")
		line(1, "}")
	}
	line(0, "}")
	return b.String(), nil
}

func kindOf(service bool) string {
	if service {
		return "service"
	}
	return "stream"
}

func quoted(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, strconv.Quote(s))
	}
	return strings.Join(out, ", ")
}
