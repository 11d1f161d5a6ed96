package modeltest

// Shapes returns shapes by name that have every part of a model between them.
func Shapes() map[string]Shape {
	return map[string]Shape{
		"windows":   {K: 4, P: 2, F: 10, Basis: 2, Members: 3, Refits: 2, Readouts: 2, ScaleFactor: true, Velocity: true},
		"no inputs": {K: 4, F: 8, Basis: 1, Members: 2, Prior: 2},
		"degree 3":  {K: 4, P: 1, F: 10, Basis: 2, Members: 1, Readouts: 2, Prior: 3, Nets: 2, Calibrated: true},
		"body":      {K: 12, P: 4, F: 10, Basis: 2, Members: 2, Readouts: 2, Prior: 2, Body: true, Nets: 2, Direct: true, History: 6, Range: true, Calibrated: true},
		"chain":     {K: 4, P: 1, F: 10, Basis: 1, Members: 1, Readouts: 2, Prior: 1, Chain: true, Nets: 1, ScaleFactor: true},
		"motion":    {K: 4, P: 2, F: 10, Basis: 1, Members: 2, Readouts: 2, Prior: 1, Motion: true, Direct: true, Calibrated: true},
		"dry":       {K: 4, P: 2, F: 10, Basis: 1, Members: 2, Readouts: 2, Prior: 1, Dry: true, Direct: true, Residual: true, Calibrated: true},
		"direct":    {K: 4, P: 2, F: 10, Basis: 2, Members: 1, Readouts: 2, Prior: 2, Direct: true, Calibrated: true, Range: true, Change: true},
		"history":   {K: 4, P: 2, F: 10, Basis: 2, Members: 2, Readouts: 2, Prior: 2, Direct: true, History: 6, Calibrated: true, Filtered: true},
		"bounded":   {K: 4, P: 2, F: 10, Basis: 2, Members: 1, Readouts: 2, Prior: 2, Direct: true, Bounded: true, History: 6, Calibrated: true},
		"late":      {K: 4, P: 2, F: 10, Basis: 2, Members: 2, Readouts: 2, Prior: 2, Nets: 2, Direct: true, History: 6, Calibrated: true, Late: true},
		"at once":   {K: 3, P: 2, F: 10, Basis: 1, Members: 1, Readouts: 2, Prior: 1, ScaleFactor: true, Late: true},
		"exact":     {K: 4, P: 1, Exact: 12, Basis: 2, Readouts: 2, Prior: 1, ScaleFactor: true},
		"paper":     {K: 4, F: 10, Members: 2, Paper: true},
		"paper, u":  {K: 3, P: 2, Exact: 8, Paper: true, ScaleFactor: true},
	}
}
