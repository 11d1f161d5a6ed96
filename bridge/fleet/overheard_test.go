package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The audit finds who hears, or says, what it may not on its own vehicle, and a robot in the account of another one.
func TestTheAuditFindsAListener(t *testing.T) {
	planner, robot := PlannerRole("drone-1"), RobotRole("drone-1")
	for name, c := range map[string]struct {
		role            string
		was, is         string // of the configuration
		action, through string
	}{
		"a planner that hears all": {planner, `subscribe: ["dgm.status.drone-1"`, `subscribe: [">"`, "subscribes to >", "hears " + wire.SwapSubject("drone-1")},
		"a planner that says all":  {planner, `publish: ["dgm.query.drone-1"]`, `publish: [">"]`, wire.StateSubject("drone-1"), account(robot) + " on " + wire.StateSubject("drone-1")},
		"a robot that hears another": {robot, `{ service: { account: OPERATOR, subject: "$JS.API.DIRECT.GET.OBJ_fleet-flown-drone-1" } }`,
			`{ stream: { account: ROBOT_drone-2, subject: "dgm.state.drone-2" } }`, "subscribes to ", "hears " + wire.StateSubject("drone-2")},
	} {
		r := securedBut(t, strings.NewReplacer(c.was, c.is, `{ stream: "dgm.state.drone-2", accounts: [`, `{ stream: "dgm.state.drone-2", accounts: [ROBOT_drone-1, `))
		audit, err := r.of.examine(t.Context(), r.connect, nil, 0, []string{c.role})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(audit.Through, func(f Through) bool {
			return f.Role == c.role && strings.HasPrefix(f.Action, c.action) && f.Target == c.through
		}) {
			t.Errorf("%s: %v got through", name, audit.Through)
		}
	}
}
