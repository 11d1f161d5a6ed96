// Package live joins logs to running estimators over NATS: [Play] publishes a
// flight log as a robot would, at its own pace or another, [Record] writes the
// states that a robot publishes into a log, and [View] shows them and the predictions
// from them in Foxglove.
//
// A log that is played gets new timestamps: its first sample with the time at which it
// is sent, the others behind it as they were, divided by the speed. So an estimator
// finds states that are neither old nor ahead of the clock. At another speed than 1
// predictions are the same, as each is made from one state; only rates and ages are
// not those of the flight.
package live
