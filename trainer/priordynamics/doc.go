// Package priordynamics fits the difference equation that a learned model starts from,
// and chooses its size by data that it was not fitted to.
//
// Least squares on single steps comes first. It is biased where sensors are
// noisy, because the noise of x0 is in the regressors, and it ignores that
// errors add up. So it is followed by shooting: the roll-outs themselves are fitted,
// by L-BFGS with adjoints written by hand, to
//
//	L = mean over nodes n and channels k of ½ log( mean_windows (x_n − y_n)² / hold² + ε )
//
// the profile likelihood of an error with its own variance at every node: free of
// units, and of the choice of which horizon matters.
//
// Where a log declares kinematics, these give their part of every step and the equation
// learns what they leave. Near the vertical, where measured angles jump, the attitude is
// not learned from.
package priordynamics
