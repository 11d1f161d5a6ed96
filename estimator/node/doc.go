// Package node is the process around the predictor: it takes the states of one
// vehicle from NATS, predicts from the newest, and publishes what package wire
// describes.
//
//	NATS ─▶ intake: decode, believe?, in time and order? ─▶ mailbox (one slot, newest wins)
//	                                                            │
//	NATS ◀─ status, once a second          NATS ◀─ answer: predict, still valid?, encode
//
// # What it promises
//
//   - Every state that comes is either answered or counted under one reason.
//   - A prediction leaves at once or never: nothing is queued for a link that is
//     down, and a state that came before the link was lost is not answered after it.
//   - Nothing that is not finite is sent, and nothing past its validity.
//   - Predictions come from states only: when the input is dead, so is the output,
//     and the status says so.
//   - Nothing is allocated for a message beyond what nats.go allocates itself.
//
// The intake runs on the goroutine of the NATS subscription and takes
// microseconds, so a bad message cannot displace a good one that waits, and a
// flood costs decoding but no predictions. Time comes from a [Clock]; with another
// one the node runs in any time.
package node
