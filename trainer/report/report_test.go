package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

var preview = flag.String("preview", "", "write the sample report to this file")

// sample is a report with everything in it, of an invented robot with K channels.
func sample(K int) *Report {
	r := rand.New(rand.NewPCG(1, 1))
	names := []string{"theta", "omega", "x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "gyro_x"}
	units := []string{"rad", "rad/s", "m", "m", "m", "m/s", "m/s", "m/s", "deg", "deg", "deg", "rad/s"}
	table := &evaluate.Table{Model: "flight.dgm", Log: "flight.msgpack", Vehicle: "pend1", ModelID: "4f1c9a2e", Inputs: "plan", Stride: 0.02, Windows: 512, Geo: evaluate.Geo{Model: 0.12, Velocity: 0.9, Linear: 0.37, Ridge: 0.41}}
	for _, t := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1} {
		h := evaluate.Horizon{T: t}
		n := 0.0
		for k := range K {
			scale := 1 + float64(k%4)
			c := evaluate.Channel{
				Name: names[k], Unit: units[k],
				Errors: evaluate.Errors{
					RMSE: scale * 0.004 * (0.3 + 2*math.Sqrt(t)), Hold: scale * 0.9 * t, Velocity: scale * 0.7 * math.Pow(t, 1.7), Linear: scale * (0.002 + 0.03*t),
				},
				CRPS: scale * 0.003 * math.Sqrt(t), LogLik: 3.2 - 1.5*t - 0.2*float64(k), Std: scale * 0.005 * math.Sqrt(t),
				OOD: 0.03, Coverage50: 0.5 + 0.06*(r.Float64()-0.5), Coverage90: 0.9 + 0.04*(r.Float64()-0.5), Coverage95: 0.945 + 0.03*(r.Float64()-0.5),
			}
			if k == 1 {
				c.Coverage95 -= 0.08 * t
				c.Linear *= 0.2
			}
			c.Coverage95Low, c.Coverage95High = c.Coverage95-0.02, math.Min(1, c.Coverage95+0.015)
			h.Channels = append(h.Channels, c)
			h.Coverage95 += c.Coverage95
			n++
		}
		h.Coverage95 /= n
		h.Coverage95Low, h.Coverage95High = h.Coverage95-0.02, h.Coverage95+0.015
		for q := 0.05; q < 1; q += 0.05 {
			h.Reliability = append(h.Reliability, evaluate.Reliability{Nominal: q, Observed: q - (0.1*t-0.02)*4*q*(1-q)})
		}
		table.Horizons = append(table.Horizons, h)
	}
	hold := *table
	hold.Inputs = "hold"
	out := &Report{
		Title:    "pend1: flight.dgm",
		Verdict:  Verdict{Use, []string{"quick preset"}, "The model is better than the best baseline, the linear model: 68 % lower RMSE, and 95 % intervals covered 94 %.", "Fly it.", []string{"The calibration saw 5 whole flights."}},
		Warnings: []string{"The held-out data is one segment of 9 s: the uncertainty of the coverage is 3 points. Record more flights."},
		HeldOut:  []*evaluate.Table{table, &hold},
		Problems: []datacheck.Problem{
			{
				Kind: datacheck.Outlier, Channel: "omega", Segment: "flight 2", Index: 1, From: 12, To: 12.37, Count: 38, Severity: datacheck.Exclude,
				Text: "omega jumps about for 38 samples, 12.000-12.370 s: up to 900 rad/s where its neighbours have about 1.2 rad/s. These samples are left out.",
			},
			{Kind: datacheck.Gap, Segment: "flight 2", Index: 1, From: 20.1, To: 20.6, Count: 49, Severity: datacheck.Note, Text: "No samples for 500 ms from 20.100 s on. No window is cut across it."},
		},
		Candidates: []Candidate{{Name: "core 32-32, basis 1, temper 1", Score: 2.31}, {Name: "core 16, basis 1, temper 0.3", Score: 2.44, Chosen: true}, {Name: "core 32-32, basis 2, temper 0.1", Score: 1.97}},
		Provenance: []Item{{"log", "flight.msgpack (2 segments, 55.0 s, 200 Hz)"}, {"data hash", "sha256:9d1f0c5a77b0e1f2"}, {"model", "4f1c9a2e"}, {"seed", "1"}, {"trained", "2026-11-21 14:02, 2 cores, 66 s"}},
		Selection: Selection{Rules: []Item{{"distance", "intervals grow with the distance from the training states"}}, Horizons: []SelectionHorizon{
			{0.1, []SelectionChannel{{"omega", "rad/s", 0.02, []float64{0.75, 0.25}, 0.5, 0.8, 1.1}}}, {1, []SelectionChannel{{"omega", "rad/s", 0.02, []float64{1, 0}, 0.75, 1.25, 0}}},
		}},
		Settings: []Item{{"horizon", "1s"}, {"points", "100"}, {"features", "100"}, {"kernel", "rff"}},
		Files:    []Item{{"flight.dgm", "the model, 412 kB"}, {"flight.report.html", "this page"}, {"flight.report.json", "the same numbers"}},
	}
	for i := range 15 {
		out.Candidates = append(out.Candidates, Candidate{
			Name: fmt.Sprintf("equation of degree %d, step %d ms, ridge 1e-05", i/5+1, 10*(i%5+1)), Measure: "\u2212log of error over hold", Score: 2 + 0.1*float64(i%7), Chosen: i == 4,
		})
	}
	for step := 0; step <= 400; step += 4 {
		s := float64(step)
		p := CurvePoint{Step: step, Loss: 40*math.Exp(-s/20) - 2.2*(1-math.Exp(-s/90)) + 0.05*r.NormFloat64(), Match: 0.4 * (1 - math.Exp(-s/50)) * math.Exp(-s/300)}
		p.Data = p.Loss - p.Match
		out.Curve = append(out.Curve, p)
	}
	for w := range 3 {
		for k := range min(K, 4) {
			e := Example{Window: fmt.Sprintf("flight 1, %.1f s", 3.2+2.5*float64(w))}
			e.Channel, e.Unit = names[k], units[k]
			for i := 1; i <= 100; i++ {
				t := float64(i) / 100
				m := math.Sin(4*t+float64(w+k)) * float64(k+1)
				s := 0.12 * math.Sqrt(t) * float64(k+1)
				e.T, e.Mean = append(e.T, t), append(e.Mean, m)
				e.Lo50, e.Hi50 = append(e.Lo50, m-0.674*s), append(e.Hi50, m+0.674*s)
				e.Lo95, e.Hi95 = append(e.Lo95, m-1.96*s), append(e.Hi95, m+1.96*s)
				if i%2 == 0 {
					e.At, e.Measured = append(e.At, t), append(e.Measured, m+0.7*s*math.Sin(5*t+float64(w))+0.01*r.NormFloat64())
				}
			}
			out.Examples = append(out.Examples, e)
		}
	}
	return out
}

func page1(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPreview(t *testing.T) {
	if *preview == "" {
		t.Skip("no -preview file named")
	}
	if err := Write(*preview, sample(4)); err != nil {
		t.Fatal(err)
	}
}

func TestPageIsComplete(t *testing.T) {
	r := sample(4)
	html := page1(t, r)
	if n := strings.Count(html, "<svg"); n != 12+4+3 {
		t.Errorf("%d charts, want 12 examples, 4 errors, coverage, reliability and training", n)
	}
	// Three horizons in the summary and all nine below, twice.
	if n := strings.Count(html, `<td class="model">`); n != 2*4*(3+9) {
		t.Errorf("%d table rows, want %d", n, 2*4*12)
	}
	text := html[strings.Index(html, "<main>"):]
	if !strings.HasPrefix(text, "<main>\n<div class=\"verdict use\"><p><strong>USE (quick preset)</strong>: "+keep(r.Reason)) {
		t.Errorf("the page does not begin with the verdict: %.200s", text)
	}
	if got := strings.Count(html, `<div><dt>`); got != 5 {
		t.Errorf("%d numbers at the head, want 5", got)
	}
	for _, want := range []string{
		">0.120<", ">0.324<", // the error over that of hold, and of the linear model
		r.Title, keep(r.Warnings[0]), "omega jumps about", "Excluded from training", "12.00", "core 16, basis 1", "chosen", "sha256:9d1f0c5a77b0e1f2", "flight.report.json",
		"rad/s", "horizon, s", "time after the prediction, s", "inputs: hold",
		">RMSE, rad<", ">measurements inside<", ">50 %<", ">90 %<", ">95 %<", ">95 % of single channels<", ">empirical coverage<", ">nominal coverage<",
		">objective<", ">data<", ">matching<",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// An attitude has a row of its own at every horizon, as one angle beside the simple
// predictors; where there is none, there is no such row.
func TestAttitudeHasARow(t *testing.T) {
	h := evaluate.Horizon{T: 1, Channels: []evaluate.Channel{{Name: "roll", Errors: evaluate.Errors{RMSE: 1, Hold: 1, Velocity: 1, Linear: 1}}}}
	if html := page1(t, &Report{HeldOut: []*evaluate.Table{{Horizons: []evaluate.Horizon{h}}}}); strings.Contains(html, "attitude") {
		t.Error("there is no attitude, and the page has a row for it")
	}
	h.Attitude = &evaluate.Errors{RMSE: 0.0123, Hold: 0.5, Velocity: 0.4, Linear: 0.0246}
	html := page1(t, &Report{HeldOut: []*evaluate.Table{{Horizons: []evaluate.Horizon{h}}}})
	i := strings.Index(html, "attitude error (rotation angle)")
	if i < 0 {
		t.Fatal("no row")
	}
	row, _, _ := strings.Cut(html[i:], "</tr>")
	for _, want := range []string{`<td class="model">0.0123</td>`, `<span class="ok">0.500</span>`, `<td class="best">0.0246</td>`} {
		if !strings.Contains(row, want) {
			t.Errorf("no %s in %s", want, row)
		}
	}
}

// Errors that differ by less than 5 % have no colour.
func TestColourOfDifferences(t *testing.T) {
	for rmse, want := range map[float64]string{0: "better", 0.5: "better", 0.949: "better", 0.96: "", 0.99: "", 1: "", 1.04: "", 1.051: "worse", 3: "worse"} {
		r := newRowView(evaluate.Channel{Errors: evaluate.Errors{RMSE: rmse, Hold: 2, Velocity: 1.5, Linear: 1}})
		if r.Comparison != want || r.BestBaseline != "linear" {
			t.Errorf("%v times the error of %s is %q, want %q", rmse, r.BestBaseline, r.Comparison, want)
		}
	}
	if r := newRowView(evaluate.Channel{}); r.Comparison == "worse" || r.Ratio != "\u2013" {
		t.Errorf("of nothing: %+v", r)
	}
	html := page1(t, &Report{HeldOut: []*evaluate.Table{{Horizons: []evaluate.Horizon{{T: 1, Channels: []evaluate.Channel{{Name: "a", Errors: evaluate.Errors{RMSE: 1.02, Hold: 1, Velocity: 1, Linear: 1}, Coverage95Low: 1}}}}}}})
	if !strings.Contains(html, "<td>1.02</td>") {
		t.Error("1.02 is coloured")
	}
}

func TestSelectionIsShownByChannel(t *testing.T) {
	html := page1(t, sample(2))
	text := html[strings.Index(html, "Model selection and calibration"):]
	text = text[:strings.Index(text, "</section>")]
	for _, want := range []string{">0.1\u2009s ahead<", ">1\u2009s ahead<", "<td>0.0200</td>", "<td>75\u2009% / 25\u2009%</td>", "0.80<span", "1.10 hold<", "<td>1.25</td>", "grow with the distance"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	bare := sample(2)
	bare.Selection = Selection{}
	if strings.Contains(page1(t, bare), "Model selection and calibration") {
		t.Error("a section about nothing")
	}
}

func TestCandidatesAreShownByMeasure(t *testing.T) {
	html := page1(t, sample(2))
	text := html[strings.Index(html, "<h2>Training"):]
	short, all, ok := strings.Cut(text, "All 15 candidates: \u2212log of error over hold")
	if !ok || strings.Count(text, "<summary>All") != 1 {
		t.Fatalf("not all candidates can be unfolded: %s", text)
	}
	// Three of one measure, the six best of the other, the chosen one first.
	if n := strings.Count(short, `<td class="name">`); n != 3+6 {
		t.Errorf("%d candidates before all are unfolded", n)
	}
	first := short[strings.Index(short, "best of 15 candidates"):]
	if i, j := strings.Index(first, "degree 1, step 50 ms"), strings.Index(first, "degree 2, step 20 ms"); i < 0 || j < 0 || i > j {
		t.Errorf("the chosen one and that of the highest score are not first: %s", first)
	}
	if n := strings.Count(all[:strings.Index(all, "</section>")], `<td class="name">`); n != 15 {
		t.Errorf("%d candidates unfolded", n)
	}
	if strings.Contains(text, "1e-05") || !strings.Contains(text, "ridge 1e\u201105") {
		t.Error("a line may break within a number")
	}
	// The page states the rule where a lower score was chosen.
	const why = "one-standard-error rule"
	if !strings.Contains(text, why) {
		t.Error("a lower score is chosen without a reason")
	}
	best := sample(2)
	best.Candidates = best.Candidates[:3]
	if strings.Contains(page1(t, best), why) {
		t.Error("the highest score has a reason")
	}
	// A reason of the candidates replaces the rule, and is shown once.
	best.Candidates[0].Score, best.Candidates[0].Why, best.Candidates[2].Why = 3, "It needs a lead.", "It needs a lead."
	best.Candidates = append(best.Candidates, Candidate{Name: "core 8", Measure: "another", Chosen: true, Untried: true})
	passed := page1(t, best)
	if strings.Contains(passed, why) || strings.Count(passed, "It needs a lead.") != 1 {
		t.Error("the reason is not shown once")
	}
	// What was not tried has no score, on the page and as data.
	row := passed[strings.Index(passed, "core 8"):]
	if row = row[:strings.Index(row, "</tr>")]; !strings.Contains(row, "<td>untried</td>") || !strings.Contains(row, "chosen") {
		t.Errorf("an untried candidate is shown as %s", row)
	}
	if b, err := json.Marshal(best.Candidates[3]); err != nil || strings.Contains(string(b), "score") || !strings.Contains(string(b), `"untried":true`) {
		t.Errorf("an untried candidate is written as %s, %v", b, err)
	}
}

func TestPageFetchesAndRunsNothing(t *testing.T) {
	html := strings.ReplaceAll(page1(t, sample(12)), `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, never := range []string{"http:", "https:", "<script", "<link", "<img", "<iframe", "@import", "url(//", "src=", `href="h`, `href="/`} {
		if strings.Contains(html, never) {
			t.Errorf("the page contains %q", never)
		}
	}
	for _, m := range regexp.MustCompile(`url\([^)]*\)`).FindAllString(html, -1) {
		if !strings.HasPrefix(m, "url(#") {
			t.Errorf("the page refers to %q", m)
		}
	}
}

func TestPageIsWellFormedAndFinite(t *testing.T) {
	html := page1(t, sample(4))
	for _, never := range []string{"NaN", "Inf", "<nil>", "%!", "ZgotmplZ"} {
		if strings.Contains(html, never) {
			t.Errorf("the page contains %q", never)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("id %s occurs twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` d="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		for _, f := range regexp.MustCompile(`-?[0-9.]+`).FindAllString(m[1], -1) {
			if _, err := strconv.ParseFloat(f, 64); err != nil {
				t.Fatalf("path has the number %q", f)
			}
		}
	}
}

func TestNumbersMustBeFinite(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"report.held_out[0].horizons[2].channels[1].rmse": func(r *Report) { r.HeldOut[0].Horizons[2].Channels[1].RMSE = math.NaN() },
		"report.examples[1].hi95[7]":                      func(r *Report) { r.Examples[1].Hi95[7] = math.Inf(1) },
		"report.curve[3].loss":                            func(r *Report) { r.Curve[3].Loss = math.NaN() },
		"report.candidates[0].score":                      func(r *Report) { r.Candidates[0].Score = math.Inf(-1) },
	} {
		r := sample(3)
		spoil(r)
		path := filepath.Join(t.TempDir(), "r.html")
		for _, err := range []error{Write(path, r), WriteJSON(path, r)} {
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v", name, err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was written", name)
		}
	}
}

func TestAFailedWriteLeavesTheOldReport(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.html")
	if err := Write(path, sample(2)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := sample(2)
	bad.Curve[0].Loss = math.NaN()
	if err := Write(path, bad); err == nil {
		t.Error("no error")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the old report is gone: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := Write(filepath.Join(dir, "missing", "r.html"), sample(2)); err == nil {
		t.Error("a folder that is missing is no error")
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	r := sample(3)
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var back Report
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Verdict, r.Verdict) || len(back.Examples) != len(r.Examples) || back.HeldOut[0].Horizons[4].Channels[2] != r.HeldOut[0].Horizons[4].Channels[2] ||
		back.Problems[0].Text != r.Problems[0].Text || back.Curve[10] != r.Curve[10] {
		t.Error("the JSON does not hold what the report holds")
	}
	b.Reset()
	if err := JSON(&b, &Report{}); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("an empty report has null lists (%v): %s", err, b.String())
	}
}

func TestAnEmptyReportIsAPage(t *testing.T) {
	html := page1(t, &Report{Title: "t", Verdict: Verdict{Level: No, Reason: "Stopped before the first evaluation."}})
	if strings.Contains(html, "<svg") || !strings.Contains(html, "No findings") {
		t.Error("an empty report is not a plain page")
	}
}

func TestTextIsEscaped(t *testing.T) {
	r := sample(2)
	r.Title, r.Reason = "<b>&", "<script>alert(1)</script>"
	r.Examples[0].Channel = "<i>"
	html := page1(t, r)
	if strings.Contains(html, "<script>") || strings.Contains(html, "<b>&") || strings.Contains(html, "<i>") {
		t.Error("text of the report reaches the page as markup")
	}
}

func TestSameReportSameBytes(t *testing.T) {
	a, b := page1(t, sample(4)), page1(t, sample(4))
	if a != b {
		t.Error("the page differs from run to run")
	}
}
