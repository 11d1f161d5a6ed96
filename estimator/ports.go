package estimator

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// portOf returns the register of a name; None if there is none.
func portOf(ports []program.Port, name string) program.Reg {
	if i := slices.IndexFunc(ports, func(p program.Port) bool { return p.Name == name }); i >= 0 {
		return ports[i].Reg
	}
	return program.None
}
