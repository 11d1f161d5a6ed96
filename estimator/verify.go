package estimator

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// References are models that between them have every part of the format, each with the
// answers to its probes at referenceTimes, little-endian float64.
//
//go:embed reference
var referenceFiles embed.FS

// ReferenceNames are the references.
var ReferenceNames = [...]string{"windows", "stack", "past", "residual", "late", "body", "paper", "exact"}

// referencePoints is how many times a reference is predicted at: more than two blocks of a
// Fast, the last of them not full.
const referencePoints = 35

// VerifyBuild predicts the reference models with a Predictor and a Fast and returns an error
// unless they answer as when they were made: with and without plan, history and covariance
// of the start, with scores, derivatives by time, start and plan, gradients, correlations and
// tubes; it draws trajectories, and predicts sixteen plans at once. It finds a program that was built wrongly, or a
// processor that calculates wrongly, where a model's own self-checks do not reach.
func VerifyBuild() error { return verifyBuildOn(simd.Best()) }

func verifyBuildOn(unit simd.Unit) error {
	var errs [len(ReferenceNames)]error
	var all sync.WaitGroup
	for i, name := range ReferenceNames {
		all.Go(func() {
			if err := verifyReference(name, unit); err != nil {
				errs[i] = fmt.Errorf("reference %s: %w: this program, or the processor, does not calculate as it should; install it again", name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs[:]...)
}

func verifyReference(name string, unit simd.Unit) error {
	m, err := ReferenceModel(name)
	if err != nil {
		return err
	}
	b, err := referenceFiles.ReadFile("reference/" + name + ".answers")
	if err != nil {
		return err
	}
	want := make([]float64, len(b)/8)
	if _, err := binary.Decode(b, binary.LittleEndian, want); err != nil {
		return err
	}
	times := referenceTimes(m)
	var some []int
	for i := plainEvery - 1; i < len(times); i += plainEvery {
		some = append(some, i)
	}
	draws, err := answersAs(build(m, at(times, some)), m, want, plainTolerances, some)
	if err == nil {
		err = drawsAs(build(m, drawnTimes(m)), draws)
	}
	if err != nil {
		return fmt.Errorf("plain predictor: %w", err)
	}
	if c := compile(m, unit); c != nil {
		f := newFast(build(m, times), c)
		_, err := answersAs(f, m, want, fastTolerances, nil)
		if err == nil {
			err = plansAs(f, m)
		}
		if err != nil {
			return fmt.Errorf("fast predictor on %v: %w", c.unit, err)
		}
	}
	return nil
}

// plansAs compares the means of sixteen plans from one start, which a Batch evaluates at once,
// with those of a Fast that was compared before.
func plansAs(f *Fast, m *model.Model) error {
	if m.P == 0 {
		return nil
	}
	b, err := newBatch(f, 1)
	if err != nil {
		return err
	}
	one := f.NewPrediction()
	size, inputs := len(one.Mean), m.Inputs.InputMean
	for i, q := range probes(m)[:2] {
		all := NewQuestions(m, len(q.Plan)/m.P, len(q.History)/(m.K+m.P))
		all.States.X, all.History.X, all.U.X, all.PlanStep = q.X0, q.History, q.U, q.PlanStep
		for n := range simd.Width {
			for j, u := range q.Plan {
				mean := inputs[j%m.P]
				all.Plans.X = append(all.Plans.X, mean+(u-mean)*float64(n)/simd.Width)
			}
		}
		if len(q.Plan) == 0 {
			continue
		}
		d := &Predictions{Mean: make([]float64, simd.Width*size)}
		if err := b.Predict(d, &all); err != nil {
			return err
		}
		for n := range simd.Width {
			query := all.At(n)
			if !f.Predict(one, &query) {
				return fmt.Errorf("the answer to plan %d of probe %d is not finite", n, i)
			}
			for j, mean := range one.Mean {
				if got := d.Mean[n*size+j]; !(math.Abs(got-mean) <= fastTolerance*one.ObsStd[j]) {
					return fmt.Errorf("mean %d of plan %d of probe %d is %g among sixteen plans and %g alone", j, n, i, got, mean)
				}
			}
		}
	}
	return nil
}

// ReferenceModel returns one of ReferenceNames.
func ReferenceModel(name string) (*model.Model, error) {
	file, err := referenceFiles.ReadFile("reference/" + name + ".dgm")
	if err != nil {
		return nil, err
	}
	return model.Decode(file)
}

// referenceTimes are in no order, the last of them at the end of the horizon.
func referenceTimes(m *model.Model) []float64 {
	times := make([]float64, referencePoints)
	for i := range times {
		times[i] = m.Horizon * float64((i+1)*8%referencePoints) / referencePoints
	}
	times[referencePoints-1] = m.Horizon
	return times
}

// drawnTimes are a few, ascending.
func drawnTimes(m *model.Model) []float64 {
	times := referenceTimes(m)[referencePoints-7:]
	slices.Sort(times)
	return times
}

// drawsAs compares what only a Predictor is asked for of a reference with what is wanted.
func drawsAs(p *Predictor, want []float64) error {
	all, err := draws(p)
	for _, of := range all {
		if err == nil {
			want, err = of.as(want, plainTolerance, nil)
		}
	}
	if err == nil && len(want) > 0 {
		err = fmt.Errorf("%d answers too many", len(want))
	}
	return err
}

// draws returns weighted sums of trajectories, the probabilities of a half-space and a box
// about the middle of the horizon, and gradients with those of the deviations: of probes with
// covariance of the start and without.
func draws(p *Predictor) (out []group, err error) {
	const trajectories = 8
	K, T := p.m.K, len(p.times)
	d, s, drawn := p.NewPrediction(), newTrajectories(p), make([]float64, T*K)
	for i, q := range probes(p.m)[:2] {
		n := float64(i)
		normal := func() float64 { n += 1.7; return 1.5 * math.Sin(n*n) }
		if !p.Predict(d, &q) || !s.Start(d, &q) {
			return nil, errors.New("trajectories are not finite")
		}
		for range trajectories {
			s.Draw(drawn, normal)
			out = append(out, group{name: "trajectories", numbers: sums(drawn, T)})
		}
		l := Limits{HalfSpaces: make([]float64, K+1), Boxes: make([]float64, 2*K)}
		for k := range K {
			j := T/2*K + k
			l.HalfSpaces[k] = weightOf(k) / d.Std[j]
			l.HalfSpaces[K] += l.HalfSpaces[k] * (d.Mean[j] + 0.5*d.Std[j])
			l.Boxes[k], l.Boxes[K+k] = d.Mean[j]-2*d.Std[j], d.Mean[j]+d.Std[j]
		}
		probabilities := make([]float64, l.Count(K)*T)
		whole := s.Violation(probabilities, &l, trajectories, normal)
		out = append(out, group{name: "violations", numbers: append(probabilities, whole)})
	}
	q := probes(p.m)[1]
	gradient, err := gradientOf(p, d, &q, true)
	return append(out, gradient...), err
}
