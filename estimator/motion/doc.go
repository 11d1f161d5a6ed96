// Package motion holds equations of motion: robots whose dynamics are known but for a few physical parameters, such as
// gains of motors, drag, and the wheelbase.
//
//	ẋ = f(x, u; θ)
//
// A kind of robot is a program that appends f, with the names and units of its parameters: see the files multirotor.go,
// fixedwing.go, planar.go and joints.go. Each f is linear in θ but for what coupled joints share. An Equation is a kind, the states that have its roles, and θ.
// A step is one of the method of Runge and Kutta of order 4, under a constant input; dry friction that holds joints at rest acts after it
// (stiction.go).
package motion
