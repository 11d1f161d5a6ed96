// Package wire defines the messages between robot, estimator and planner, and their
// subjects. PROTOCOL.md is the normative page; this package implements it in Go.
//
//	dgm.state.<vehicle>     robot     → estimator   [State]
//	dgm.predict.<vehicle>   estimator → planners    [Prediction]
//	dgm.status.<vehicle>    estimator → everybody   [Status], once a second
//	dgm.query.<vehicle>     planner   ⇄ estimator   [Query], [Answer]
//	dgm.model.<vehicle>     operator  ⇄ estimator   [Command], [Outcome]
//
// Messages are msgpack maps with string keys; vectors are bins of little-endian
// float64. Append appends a message to a slice. Decode reuses the memory
// of the previous message. In steady state neither allocates. Every length is bounded before
// memory is allocated, and unknown fields are skipped. A refused message returns
// an [*Error] with the [Reason] under which it is counted.
package wire

// Version is the version of the messages that this package writes and the only one
// that it reads. Fields are added without a new version; a changed meaning needs one.
const Version = 1

// Limits of messages. A message beyond them is refused.
const (
	MaxChannels = 256   // states, or inputs, of a vehicle
	MaxTimes    = 10000 // points of a horizon
	MaxPlan     = 10000 // rows of an input plan
	maxList     = 256   // elements of a list in a status
	maxTrust    = 4096  // numbers of one vector in a status
)
