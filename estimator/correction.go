package estimator

// Correction is what a worker's answers are corrected by: what adaptation has learned of the robot of today. Predictions are
// made from Effective of a query, and then corrected; both are of the worker's goroutine.
type Correction interface {
	Effective(q *Query) *Query
	Correct(dst *Prediction, q *Query) bool
}

// effective returns the query that is predicted from.
func effective(q *Query, c Correction) *Query {
	if c == nil {
		return q
	}
	return c.Effective(q)
}
