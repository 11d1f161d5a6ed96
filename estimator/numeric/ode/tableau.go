package ode

// Coefficients of the pair of order 5(4) with seven stages, of which the last
// is the first of the next step (FSAL): Dormand & Prince, "A family of embedded
// Runge-Kutta formulae", J. Comp. Appl. Math. 6 (1980), table 2.
var (
	nodes = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}

	// stages[i][j] is a_ij; its last row is the solution of order 5.
	stages = [7][6]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}

	// defect is the solution of order 5 minus that of order 4.
	defect = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}

	// dense holds the stage weights of the last coefficient of the
	// interpolant of order 4: Hairer, Nørsett & Wanner, "Solving Ordinary
	// Differential Equations I", 2nd ed., section II.6.
	dense = [7]float64{
		-12715105075. / 11282082432, 0, 87487479700. / 32700410799, -10690763975. / 1880347072,
		701980252875. / 199316789632, -1453857185. / 822651844, 69997945. / 29380423,
	}
)
