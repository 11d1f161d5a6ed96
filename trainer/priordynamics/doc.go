// Package priordynamics fits the difference equation that a learned model starts from
// (package rollout), and chooses its size by data that it was not fitted to.
//
// Least squares on single steps comes first. It is biased where sensors are
// noisy, because the noise of x0 is in the regressors, and it is blind to errors
// that add up. So it is followed by shooting: the roll-outs themselves are fitted,
// by L-BFGS with adjoints written by hand, to
//
//	L = mean over nodes n and channels k of ½ log( mean_windows (x_n − y_n)² / hold² + ε )
//
// the profile likelihood of an error with its own variance at every node: free of
// units, and of the choice of which horizon matters. Measured with this objective
// against single steps, RMSE over hold-last (geometric mean, unseen data): torque
// driven pendulum 0.350 → 0.266, double pendulum 0.046 → 0.035, single pendulum
// 0.0040 → 0.0037, small quadrotor 0.319 → 0.315.
//
// Where a log declares kinematics, the laws say their part of every step and the
// equation learns what they leave (rollout.Body). Measured with them against without,
// in the same figure, unseen flights, half a second, equations of degree 1: a
// Crazyflie 0.311 → 0.307 (its yaw after 50 ms 0.43 → 0.23, the rest within 2 %, yaw
// after 0.5 s 0.82 → 0.87), the trained model 0.295 → 0.289 at equal coverage (yaw
// after 50 ms 0.42 → 0.23, after 0.5 s 0.49 → 0.47; one member); a simulated quadrotor whose velocity is in its own axes,
// three seeds, calm 0.266 → 0.242, in wind 0.311 → 0.283 (yaw after 0.5 s 1.04 → 0.50-0.63).
// Where it flies loops, degree 2: 0.267 → 0.140, its position after 0.5 s 1.08 → 0.07.
//
// There the correction of the attitude is learned from level flight (below 70° of
// pitch) alone: learned from the angles' jumps at the vertical it turns the attitude
// by 0.8 rad in half a second instead of 0.09. Reading the attitude as the nine
// entries of its rotation matrix instead of sines and cosines gained nothing (degree 1
// within 2 %, degree 2 in wind 0.325 → 0.348), nor did, once that was so, the direction
// of gravity alone (0.1256 → 0.1258 on loops; at degree 2 calm 0.221 → 0.214, tumbling
// 0.050 → 0.049; in wind its best is 1.3 % better than the best of sines and cosines).
package priordynamics
