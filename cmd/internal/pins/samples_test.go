package pins

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
)

// recordedPendulum returns a model of all segments of a recording but one, and that one.
func recordedPendulum(t *testing.T, held int) (*model.Model, *flightlog.Segment) {
	t.Helper()
	table := filepath.Join("..", "..", "..", "..", "shared", "data", "multiarm-pendulum", "derived", "single_200hz.csv")
	if _, err := os.Stat(table); err != nil {
		t.Skip("the shared recording is not here: ", table)
	}
	m, err := importer.ReadMap(filepath.Join("..", "..", "..", "bridge", "csv", "testdata", "single.toml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	if _, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: m, Inputs: []string{table}, Out: path}); err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flown := log.Segments[held]
	log.Segments = slices.Delete(log.Segments, held, held+1)
	cfg := trainer.Default()
	cfg.Horizon, cfg.Budget = trainer.Duration(500*time.Millisecond), trainer.Duration(20*time.Second)
	data, err := trainer.Load([]*flightlog.Log{log}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := trainer.Train(context.Background(), data, cfg, func(trainer.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return res.Model, &flown
}

// On a recorded flight samples cover the measurements as the intervals do: the share of the
// samples below a measurement is distributed as that of the predicted distribution.
func TestSamplesCoverARecordedFlight(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains a model; DGM_SLOW=1 runs it")
	}
	m, flown := recordedPendulum(t, 1)
	times := []float64{0.05, 0.1, 0.25, 0.5}
	p, err := estimator.NewFast(m, times)
	if err != nil {
		t.Fatal(err)
	}
	s, err := estimator.NewTrajectories(m, times)
	if err != nil {
		t.Fatal(err)
	}
	const draws, dt = 400, 0.005
	d, K := p.NewPrediction(), m.K
	past, rows := history.NewBuffer(m.Channels[:K], m.P, m.History), make([]float64, m.History.Rows()*(K+m.P))
	x := make([]float64, len(d.Mean))
	rng := rand.New(rand.NewPCG(1, 1))
	var bySamples, byNormal []float64
	for i := range len(flown.T) - 101 {
		x0 := flown.X[i*K : (i+1)*K]
		past.Add(flown.T[i], x0, flown.U[i*m.P:(i+1)*m.P])
		n := past.Fill(rows, flown.T[i], x0)
		if i%10 != 0 || n < past.Rows() || slices.ContainsFunc(x0, math.IsNaN) {
			continue
		}
		q := estimator.Query{X0: x0, History: rows[:n*(K+m.P)]}
		if !p.Predict(d, &q) || !s.Start(d, &q) {
			t.Fatal("no prediction")
		}
		below := make([]float64, len(x))
		for range draws {
			s.Draw(x, rng.NormFloat64)
			for j := range x {
				noise := math.Sqrt(d.ObsStd[j]*d.ObsStd[j] - d.Std[j]*d.Std[j])
				if x[j]+noise*rng.NormFloat64() < measured(flown, m, i, times[j/K], dt, j%K) {
					below[j]++
				}
			}
		}
		for j := range x {
			if v := measured(flown, m, i, times[j/K], dt, j%K); !math.IsNaN(v) {
				bySamples = append(bySamples, below[j]/draws)
				byNormal = append(byNormal, 0.5*math.Erfc((d.Mean[j]-v)/(d.ObsStd[j]*math.Sqrt2)))
			}
		}
	}
	cover := func(v []float64) (n float64) {
		for _, u := range v {
			if u >= 0.025 && u <= 0.975 {
				n++
			}
		}
		return n / float64(len(v))
	}
	a, b := slices.Sorted(slices.Values(bySamples)), slices.Sorted(slices.Values(byNormal))
	apart := 0.0
	for i := range a {
		apart = max(apart, math.Abs(a[i]-b[i]))
	}
	t.Logf("%d measurements: samples cover %.3f, intervals %.3f; quantiles of the shares differ by at most %.3f", len(a), cover(a), cover(b), apart)
	if len(a) < 1000 || math.Abs(cover(a)-cover(b)) > 0.01 || apart > 0.03 {
		t.Errorf("%d measurements: samples cover %.3f, intervals %.3f; quantiles of the shares differ by %.3f", len(a), cover(a), cover(b), apart)
	}
}

// measured returns channel k a time after sample i, continuous with it.
func measured(s *flightlog.Segment, m *model.Model, i int, after, dt float64, k int) float64 {
	j := i + int(math.Round(after/dt))
	v := s.X[j*m.K+k]
	if period := m.Channels[k].Period; period > 0 {
		v -= period * math.Round((v-s.X[i*m.K+k])/period)
	}
	return v
}
