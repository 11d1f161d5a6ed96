// Package motion fits equations of motion to flights: it proposes the kinds that the names and units of the states allow, and
// fits their parameters through roll-outs.
//
// The fit is Gauss and Newton's, with the damping of Levenberg and Marquardt, of the objective of package
// priordynamics: the mean over nodes n and channels k of ½ log(mean_windows (x_n − y_n)²/hold² + ε), whose gradient is
// that of squares weighed by their means. It begins with roll-outs of a few steps. An interval is a sandwich: H⁻¹ B H⁻¹
// with H the normal matrix and B the products of the gradients of blocks of windows, which what follows one another in
// a flight makes dependent.
package motion
