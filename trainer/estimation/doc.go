// Package estimation finds states that nothing measures, and estimates them as the robot will.
//
// A position without a rate gets one: a channel of its own, which the causal filter of package filter estimates from the
// position. Its parameters, the noise of the sensor and the intensity of the process, maximise the likelihood of the
// innovations on the flights. Training, evaluation and the robot then start from what that filter made of the samples so
// far, and so are calibrated for it. Predictions are compared with what was measured.
package estimation
