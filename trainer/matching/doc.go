// Package matching trains a smoother and its dynamics by gradient matching (Treven et al.,
// 2021, section 3): it draws the parameters, descends the objective while the weight of the
// matching rises, and undoes steps that fail numerically. Windows of flights and the paper's
// whole trajectories are two configurations of it: they differ in their rows, in what is
// drawn for a step, and in the schedule.
package matching
