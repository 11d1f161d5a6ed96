// Package judge compares predictions with the states that are measured later, from the
// messages of a vehicle alone.
//
// A state that is never answered is missing. A prediction that arrives after the
// vehicle's next state is overdue. Whether the computer had time is known from an echo: a
// process that returns every state at once and computes nothing. A second of the flight
// in which an echo took more than half of the time between two states, was lost, or in
// which a state itself arrived after its successor was due, is a busy one. Overdue
// predictions of busy seconds are reported; those of free seconds are the program's fault.
//
// The 95 % interval of a measurement, mean ± 1.96 obs_std, is compared with the
// measurement of its time; the share inside is the coverage, pooled over channels and by
// horizon.
//
// Memory is bounded: a flight may last for ever.
package judge
