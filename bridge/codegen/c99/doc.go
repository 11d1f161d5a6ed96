// Package c99 writes the programs of a model as C99: one header, one source, for boards without an operating
// system.
//
// A program (package estimator/program) is lowered to a flat list of instructions, most of which are a call of a
// small C function with places of one static work area. Four steps make it:
//
//	lower.go      what has one column is evaluated once; columns that depend on no other column are
//	              evaluated width at a time, in one loop that holds all of their operations (a region)
//	order.go      the order within a region: what shrinks comes first, so that little is alive at a time
//	memory.go     liveness: from the first to the last touch a value has a place, which others use before and after
//	unit.go       constants, each stored once for all programs, and the C functions that are called
//
// Every operation has a file with its C functions and what it calls for its value and for its tangent. Tangents go
// forward beside the values, one direction at a time: most of them are the call that computes the value.
package c99
