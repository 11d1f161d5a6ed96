// Package node is the process around the predictor: it takes the states of one
// vehicle from NATS, predicts from the newest, and publishes what package wire
// describes.
//
//	NATS ─▶ intake: decode, believe?, in time and order? ─▶ mailbox (one slot, newest wins)
//	                                                            │  each state, or each tick
//	NATS ◀─ predictions   link ◀─ engine: propagate, predict, widen, flag, encode ─▶ recorder
//	                                 ▲ what came ─▶ trust: coverage, alarm, factor
//	NATS ◀─ status, once a second    └ models: swapped between two predictions
//	NATS ⇄  questions, on goroutines of their own
//
// # What it promises
//
//   - Every state that comes, and every tick that is due, gives a prediction or is
//     counted under one reason.
//   - A prediction leaves at once or never: nothing is queued for a link that is
//     down, and a state that came before the link was lost is not answered after it.
//   - Nothing that is not finite is sent, and nothing past its validity.
//   - Predictions come from states only: when the input is dead, the output widens,
//     warns and then stops, and the status says so.
//   - Where there is no time for the whole horizon a shorter one is sent, flagged;
//     never one that is late as if it were not.
//   - The same states at the same times give the same predictions, bit for bit:
//     [Replay] makes them again from a recording.
//   - Nothing is allocated for a message beyond what nats.go allocates itself.
//
// The intake runs on the goroutine of the NATS subscription and takes
// microseconds, so a bad message cannot displace a good one that waits, and a
// flood costs decoding but no predictions. One goroutine, the worker, predicts;
// at a fixed rate it holds a thread. Time comes from a [Clock]; the engine reads
// none and is told. With another clock the node runs in any time, but for the
// ticks of a fixed rate, which are the computer's.
package node
