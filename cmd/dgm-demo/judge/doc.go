// Package judge holds predictions against what then really happened, as anybody
// could who listens to a vehicle's states and predictions: it knows nothing but
// the messages.
//
// A state that is never answered is missing. A prediction that comes after the
// vehicle's next state is late. A state that itself comes after its successor was
// due, because its robot or this computer got stuck, may go unanswered for the
// sake of the newer one; that counts as late as well. An interval of 95 % for a measurement, mean ±
// 1.96 obs_std, is held against the measurement that came at its time; the share
// that lay inside is the coverage, pooled over channels and by time ahead.
//
// Memory is bounded: a flight may last for ever.
package judge
