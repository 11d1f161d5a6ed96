// Package actuator is how a robot's inputs follow their commands: each after a dead time d, and then with a first-order lag τ,
//
//	τ v̇(t) = u(t−d) − v(t).
//
// Commands are held from one to the next, so that v and its means are exact: with w the output where a command begins to act,
// at b + d,
//
//	v(t) = u + (w − u) exp(−(t − d − b)/τ)      ∫ v dt from r to s = ∫ u(t−d) dt − τ (v(s) − v(r))
package actuator
