// Package onnx writes the programs of a model as ONNX models, in single precision, for runtimes of that format.
//
// Each condition is a model of its own, dgm_model_<condition>.onnx: one model of all would hold the constants of all
// and choose at run time. A leading axis is a batch: of one, or of as many as the others have.
//
//	input     shape            meaning
//	x         batch × K        state at the start
//	history   batch × n × K+P  rows before it, the newest first: states as they are, then inputs
//	plan      batch × N × P    in plan…: rows that divide the horizon
//	u         batch × P        in hold…: the input that is held
//	output
//	mean      batch × T × K
//	std       batch × T × K    of the state
//	obs_std   batch × T × K    of a measurement of it
//	ood       batch            out-of-distribution score: above 1 do not plan on it
//
// A model without inputs has neither plan nor u. A register of a program is a tensor batch × rows × columns, where
// the batch, and the columns of an operand, may be one. A roll-out is a Scan along the columns; a repetition of which only the
// last state counts is a Loop, which ends where no element of the batch has steps to do.
//
// What other tools show of a model is in its metadata: vehicle, horizon, times, names and units.
package onnx
