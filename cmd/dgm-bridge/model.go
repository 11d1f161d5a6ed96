package main

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/motion"
)

// modelReport is what a model file holds, but for its numbers.
type modelReport struct {
	Path       string         `json:"path"`
	ID         string         `json:"id"`
	Vehicle    string         `json:"vehicle"`
	Bytes      int            `json:"bytes"`
	Signed     bool           `json:"signed"`
	Horizon    float64        `json:"horizon"` // s
	Points     int            `json:"points"`
	Channels   []modelChannel `json:"channels"`
	Prior      []string       `json:"prior_dynamics"`
	History    float64        `json:"history"` // s before the start that are read
	Members    int            `json:"members"`
	Tool       string         `json:"tool"`
	DataHash   string         `json:"data_hash"`
	Recordings int            `json:"recordings"` // trained on; 0 = not known
	Seed       uint64         `json:"seed"`
	Partial    string         `json:"partial"`
	Verdict    string         `json:"verdict"` // first line of the report
	Scores     *modelScores   `json:"scores"`  // on held-out data; null = none
	Config     string         `json:"config"`
	Equation   *modelEquation `json:"equation,omitempty"`
}

// modelEquation is the equation of motion of a model.
type modelEquation struct {
	Kind       string             `json:"kind"`
	Parameters []motion.Parameter `json:"parameters"`
}

type modelChannel struct {
	Name       string  `json:"name"`
	Role       string  `json:"role"`
	Unit       string  `json:"unit"`
	Derivative string  `json:"derivative"`
	Period     float64 `json:"period"`
	Noise      float64 `json:"sensor_std"` // of a state, in its unit
	Estimated  bool    `json:"estimated,omitempty"`
	Latency    string  `json:"latency,omitempty"` // of an input
}

// modelScores is the part of the held-out table that is shown.
type modelScores struct {
	Windows  int                `json:"windows"`
	Geo      map[string]float64 `json:"geo"` // RMSE over that of holding the last value
	Horizons []struct {
		T          float64 `json:"t"`
		Coverage95 float64 `json:"coverage95"`
	} `json:"horizons"`
}

// describeModel reads a model file.
func describeModel(path string) (*modelReport, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := model.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	_, unsigned := model.Verify(file, make(ed25519.PublicKey, ed25519.PublicKeySize))
	p := &m.Provenance
	r := &modelReport{
		Path: path, ID: m.ID, Vehicle: m.Vehicle, Bytes: len(file), Signed: !errors.Is(unsigned, model.ErrUnsigned),
		Horizon: m.Horizon, Points: m.Points, Prior: []string{}, History: m.History.Reach(), Members: len(m.Members),
		Tool: p.Tool, DataHash: p.DataHash, Recordings: len(p.Segments), Seed: p.Seed, Partial: p.Partial, Verdict: p.Verdict, Config: p.Config,
	}
	for i, c := range m.Channels {
		ch := modelChannel{Name: c.Name, Role: string(c.Role), Unit: c.Unit, Derivative: c.Derivative, Period: c.Period, Estimated: c.Estimated}
		if i < len(m.Sensor) {
			ch.Noise = math.Sqrt(m.Sensor[i])
		}
		if j := i - m.K; j >= 0 && j < len(m.Latency) {
			ch.Latency = m.Latency[j].String()
		}
		r.Channels = append(r.Channels, ch)
	}
	if at, kind, parameters := m.Physical(); at >= 0 {
		r.Equation = &modelEquation{kind, parameters}
	}
	for i := range m.Stack {
		r.Prior = append(r.Prior, m.Stack[i].String())
	}
	var scores modelScores
	if json.Unmarshal([]byte(p.Scores), &scores) == nil && len(scores.Horizons) > 0 {
		r.Scores = &scores
	}
	return r, nil
}

// writeText writes the report for people, the verdict first.
func (r *modelReport) writeText(out io.Writer) error {
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) // keeps the first error until Flush
	line := func(name, format string, args ...any) {
		fmt.Fprintf(tab, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	if r.Verdict != "" {
		line("verdict", "%s", r.Verdict)
	}
	signed := "not signed"
	if r.Signed {
		signed = "signed"
	}
	line("model", "%s (%s, %.0f kB, %s)", r.Path, r.ID, float64(r.Bytes)/1000, signed)
	line("vehicle", "%s", r.Vehicle)
	line("horizon", "%g s in %d points", r.Horizon, r.Points)
	reads := "the state alone"
	if r.History > 0 {
		reads = fmt.Sprintf("the state and the %.3g s before it", r.History)
	}
	line("reads", "%s", reads)
	line("prior", "%s", strings.Join(r.Prior, "; "))
	if r.Partial != "" {
		line("partial", "%s", r.Partial)
	}
	line("trained", "by %s, seed %d, on %s, data %.16s", r.Tool, r.Seed, recordingsText(r.Recordings), r.DataHash)
	if s := r.Scores; s != nil {
		var covered []string
		for _, h := range s.Horizons {
			covered = append(covered, fmt.Sprintf("%.0f %% after %g s", 100*h.Coverage95, h.T))
		}
		line("held out", "%d windows, RMSE %.3f of holding the last value; 95 %% intervals covered %s", s.Windows, s.Geo["model"], strings.Join(covered, ", "))
	}
	for _, c := range r.Channels {
		if c.Latency != "" {
			line("latency", "%s: %s", c.Name, c.Latency)
		}
	}
	if r.Equation != nil {
		for _, p := range r.Equation.Parameters {
			line("parameter", "%s", p)
		}
	}
	fmt.Fprintln(tab)
	fmt.Fprintln(tab, "channel\trole\tunit\tderivative\tperiod\tsensor std")
	for _, c := range r.Channels {
		period, noise := "", ""
		if c.Period > 0 {
			period = fmt.Sprintf("%.4g", c.Period)
		}
		switch {
		case c.Estimated:
			noise = "none: estimated"
		case c.Noise > 0:
			noise = fmt.Sprintf("%.3g", c.Noise)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.Role, c.Unit, c.Derivative, period, noise)
	}
	return tab.Flush()
}

func recordingsText(n int) string {
	if n == 0 {
		return "recordings that the file does not list"
	}
	return cli.Count(n, "recording")
}

// isModel reports whether a file begins like a model.
func isModel(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(model.Magic)+8)
	n, _ := io.ReadFull(f, head)
	return strings.Contains(string(head[:n]), model.Magic)
}
