package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// shapes are products of matrices, by the widths between them.
var shapes = []string{"3-3", "3-3-3", "3-6-3", "3-6-6-3", "3-6-6-6-3", "3-6-6-6-6-3"}

// overparamStudy is the paper's figure on products of matrices.
func overparamStudy() *study[sampled] {
	chains := chainFlags{usual: paper.Chains{Chains: 5, Steps: 20000, Keep: 2000}}
	usual := paper.DefaultRecipe(&paper.Data{Trajectories: make([]paper.Trajectory, 1)}).Members
	members, methods, pretraining := usual, []string{"dgm", "sgld", "sghmc"}, 20000
	asked := slices.Clone(shapes)
	s := &study[sampled]{
		name: "overparam", files: "overparam", seeds: 3, sets: []string{"linear"}, recipe: func(variant string) bool { return strings.HasPrefix(variant, "dgm-") },
		short: "Figure: a linear system whose matrix is learned as a product of matrices",
		long: `overparam learns a linear system of three states, one mode stable and two marginally so, from one trajectory of
100 observations. Its field is a product of matrices, which says no more the more there are of them. DGM is the
recipe, with these in the place of the dynamics' net; SGLD and SGHMC sample the matrices with the paper's rates
and priors, which are centred on what the truth was fitted by and let the product vary by 0.01.`,
		tell: (*sampled).tell,
	}
	s.flags = func(cmd *cobra.Command) {
		chains.register(cmd)
		f := cmd.Flags()
		f.StringSliceVar(&asked, "shapes", asked, "widths before, between and after the matrices")
		f.StringSliceVar(&methods, "methods", methods, "of dgm, sgld and sghmc")
		f.IntVar(&members, "members", members, "members of the recipe")
		f.IntVar(&pretraining, "pretraining", pretraining, "most steps of the training on true derivatives")
	}
	s.check = func() error {
		for _, shape := range asked {
			if _, err := inner(shape); err != nil {
				return cli.Usage("--shapes %s: %v", shape, err)
			}
		}
		for _, m := range methods {
			if m != "dgm" && m != "sgld" && m != "sghmc" {
				return cli.Usage("--methods: %q is none of dgm, sgld, sghmc", m)
			}
		}
		if members < 1 || pretraining < 1 {
			return cli.Usage("--members and --pretraining must be at least 1")
		}
		return chains.check()
	}
	s.settings = func() string {
		return strings.TrimSpace(changed("members", members, usual) + " " + chains.settings() + " " + changed("pretraining", pretraining, 20000))
	}
	s.variants = func() []string {
		var all []string
		for _, m := range methods {
			for _, shape := range asked {
				all = append(all, m+"-"+shape)
			}
		}
		return all
	}
	s.run = func(ctx context.Context, _ string, k key) (*sampled, error) {
		method, shape, _ := strings.Cut(k.Variant, "-")
		hidden, err := inner(shape)
		if err != nil {
			return nil, err
		}
		set := linearSet()
		weights := 0
		for i, widths := 0, append(append([]int{3}, hidden...), 3); i+1 < len(widths); i++ {
			weights += widths[i] * widths[i+1]
		}
		if method == "dgm" {
			_, r, err := set.learn(ctx, k, func(r *paper.Recipe) {
				r.Members, r.Dynamics, r.DynAct, r.Plain = members, hidden, mlp.Linear, true
			})
			if err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				return &sampled{key: k, Weights: weights, Failed: err.Error()}, nil // NaN, like a chain that failed
			}
			return &sampled{key: k, Scores: &r.scores, Weights: weights, Seconds: r.Seconds}, nil
		}
		net, loss, err := set.pretrained(hidden, mlp.Linear, false, pretraining, 3e-8, k.Seed)
		if err != nil {
			return nil, err
		}
		sd := 0.01 / productSpread(&net)
		b := &paper.Bayes{Net: net, Sigma: 1, Step: 0.1}
		for _, l := range net.Layers {
			b.Prior = append(b.Prior, slices.Repeat([]float64{sd}, len(l.W))...)
			b.Prior = append(b.Prior, make([]float64, len(l.B))...) // a product of matrices has no biases
		}
		walk := func() paper.Walk { return paper.SGLD(0.001, 1, 0.9) }
		if method == "sghmc" {
			walk = func() paper.Walk { return paper.SGHMC(1.5e-7, 0.1) }
		}
		r, err := set.sample(ctx, k, b, walk, chains.now)
		if err != nil {
			return nil, err
		}
		r.Loss, r.Prior, r.Weights = short(3, loss)[0], short(3, sd)[0], weights
		return r, nil
	}
	s.sections = overparamSections
	return s
}

// inner returns the widths between the matrices of a shape.
func inner(shape string) ([]int, error) {
	parts := strings.Split(shape, "-")
	var all []int
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 100 {
			return nil, fmt.Errorf("%q is no width", p)
		}
		all = append(all, n)
	}
	if len(all) < 2 || all[0] != 3 || all[len(all)-1] != 3 {
		return nil, fmt.Errorf("a shape begins and ends with 3, like 3-6-3")
	}
	return all[1 : len(all)-1], nil
}

// linearSet is one trajectory of dx/dt = Ax: the eigenvalue of the stable mode drawn
// from [−0.5, −0.1], the others ±iπ/2, the start from the unit sphere. The system is
// the same for all seeds, the noise is not.
func linearSet() *set {
	rng := rand.New(rand.NewPCG(1, 0x6c696e656172))
	stable := -0.5 + 0.4*rng.Float64()
	// What the paper draws, a skew matrix over its spectral radius, is this one up to
	// its sign.
	const turn = math.Pi / 2
	p := plant.Plant{
		Name: "linear", States: []channel.Channel{{Name: "x1"}, {Name: "x2"}, {Name: "x3"}}, Noise: []float64{0.1, 0.1, 0.1}, Duration: 10,
		F: func(dst, x, _, _ []float64) { dst[0], dst[1], dst[2] = turn*x[1], -turn*x[0], stable*x[2] },
	}
	x0, size := make([]float64, 3), 0.0
	for i := range x0 {
		x0[i] = rng.NormFloat64()
		size += x0[i] * x0[i]
	}
	for i := range x0 {
		x0[i] /= math.Sqrt(size)
	}
	return &set{name: "linear", label: "linear", plant: p, starts: [][]float64{x0}, points: 100, end: 10}
}

// productSpread returns by how much an element of the product of a net's matrices
// varies, root mean square, where each of their elements varies by one, to first
// order: with L_j and R_j the products before and after matrix j,
//
//	Σ Var B = Σ_j ‖L_j‖² ‖R_j‖²
func productSpread(net *mlp.Net) float64 {
	n := len(net.Layers)
	sum := 0.0
	for j := range n {
		sum += productNorm(net.Layers[:j]) * productNorm(net.Layers[j+1:])
	}
	return math.Sqrt(sum / float64(net.In()*net.Out()))
}

// productNorm returns the squared Frobenius norm of the product of layers; of none,
// of the unit matrix of three rows.
func productNorm(layers []mlp.Layer) float64 {
	if len(layers) == 0 {
		return 3
	}
	rows := layers[0].In
	b := layers[0].W
	for _, l := range layers[1:] {
		c := make([]float64, rows*l.Out)
		for i := range rows {
			for a := range l.In {
				for o := range l.Out {
					c[i*l.Out+o] += b[i*l.In+a] * l.W[a*l.Out+o]
				}
			}
		}
		b = c
	}
	s := 0.0
	for _, v := range b {
		s += v * v
	}
	return s
}

func overparamSections(_ string, all []*sampled) ([]section, error) {
	s := section{
		Title: "Products of matrices",
		Text:  "A linear system of three states whose matrix is a product; log likelihood of the truth. The paper: SGLD does not converge for many matrices, SGHMC becomes worse, DGM stays. The priors of SGLD and SGHMC know the true derivatives. NaN: seeds whose chains did not stay finite, or that could not be learned. Scores of samples leave out the start, which they know for certain.",
		Head:  []string{"matrices", "weights", "DGM", "NaN", "coverage 95", "SGLD", "NaN", "R-hat", "SGHMC", "NaN", "R-hat"},
	}
	c := plot.Chart{Title: "Overparametrisation", XLabel: "weights of the product", YLabel: "log likelihood", Description: "Log likelihood of the truth by the shape of the product, for each method."}
	lines := map[string]*plot.Line{
		"dgm": {Name: "DGM", Color: plot.Model, Marks: true}, "sgld": {Name: "SGLD", Color: plot.Alert, Marks: true}, "sghmc": {Name: "SGHMC", Color: plot.Linear, Marks: true},
	}
	var there []string
	for _, r := range all {
		if _, shape, _ := strings.Cut(r.Variant, "-"); !slices.Contains(there, shape) {
			there = append(there, shape)
		}
	}
	slices.SortFunc(there, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return natural(a, b)
	})
	for _, shape := range there {
		row := []string{shape, ""}
		for _, method := range []string{"dgm", "sgld", "sghmc"} {
			var own []*sampled
			for _, r := range all {
				if r.Variant == method+"-"+shape {
					own = append(own, r)
				}
			}
			if len(own) == 0 {
				row = append(row, "", "", "")
				continue
			}
			row[1] = strconv.Itoa(own[0].Weights)
			ll := finite(values(own, (*sampled).loglik))
			text, cover := "NaN", ""
			if len(ll) > 0 {
				text = spread(ll)
				cover = two(mean(values(slices.DeleteFunc(slices.Clone(own), func(r *sampled) bool { return r.Scores == nil }), func(r *sampled) float64 { return r.Scores.Coverage95 })))
				l := lines[method]
				l.X, l.Y = append(l.X, float64(len(c.XNames)+1)), append(l.Y, max(mean(ll), -8))
			}
			last := cover
			if method != "dgm" {
				last = rHat(own)
			}
			row = append(row, text, strconv.Itoa(len(own)-len(ll)), last)
		}
		c.XNames = append(c.XNames, row[1])
		s.Rows = append(s.Rows, row)
	}
	for _, method := range []string{"dgm", "sgld", "sghmc"} {
		if l := lines[method]; len(l.X) > 0 {
			c.Lines = append(c.Lines, *l)
		}
	}
	svg, err := c.SVG()
	if err != nil {
		return nil, err
	}
	s.Pictures = []picture{{"overparam", svg}}
	return []section{s}, nil
}
