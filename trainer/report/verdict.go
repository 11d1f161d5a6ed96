package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// Level is whether a model is fit for use.
type Level string

// The levels. They are in the JSON of reports and evaluations.
const (
	Use  Level = "use"
	Care Level = "care"
	No   Level = "no"
)

// severity orders the levels.
var severity = map[Level]int{Use: 0, Care: 1, No: 2}

// Label returns the level as the first words of a verdict.
func (l Level) Label() string {
	return map[Level]string{Use: "USE", Care: "USE WITH CARE", No: "DO NOT USE"}[l]
}

// Verdict is whether a model is fit for use, the reason in one sentence, what to do next, and
// the other sentences about its held-out scores.
type Verdict struct {
	Level   Level    `json:"verdict"`
	Limits  []string `json:"limits"` // of the model, whatever its scores: partial, quick preset, no inputs
	Reason  string   `json:"reason"`
	Next    string   `json:"next"`
	Details []string `json:"details"`
}

// Line returns the verdict in one line.
func (v *Verdict) Line() string {
	if v.Level == "" {
		return ""
	}
	return v.Label() + ": " + v.Reason + " Next: " + v.Next
}

// Label returns the level and, in brackets, the limits.
func (v *Verdict) Label() string {
	if len(v.Limits) == 0 {
		return v.Level.Label()
	}
	return v.Level.Label() + " (" + strings.Join(v.Limits, ", ") + ")"
}

// Text returns the verdict and its details in two lines.
func (v *Verdict) Text() string {
	return strings.TrimSuffix(v.Line()+"\n"+strings.Join(v.Details, " "), "\n")
}

// The thresholds of a verdict, all of them. docs/report.md has the same table.
const (
	// Share of the squared error that is the noise of sensors: above noisy errors are compared without it.
	noisy = 0.5
	// RMSE over that of the best baseline, geometric mean over channels and horizons: up to
	// beats for USE, above loses DO NOT USE.
	beats, loses = 0.9, 1.1
	// The same of one channel at one horizon: above farBehind USE WITH CARE.
	farBehind = 1.5
	// Coverage of the 95 % intervals at one horizon, mean over channels: outside of
	// meanNarrow … meanWide USE WITH CARE, below meanFails DO NOT USE.
	meanFails, meanNarrow, meanWide = 0.7, 0.88, 0.985
	// Coverage of one channel at one horizon: below cellNarrow USE WITH CARE, below cellFails
	// DO NOT USE.
	cellFails, cellNarrow = 0.5, 0.8
	// Coverage of the 50 % intervals at one horizon, mean over channels: outside USE WITH CARE.
	centreNarrow, centreWide = 0.35, 0.65
	// Share of channels and horizons outside of meanNarrow … meanWide: above mostCells USE
	// WITH CARE.
	mostCells = 0.25
	// A coverage counts as off only where calibrated intervals would have it, or one further
	// off, with less than this probability, over all channels and horizons that are looked at.
	chance = 0.02
	// Windows that do not overlap: with fewer USE WITH CARE.
	fewWindows = 5
	// Whole flights that calibrate: with fewer USE WITH CARE.
	fewFlights = 4
	// Share of predictions flagged OOD: mentioned from manyFlagged on, from mostFlagged on USE
	// WITH CARE.
	manyFlagged, mostFlagged = 0.1, 0.5
	// Coverage where the last input is held, mean over channels: below holdNarrow USE WITH CARE;
	// so is an RMSE above loses times that of the best baseline with the last input held.
	holdNarrow = 0.85
)

// aspect is one sentence about the scores, and what it means for the verdict.
type aspect struct {
	level    Level
	sentence string
	next     string // what to do, where the level is not Use
	data     bool   // the data may be the cause, as they are if values are not what they are taken for
}

// Judge returns the verdict of a table; hold is that without a plan (nil without inputs, and
// where t is), facts what is known of the training: what they name is to be mended before more is recorded.
func Judge(t, hold *evaluate.Table, facts Facts) Verdict {
	if t == nil {
		return Verdict{
			Level: No, Limits: facts.limits(), Reason: "No data were held out: the error on new flights is unknown.",
			Next: "Evaluate it with dgm-eval on a flight that it was not trained on.",
		}
	}
	partial := facts.Partial
	compared, covered := comparison(t), coverageAspect(t, partial)
	all := []aspect{
		trainedOn(t), partialAspect(partial), compared, behind(t, facts.Found), covered, centreAspect(t), supported(t, partial), calibrated(t), withoutPlan(t, hold),
		angles(t), windows(t), flights(t), flagged(t),
	}
	if t.TooShort != nil {
		all = append(all, aspect{level: Use, sentence: t.TooShort.String()})
	}
	if t.Networks != nil {
		all = append(all, aspect{level: Use, sentence: t.Networks.Brief()})
	}
	if t.Adapted != nil {
		all = append(all, aspect{level: Use, sentence: t.Adapted.Brief()})
	}
	worst := slices.MaxFunc(all, func(a, b aspect) int { return cmp.Compare(severity[a.level], severity[b.level]) })
	v := Verdict{Level: worst.level, Limits: facts.limits(), Reason: worst.sentence, Next: worst.next}
	if v.Level == Use {
		low, high := t.CoverageRange()
		v.Reason = fmt.Sprintf("%s, and 95 %% intervals covered %s of the %s.", strings.TrimSuffix(compared.sentence, "."), evaluate.Percent(low, high), measured(t))
		v.Next = "Evaluate it with dgm-eval on the next flight, and run it with dgm-estimator."
		worst = compared
	}
	causes := facts.causes(t)
	if first := mend(facts.Found); worst.data && v.Level != Use && first != "" {
		v.Next = first
	} else if v.Next == moreData && len(causes) > 0 {
		v.Next = causes[0].next
	}
	all = append(all, causes...)
	for _, a := range all {
		if a.sentence != "" && a != worst && !(v.Level == Use && a == covered) {
			v.Details = append(v.Details, a.sentence)
		}
	}
	return v
}

func partialAspect(partial string) aspect {
	if partial == "" {
		return aspect{level: Use}
	}
	return aspect{Care, "The training ended early: " + partial + ".", "Train again with a larger budget, or on an otherwise idle machine.", false}
}

var baselinePhrase = map[string]string{
	evaluate.HoldName: "holding the last value", evaluate.VelocityName: "constant velocity",
	evaluate.LinearName: "the linear model", evaluate.RidgeName: "the ridge regression",
}

const moreData = "Record more and more varied flights, four or more, in which every input and state moves."

func comparison(t *evaluate.Table) aspect {
	name, ratio := t.Geo.Best()
	measured, noise := ratio, t.NoiseShare()
	if noise > noisy {
		name, ratio = t.GeoState.Best()
	}
	a := aspect{level: Use, data: true}
	rank := "is better than"
	switch {
	case ratio > loses && measured > loses:
		a.level, a.next, rank = No, moreData, "is worse than"
	case ratio > beats:
		a.level, a.next, rank = Care, moreData, "is not clearly better than"
	}
	a.sentence = fmt.Sprintf("The model %s the best baseline, %s: %s.", rank, baselinePhrase[name], evaluate.RelativeRMSE(ratio))
	if noise > noisy {
		a.sentence = fmt.Sprintf("The model %s the best baseline, %s: without the noise of the sensors, which is %s of its squared error, %s.",
			rank, baselinePhrase[name], evaluate.Percent(noise, noise), evaluate.RelativeRMSE(ratio))
	}
	return a
}

// behind names the channels on which the model is worse than the best baseline.
func behind(t *evaluate.Table, found []datacheck.Problem) aspect {
	const most = 3
	a := aspect{level: Use, data: true}
	var worse []string
	more := 0
	for _, r := range t.WorstRatios() {
		switch {
		case r.Ratio <= loses:
		case len(worse) == most:
			more++
		default:
			worse = append(worse, fmt.Sprintf("%s (after %s: %s than %s)", r.Channel, evaluate.Seconds(r.T), evaluate.RelativeRMSE(r.Ratio), baselinePhrase[r.Baseline]))
		}
		if r.Ratio > farBehind {
			a.level, a.next = Care, "Do not rely on these channels: there a simple predictor is better."
			if slices.ContainsFunc(found, func(p datacheck.Problem) bool { return p.Channel == r.Channel }) {
				a.next += " See the findings of the data check for them."
			}
		}
	}
	if more > 0 {
		worse = append(worse, fmt.Sprintf("%d more", more))
	}
	if len(worse) > 0 {
		a.sentence = "The model is worse than the best baseline on " + strings.Join(worse, ", ") + "."
	}
	return a
}

// supported judges up to which horizon predictions are better than the last value and their
// intervals not far too narrow.
func supported(t *evaluate.Table, partial string) aspect {
	s, last, tests := 0.0, t.Horizons[len(t.Horizons)-1].T, float64(len(t.Horizons))
	for _, h := range t.Horizons {
		log := 0.0
		for _, c := range h.Channels {
			if c.Hold > 0 && c.RMSE > 0 {
				log += math.Log(c.RMSE / c.Hold)
			}
		}
		if log > 0 || h.Coverage95 < meanFails && off(h.Coverage95, nominal, h.Independent, tests) {
			break
		}
		s = h.T
	}
	if s == last {
		return aspect{level: Use}
	}
	what := "The data support"
	if partial != "" { // the cause may be the time, not the data
		what = "The unfinished training supports"
	}
	if s == 0 {
		return aspect{No, what + " no horizon: no prediction is better than holding the last value with calibrated intervals.", moreData, true}
	}
	return aspect{Care, fmt.Sprintf("%s a horizon of %s, not more.", what, evaluate.Seconds(s)), fmt.Sprintf("Train again with --horizon %gs, or record more flights.", s), true}
}

func calibrated(t *evaluate.Table) aspect {
	c := t.Calibrated
	if c == nil || c.Better() {
		return aspect{level: Use}
	}
	return aspect{Care, fmt.Sprintf("A linear model with calibrated intervals predicts distributions as well: log likelihood %.2f against the model's %.2f, CRPS ratio %.2f.", c.LinearLogLik, c.LogLik, c.CRPS), moreData, true}
}

// withoutPlan judges predictions for which the last input is held. Their best baseline has the
// last input held, too.
func withoutPlan(t, hold *evaluate.Table) aspect {
	if hold == nil {
		return aspect{level: Use}
	}
	low, high := hold.CoverageRange()
	name, ratio := hold.Geo.Best()
	a := aspect{level: Use, sentence: fmt.Sprintf("Without a plan, with the last input held: %s with the plan, %s the best baseline, %s, and 95 %% intervals covered %s.",
		than(hold.Geo.Model/t.Geo.Model), than(ratio), baselinePhrase[name], evaluate.Percent(low, high))}
	switch {
	case ratio > loses:
		a.level, a.next = Care, fmt.Sprintf("Send a plan with every state; without plans use %s.", baselinePhrase[name])
		a.sentence = strings.Replace(a.sentence, "Without a plan", "Use it only with a plan: without one", 1)
	case low < holdNarrow:
		a.level, a.next = Care, "Send a plan with every state."
	}
	return a
}

// than phrases a ratio of two RMSEs before what it is compared with: "66 % lower RMSE than".
func than(ratio float64) string {
	text := evaluate.RelativeRMSE(ratio)
	if text == evaluate.RelativeRMSE(1) {
		return text + " as"
	}
	return text + " than"
}

// trainedOn judges scores of data that the model was trained on.
func trainedOn(t *evaluate.Table) aspect {
	if len(t.Trained) == 0 {
		return aspect{level: Use}
	}
	const most = 3
	names := t.Trained
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(t.Trained)-most))
	}
	these := "these data"
	if t.Origin() == evaluate.PartlyTrainedOn {
		these = fmt.Sprintf("%d of the %d segments of these data", len(t.Trained), t.Segments)
	}
	return aspect{
		Care, "The model was trained on " + these + ": the scores are those of the training, not of a new flight (" + strings.Join(names, ", ") + ").",
		"Evaluate it on a flight that it was not trained on.", false,
	}
}

// angles judges states that were learned as if another turn were another state.
func angles(t *evaluate.Table) aspect {
	if len(t.Angles) == 0 {
		return aspect{level: Use}
	}
	return aspect{
		Care, "States that look like angles were learned without a period: " + strings.Join(t.Angles, ", ") + ".",
		"Add the period that the data check names to the map, import the logs again and train.", false,
	}
}

// windows judges whether there is enough to score.
func windows(t *evaluate.Table) aspect {
	n := t.Horizons[len(t.Horizons)-1].Independent
	if n >= fewWindows {
		return aspect{level: Use}
	}
	return aspect{Care, fmt.Sprintf("Only about %.0f windows of the horizon do not overlap: the scores are uncertain.", n), "Evaluate it with dgm-eval on a longer flight.", false}
}

// flights judges whether another flight may be covered.
func flights(t *evaluate.Table) aspect {
	a, n := aspect{level: Use, data: true}, t.CalibrationFlights
	switch {
	case t.WholeFlights != nil && !*t.WholeFlights:
		a.sentence = "No whole flight was held out: errors and coverage on another flight are not known."
	case n != nil && *n == 0:
		a.sentence = "No whole flight was held out for calibration: another flight may not be covered."
	case n != nil && *n < fewFlights:
		a.sentence = fmt.Sprintf("The intervals were calibrated on only %d whole flights: another flight may not be covered.", *n)
	case n != nil:
		a.sentence = fmt.Sprintf("The calibration saw %d whole flights.", *n)
		return a
	default:
		return a
	}
	if t.WholeFlights != nil { // else these are another flight
		a.level, a.next = Care, "Record six flights or more, each in a log, a segment or an array of its own, and train on all of them: some are held out, and four are left for calibration."
	}
	return a
}

const unlike = "Train on flights like these, too."

// flagged judges the share of predictions that were flagged OOD.
func flagged(t *evaluate.Table) aspect {
	s := t.FlaggedOOD()
	if s < manyFlagged {
		return aspect{level: Use}
	}
	a := aspect{level: Use, data: true, sentence: fmt.Sprintf("%s of the predictions were flagged OOD; do not plan on flagged predictions.", evaluate.Percent(s, s))}
	if s >= mostFlagged {
		a.level, a.next = Care, unlike
	}
	return a
}
