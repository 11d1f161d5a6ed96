// Package wire owns the messages between robot, estimator and planner, and the
// subjects they travel on. PROTOCOL.md is the normative page; this package is
// its implementation in Go.
//
//	dgm.state.<vehicle>     robot     → estimator   [State]
//	dgm.predict.<vehicle>   estimator → planners    [Prediction]
//	dgm.status.<vehicle>    estimator → everybody   [Status], once a second
//	dgm.query.<vehicle>     planner   ⇄ estimator   [Query], [Answer]
//	dgm.model.<vehicle>     operator  ⇄ estimator   [Command], [Outcome]
//
// Messages are msgpack maps with string keys; vectors are bins of little-endian
// float64. Append writes a message behind what a buffer already holds, Decode
// reads one into the memory of the last: in steady state neither allocates.
// Every length is bounded before memory is taken, unknown fields are skipped,
// and what is wrong with a message is an [*Error] with the [Reason] that
// counters are kept by.
package wire

// Version is the version of the messages that this package writes and the only
// one it reads. Fields are added without a new version; a changed meaning needs
// one.
const Version = 1

// Limits on what is read. A message beyond them is a mistake or an attack.
const (
	MaxChannels = 256   // states, or inputs, of a vehicle
	MaxTimes    = 10000 // points of a horizon
	MaxPlan     = 10000 // rows of an input plan
	maxList     = 256   // elements of a list in a status
	maxTrust    = 4096  // numbers of one vector in a status
)
