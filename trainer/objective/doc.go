// Package objective evaluates the DGM objective and its gradient, by adjoints
// written by hand: one file per piece.
//
//	L = L_data + λ c W + ½ wd_S ‖smoother‖² + ½ wd_D ‖dynamics‖²
//	W = Σ_i Σ_k (dmean − f)² + (√dvar − sD)²        f, sD at the smoother's mean
//
// (Distributional Gradient Matching, section 3; W enters with a plus, because it
// is minimised.) Derivatives are by standardised time, in units of the output
// scale. λ c is Batch.Match.
//
// One objective serves both forms of the model. In the paper's form a row's
// origin is the mean of the data and its scale the standard deviation; in the
// windows form the origin is the window's measured start x0 and the scale the
// rms displacement:
//
//	x = Origin + Scale · mean
//
// so that the dynamics always reads a state, lifted and standardised.
package objective
