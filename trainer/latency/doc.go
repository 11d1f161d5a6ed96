// Package latency learns how long after a command each input acts: a dead time d, after which nothing has happened yet, and a
// first-order lag τ, with which the actuator then follows,
//
//	τ v̇(t) = u(t−d) − v(t).
//
// The states' derivatives are regressed on functions of the states and of the delayed inputs v. Both sides are averaged over
// short windows with weights w that vanish at their ends (the weak form of a differential equation: no measured value is
// differentiated; the windows are short, or longer where noise hides the inputs in short ones),
//
//	Σ w_i (x_{i+1} − x_i) = Σ w_i ∫ ( A φ(x) + Σ_j B_j ψ(x, v_j) ) dt + noise,
//
// in which v_j is integrated exactly between the samples, since the input is held from each to the next. A and B are linear
// (eliminated by projection); the dead times and lags maximise the likelihood of what remains, with a variance of its own for
// each state. The intervals come from the scores of blocks of the log (sandwich estimate): they are larger where errors last
// longer than a sample, and where the functions do not describe the robot. A dead time and a lag that do not describe how an input acts
// are not known, and where a second lag does so better, intervals reach to what it leaves of them (doubt).
package latency
