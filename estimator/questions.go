package estimator

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Rows are the rows of one field of questions: one for all questions, one for each, or none.
type Rows struct {
	Name    string
	X       []float64
	Size    int    // numbers of a row
	Content string // what a row consists of

	Channels []channel.Channel // (optional) of the numbers of a row, again and again
}

// QuestionError is why questions cannot be answered.
type QuestionError struct {
	Field     string // name of the rows that are to blame
	Text      string
	NotFinite bool // the answer is not; else a row does not fit
}

func (e *QuestionError) Error() string { return e.Field + ": " + e.Text }

// Row returns row i, or the only one; nil of an empty field.
func (v *Rows) Row(i int) []float64 {
	switch {
	case len(v.X) == 0:
		return nil
	case v.Same():
		return v.X
	}
	return v.X[i*v.Size : (i+1)*v.Size]
}

// Same reports whether all questions have the same row.
func (v *Rows) Same() bool { return len(v.X) <= v.Size }

func (v *Rows) wrong(format string, args ...any) error {
	return &QuestionError{Field: v.Name, Text: fmt.Sprintf(format, args...)}
}

// count returns how many rows there are.
func (v *Rows) count() (int, error) {
	switch {
	case len(v.X) == 0:
		return 0, nil
	case v.Size == 0:
		return 0, v.wrong("has %d numbers, and a row of the model's (%s) has none", len(v.X), v.Content)
	case len(v.X)%v.Size != 0:
		return 0, v.wrong("has %d numbers, which is no multiple of %d (%s)", len(v.X), v.Size, v.Content)
	}
	for i, x := range v.X {
		if !finite(x) {
			return 0, v.wrong("element %d%s is %v%s", i, v.name(i), x, v.remedy(i))
		}
	}
	return len(v.X) / v.Size, nil
}

// name returns that of the channel of element i, in brackets, where it is known.
func (v *Rows) name(i int) string {
	if len(v.Channels) == 0 {
		return ""
	}
	return " (" + v.Channels[i%len(v.Channels)].Name + ")"
}

// remedy returns what to do where element i is not finite.
func (v *Rows) remedy(i int) string {
	if len(v.Channels) == 0 || !v.Channels[i%len(v.Channels)].Estimated {
		return ""
	}
	return ": no sensor measures it; start from the estimate of the model's filter, after it has settled"
}

// covariances reports whether every row is symmetric and correlates no two of its n states by more than 1.
func (v *Rows) covariances(n int) bool {
	const rounding = 2e-4 // filters in float32 leave a few parts in 1e5
	for from := 0; from < len(v.X); from += n * n {
		P := v.X[from : from+n*n]
		for i := range n {
			for j := range i + 1 {
				most := math.Sqrt(max(0, P[i*n+i])) * math.Sqrt(max(0, P[j*n+j])) * (1 + rounding)
				if math.Abs(P[i*n+j]) > most || math.Abs(P[i*n+j]-P[j*n+i]) > rounding*most {
					return false
				}
			}
		}
	}
	return true
}

// CountQuestions returns the number N of questions to which rows belong. Each field has no row, one row or N
// rows; else the error is a *QuestionError.
func CountQuestions(rows ...*Rows) (n int, err error) {
	for _, v := range rows {
		own, err := v.count()
		if err != nil {
			return 0, err
		}
		if own > 1 && n > 1 && own != n {
			return 0, v.wrong("%d of them, and others are %d: give one, or as many", own, n)
		}
		n = max(n, own)
	}
	return n, nil
}

// Questions are many queries to one model. Each field of Query has one row for all questions or one for each.
type Questions struct {
	States, P0, U, Plans, History Rows
	PlanStep                      float64

	// (optional) What Predictions.StartGradient and PlanGradient are of, see Predictor.Adjoint: rows of
	// T×K numbers, which the caller sets Size to.
	MeanAdjoint, StdAdjoint Rows
}

// NewQuestions returns questions to a model, with the given numbers of rows of plans and histories. The caller
// sets X of the fields.
func NewQuestions(m *model.Model, planRows, historyRows int) Questions {
	return Questions{
		States:  Rows{Name: "states", Size: m.K, Content: "states", Channels: m.Channels[:m.K]},
		P0:      Rows{Name: "P0", Size: m.K * m.K, Content: "states × states"},
		U:       Rows{Name: "u", Size: m.P, Content: "inputs", Channels: m.Channels[m.K:]},
		Plans:   Rows{Name: "plans", Size: planRows * m.P, Content: "rows × inputs", Channels: m.Channels[m.K:]},
		History: Rows{Name: "history", Size: historyRows * (m.K + m.P), Content: "rows × (states + inputs)"},

		MeanAdjoint: Rows{Name: "mean_adjoint", Content: "times × states"}, StdAdjoint: Rows{Name: "std_adjoint", Content: "times × states"},
	}
}

// At returns question i.
func (q *Questions) At(i int) Query {
	return Query{X0: q.States.Row(i), P0: q.P0.Row(i), U: q.U.Row(i), Plan: q.Plans.Row(i), PlanStep: q.PlanStep, History: q.History.Row(i)}
}

// Count returns the number of questions, or an error if they do not fit the model.
func (q *Questions) Count(m *model.Model) (n int, err error) {
	n, err = CountQuestions(&q.States, &q.P0, &q.U, &q.Plans, &q.History, &q.MeanAdjoint, &q.StdAdjoint)
	row := m.K + m.P
	switch {
	case err != nil:
		return 0, err
	case len(q.States.X) == 0:
		return 0, q.States.wrong("is missing: one state, or one for each question")
	case len(q.P0.X) > 0 && !m.Displacement:
		return 0, q.P0.wrong("the model does not start its predictions at the state")
	case !q.P0.covariances(m.K):
		return 0, q.P0.wrong("is no covariance: not symmetric, or a variance is negative or less than its covariances need")
	case !(q.PlanStep >= 0) || math.IsInf(q.PlanStep, 1):
		return 0, &QuestionError{Field: "plan_step", Text: fmt.Sprintf("is %g s; it must be positive, or 0 for rows that divide the horizon", q.PlanStep)}
	case q.History.Size > m.History.Rows()*row:
		return 0, q.History.wrong("has %d numbers in each question, and the model reads %d rows of %d", q.History.Size, m.History.Rows(), row)
	}
	return n, nil
}

// Predictions are the answers to N questions. The caller provides the memory; a nil field is not written. If
// only Mean, OOD and NoHistory are not nil, no variance is computed, and OOD is that of Fast.Means. Sixteen
// questions are evaluated at once if neither derivatives nor covariances are requested, no covariance of the
// start is given, and there are at least sixteen questions and at least as many as a plan has rows. These
// answers differ from a Fast's by about 10⁻⁵ standard deviations.
type Predictions struct {
	Mean          []float64 // N×T×K
	Std, ObsStd   []float64 // N×T×K
	Jacobian      []float64 // N×T×K×K, see Prediction; the windows form alone has one
	InputJacobian []float64 // N×T×K×(rows·P), see Prediction
	Covariance    []float64 // N×T×K×K, see Prediction.Covariance
	StartGradient []float64 // N×K, of Questions.MeanAdjoint and StdAdjoint by the states, see Predictor.Adjoint
	PlanGradient  []float64 // N×(rows·P), the same by the plan, or by the input held
	Tube          []float64 // N×model.TubeLevels, see Prediction; not with the means alone
	OOD           []float64 // N
	Half50        []float64 // N, see Prediction; not with the means alone
	NoHistory     []bool    // N
}

// meansAlone reports whether nothing is asked for that needs variances.
func (d *Predictions) meansAlone() bool {
	return d.Std == nil && d.ObsStd == nil && d.Jacobian == nil && d.InputJacobian == nil && d.Half50 == nil && d.Covariance == nil && d.Tube == nil
}
