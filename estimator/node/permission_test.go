package node

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// permitted reads who may do what from the page of the messages, for vehicle v1
// and bucket models.
func permitted(t *testing.T) map[string]*server.Permissions {
	t.Helper()
	b, err := os.ReadFile("../wire/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "| | publishes | subscribes to |\n")
	if !ok {
		t.Fatal("the page has no table of permissions")
	}
	code := regexp.MustCompile("`([^`]+)`")
	subjects := func(cell string) (out []string) {
		for _, m := range code.FindAllStringSubmatch(cell, -1) {
			s := strings.NewReplacer("<vehicle>", "v1", "<bucket>", "models").Replace(m[1])
			if strings.Contains(s, ".") { // others are words of the server's configuration
				out = append(out, s)
			}
		}
		return out
	}
	all := map[string]*server.Permissions{}
	var last string
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		who := strings.TrimSpace(cells[1])
		if strings.HasPrefix(who, "-") {
			continue
		}
		if strings.HasPrefix(who, "…") { // what the one above needs for more
			all[who] = &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: append(subjects(cells[2]), all[last].Publish.Allow...)},
				Subscribe: &server.SubjectPermission{Allow: append(subjects(cells[3]), all[last].Subscribe.Allow...)},
			}
			continue
		}
		for name := range strings.SplitSeq(who, ", ") {
			p := &server.Permissions{Publish: &server.SubjectPermission{Allow: subjects(cells[2])}, Subscribe: &server.SubjectPermission{Allow: subjects(cells[3])}}
			for _, s := range []*server.SubjectPermission{p.Publish, p.Subscribe} {
				if len(s.Allow) == 0 {
					s.Deny = []string{">"}
				}
			}
			all[name], last = p, name
		}
	}
	return all
}

// secured starts a server on which everybody may do what they need by the page
// and nothing else.
func secured(t *testing.T, o *server.Options) (as func(name string, log *lines) *nats.Conn) {
	t.Helper()
	o.Host, o.Port = "127.0.0.1", server.RANDOM_PORT
	o.Users = append(o.Users, &server.User{Username: "root", Password: "pw"})
	for name, p := range permitted(t) {
		name = asUser(name)
		o.Users = append(o.Users, &server.User{Username: name, Password: "pw", Permissions: p})
	}
	s := start(t, o)
	return func(name string, log *lines) *nats.Conn {
		t.Helper()
		url := strings.Replace(s.ClientURL(), "nats://", "nats://"+asUser(name)+":pw@", 1)
		inbox, _, _ := strings.Cut(asUser(name), "_") // an estimator with a bucket is an estimator
		if inbox == "estimator" {
			inbox += ".v1"
		}
		return connectAs(t, Link{URL: url, Inbox: "_INBOX_" + inbox}, log)
	}
}

// asUser makes a name of the page one that can stand in a URL.
func asUser(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(name, "…", "estimator"), " ", "_"))
}

// With the permissions of the page, and no more, everybody can do what they are
// for, without a violation.
func TestThePermissionsOfThePageSuffice(t *testing.T) {
	as := secured(t, &server.Options{})
	var logged lines
	a := pendulum()
	n, stop := run(t, as("estimator", &logged), Config{}, a)
	planner := as("planner", &logged)
	predictions := listen(t, planner, wire.AllPredictions)
	for i, name := range []string{"robot", "simulator"} {
		nc := as(name, &logged)
		send(t, nc, uint64(i+1))
		if p := predictions.prediction(); p.Seq != uint64(i+1) {
			t.Errorf("answered seq %d", p.Seq)
		}
	}
	q := wire.Query{States: []float64{0.1, 0.2}}
	if _, refused := ask(t, planner, q.Append(nil)); refused != "" {
		t.Error(refused)
	}
	if err := n.Swap(otherPendulum(2)); err != nil {
		t.Fatal(err)
	}
	c := wire.Command{Action: wire.Rollback}
	if _, err := as("operator", &logged).Request(wire.ModelSubject("v1"), c.Append(nil), patience); err != nil || n.Model() != a.ID {
		t.Errorf("the operator: %v", err)
	}
	stop()
	if logged.has("ermissions") {
		t.Errorf("logged %q", logged.lines)
	}
}

func TestThePermissionsOfThePageSufficeForABucket(t *testing.T) {
	as := secured(t, &server.Options{JetStream: true, StoreDir: t.TempDir()})
	var logged lines
	var name string
	for who := range permitted(t) {
		if strings.HasPrefix(who, "…") {
			name = who
		}
	}
	n, _ := run(t, as(name, &logged), Config{Log: logged.add}, pendulum())
	_, bucket := modelBucket(t, as("root", nil))
	b := otherPendulum(2)
	if _, err := bucket.PutBytes("v1.dgm", signedFile(t, b, nil)); err != nil {
		t.Fatal(err)
	}
	watchBucket(t, n, as(name, &logged))
	eventually(t, "the model was taken", func() bool { return n.Model() == b.ID })
	if logged.has("ermissions") {
		t.Errorf("logged %q", logged.lines)
	}
}

// Nobody reads what another role is answered.
func TestInboxesOfOtherRolesAreClosed(t *testing.T) {
	as := secured(t, &server.Options{})
	a := pendulum()
	n, _ := run(t, as("estimator", nil), Config{}, a)
	for _, name := range []string{"robot", "estimator", "planner", "operator"} {
		for _, subject := range []string{"_INBOX.>", "_INBOX_planner.>", "_INBOX_operator.>", "_INBOX_estimator.>", "_INBOX_estimator.v2.>", ">"} {
			if subject == "_INBOX_"+name+".>" && name != "estimator" {
				continue
			}
			var refused lines
			nc := as(name, &refused)
			heard, err := nc.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, name+" may not subscribe to "+subject, func() bool { return refused.has("ermissions") })
			c := wire.Command{Action: wire.Rollback}
			if _, err := as("operator", nil).Request(wire.ModelSubject("v1"), c.Append(nil), patience); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			if count, _, _ := heard.Pending(); count != 0 {
				t.Errorf("%s heard %d messages on %s", name, count, subject)
			}
		}
	}
	if n.Model() != a.ID {
		t.Error("there was nothing to return to, and the model is another")
	}
}

// What nobody is permitted does not work, and an estimator that may not answer
// questions or commands still predicts.
func TestWhatIsNotPermitted(t *testing.T) {
	as := secured(t, &server.Options{Users: []*server.User{{Username: "bare", Password: "pw", Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"dgm.predict.v1", "dgm.status.v1"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"dgm.state.v1"}},
	}}}})
	var logged lines
	run(t, as("bare", &logged), Config{}, pendulum())
	robot, planner := as("robot", nil), as("planner", nil)
	predictions := listen(t, planner, wire.AllPredictions)
	eventually(t, "the violations are logged", func() bool { return logged.has("ermissions") })
	send(t, robot, 1)
	predictions.prediction()

	var refused lines
	spoofer := as("planner", &refused)
	send(t, spoofer, 2) // a planner is no robot
	eventually(t, "a planner may not send states", func() bool { return refused.has("ermissions") })
	send(t, robot, 3)
	if p := predictions.prediction(); p.Seq != 3 {
		t.Errorf("seq %d was answered", p.Seq)
	}
	c := wire.Command{Action: wire.Rollback}
	if _, err := spoofer.Request(wire.ModelSubject("v1"), c.Append(nil), patience/100); err == nil {
		t.Error("a planner rolled a model back")
	}
}
