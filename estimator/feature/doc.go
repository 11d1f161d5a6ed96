// Package feature evaluates the smoother's deep feature map: from time, start
// state and inputs to the prior mean mu and the features Phi of every channel,
// with their derivatives by time or along any other direction.
//
// Trainer and predictor call this one package, so the onboard runtime evaluates what was trained.
// Notation (the same in every formula of this module):
//
//	paper   code        meaning                                          shape
//	K       K           state channels
//	        P           input channels
//	N       N           rows (observations, support points, or points of a horizon)
//	φ       Z           smoother features of (t, x0, inputs), one head a channel   N×D
//	Φ       Phi, DPhi   random Fourier features and their derivative      N×F
//	μ       Mu, DMu     learned part of the prior mean                    N×K
//	        S, DS       the net's input rows                              N×I
//	        B, DB       the linear basis                                  N×Q
//
// One model, two settings. In the paper's form Gate is 1, the basis is empty and
// the knots are plain input values. In the windows form (derived in the
// trainer's package documentation) every output is gated by τ = t/H, so that a
// prediction starts at x0:
//
//	mu  = τ net(s)        phi = τ [e^a1 rff(z); e^a2 b]        b = [1, s, τ', τ's, …]
//
// Random Fourier features (Rahimi & Recht 2007) for the unit-variance RBF kernel:
//
//	rff(z) = √(2/F) [cos Ωz; sin Ωz]
package feature
