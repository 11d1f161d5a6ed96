// Package paper trains the model in the form of "Distributional Gradient Matching
// for Learning Uncertain Neural Dynamics Models" (Treven et al., 2021):
// trajectories from known initial conditions, no gate, no inputs, one constant noise
// level per channel. It predicts with the paper's smoother: mean and variance of the
// state in closed form from (t, x0); nothing is integrated.
//
// The package knows no plant: data and, optionally, a known vector field come from the
// caller. Nothing here reads the true states.
//
// # The recipe
//
// Learn follows one recipe for one trajectory and for many:
//
//  1. Members: the paper's training (fit.go), short, from three seeds, each on at most
//     2,000 observations. Noise starts at 0.13 standardised; matching and weight decay
//     of the dynamics rise from a fifth to half of the steps. The initial conditions are
//     observations at time 0. A collapsed fit is repeated (collapse.go).
//  2. Flows: the mean of every member's dynamics is refined so that its solutions
//     from the initial conditions pass through the data (shoot.go, newton.go,
//     tangent.go): Gauss-Newton on sensitivities, alternating with MacKay's updates of the
//     precision of the weights, by groups, and of the noise, by channel (evidence.go). Two
//     of three flows are a polynomial of degree two plus a net of one hidden layer
//     (polynomial.go) with a precision per term, so that terms without evidence are
//     removed: one of raw states, one of centred states. The third is the first
//     polynomial alone. With too few data to choose terms, or too many terms, there are
//     two dense polynomials without a net, of degree two and one, with one precision per
//     degree and output. Laplace's approximation gives the posterior of the weights and the
//     evidence, by which flows are kept; those are averaged.
//  3. Variance inflation, by refits on simulated data where terms were chosen
//     (bootstrap.go), by refits without a group of the trajectories where they were not and
//     there are enough (jackknife.go).
//  4. The smoother (distil.go): a net is trained on mean and standard deviation of the
//     flows' solutions from thousands of initial conditions in the box of the data's, by
//     SOAP, without noise. 100 random features of its last layer fit the residual of the
//     mean; their weights get the covariance, in the form MᵀM, that makes the flows'
//     solutions likely at initial conditions held out of the regression. Prediction has
//     the form and the cost of the paper's smoother; its residual error is part of its
//     variance. Where no flow can be integrated, the teachers are the members.
//
// # Beside the recipe
//
//   - A field that is known except for its parameters (known.go) in place of the
//     members' dynamics. Its first parameters fit the derivatives of a member's
//     smoother best (match_derivatives.go).
//   - The exact kernel (exact.go).
//
// Experiments and their figures are in docs/notes/paper.md, results in docs/paper.md.
package paper
