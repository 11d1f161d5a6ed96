// Package node is the process around the predictor: it receives the states of one
// vehicle from NATS, predicts from the newest, and publishes what package wire
// describes.
//
//	NATS ─▶ intake: decode, plausible, in time and order? ─▶ mailbox
//	                                                            │ each state, or each tick
//	NATS ◀─ predictions ── worker: task ─▶ prediction: one step ─▶ message ─▶ recording
//	NATS ◀─ status ─────── reporting: counters, latencies, peers, snapshot of the engine
//	NATS ⇄ queries, commands about the model ─▶ models: replaced between two predictions
//
// Each part owns its memory and runs on goroutines of its own: the intake on that of
// the NATS subscription, the worker on one, which holds a thread at a fixed rate.
//
// # Guarantees
//
//   - Every state that comes, and every tick that is due, gives a prediction or is
//     counted under one reason.
//   - A prediction leaves at once or never: nothing is queued for a link that is
//     down, and a state that came before the link was lost is not answered after it.
//   - Nothing that is not finite is sent, and nothing past its validity.
//   - Predictions come from states only: without input the output widens, is flagged
//     and then stops, and the status reports it.
//   - Where there is no time for the whole horizon a shorter one is sent, flagged;
//     never one that is late without the flag.
//   - Where a model reads history, every accepted state is part of it. What is missing is
//     flagged and never made up.
//   - What is learned in flight of a robot that has changed comes from states and the inputs
//     that were applied, after their predictions were published; never from plans.
//   - The same states at the same times give the same predictions, bit for bit:
//     [Replay] makes them again from a recording.
//   - Nothing is allocated for a message beyond what nats.go allocates itself.
//
// Time comes from a [Clock]; the prediction reads it through its task only. With
// another clock the node runs in any time, but for the ticks of a fixed rate, which
// are the computer's.
package node
