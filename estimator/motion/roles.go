package motion

import (
	"fmt"
	"slices"
)

// Role is what a state is in the textbook.
type Role struct {
	Name  string
	State int
	Scale float64 // textbook value (m, rad and their rates) for a unit of the state
	Turns bool    // an angle that means the same after a turn
}

// role returns the place of a role, −1 without it.
func (e *Equation) role(name string) int {
	return slices.IndexFunc(e.Roles, func(r Role) bool { return r.Name == name })
}

func (e *Equation) has(name string) bool { return e.role(name) >= 0 }

// numbered returns how many roles there are of a name with a number, such as "angle 1".
func (e *Equation) numbered(prefix string) (n int) {
	for e.has(fmt.Sprintf("%s %d", prefix, n+1)) {
		n++
	}
	return n
}
