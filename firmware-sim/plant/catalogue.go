package plant

import "slices"

// All returns every plant, in the order of dgm-sim list.
func All() []Plant {
	return []Plant{
		QuadrotorFlown(), PlanarQuadrotor(), Pendulum(), Cartpole(),
		LotkaVolterra(), Lorenz(), DoublePendulum(), Quadrotor(),
	}
}

// Named returns the plant of that name. The flown quadrotor was called quadrotor-flown, too.
func Named(name string) (Plant, bool) {
	if name == "quadrotor-flown" {
		name = "quadrotor"
	}
	all := All()
	if i := slices.IndexFunc(all, func(p Plant) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return Plant{}, false
}

// Names returns the names of all plants in the order of All.
func Names() []string {
	var out []string
	for _, p := range All() {
		out = append(out, p.Name)
	}
	return out
}
