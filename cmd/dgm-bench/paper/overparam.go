package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// shapes are products of matrices, by the widths between them.
var shapes = []string{"3-3", "3-3-3", "3-6-3", "3-6-6-3", "3-6-6-6-3", "3-6-6-6-6-3"}

var overparamMethods = []string{"dgm", "sgld", "sghmc"}

func overparamStudy() *study.Study {
	c := newChains(5, 20000)
	members := paper.DefaultRecipe(&paper.Data{Trajectories: make([]paper.Trajectory, 1)}).Members
	methods, asked := overparamMethods, shapes
	s := &study.Study{
		Name: "overparam", Seeds: 3, Sets: []string{"linear"}, Needs: []string{"weights"}, Summary: sampledSummary, Tables: overparamTables,
		Version: func(variant string) int {
			if strings.HasPrefix(variant, "dgm-") {
				return version
			}
			return 0
		},
		Short: "Figure: a linear system whose matrix is learned as a product of matrices",
		Long: `overparam learns a linear system of three states, one mode stable and two marginally so, from one trajectory of
100 observations. Its field is a product of matrices, which expresses no more the more there are of them. DGM is the
recipe, with these in the place of the dynamics' net; SGLD and SGHMC sample the matrices with the paper's rates
and priors, which are centred on matrices fitted to the truth and let the product vary by 0.01.`,
	}
	s.Numbers = append(c.flags(), study.Flag{Name: "members", Usage: "members of the recipe", Value: &members, Least: 1, Changes: true})
	s.Flags = func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.StringSliceVar(&asked, "shapes", asked, "widths before, between and after the matrices")
		f.StringSliceVar(&methods, "methods", methods, "of dgm, sgld and sghmc")
	}
	s.Check = func() error {
		for _, shape := range asked {
			if _, err := inner(shape); err != nil {
				return cli.Usage("--shapes %s: %v", shape, err)
			}
		}
		var err error
		if methods, err = study.Chosen("--methods", methods, overparamMethods); err != nil {
			return err
		}
		return c.check()
	}
	s.Variants = func() []string {
		var all []string
		for _, m := range methods {
			for _, shape := range asked {
				all = append(all, m+"-"+shape)
			}
		}
		return all
	}
	s.Run = func(ctx context.Context, u *study.Unit) error {
		method, shape, _ := strings.Cut(u.Variant, "-")
		hidden, err := inner(shape)
		if err != nil {
			return err
		}
		if method == "dgm" {
			err = learnProduct(ctx, u, hidden, members)
		} else {
			err = sampleProduct(ctx, u, hidden, method, c)
		}
		weights, width := 0, 3
		for _, next := range append(hidden, 3) {
			weights += width * next
			width = next
		}
		u.Put("weights", weights)
		return err
	}
	return s
}

// learnProduct follows the recipe with a product of matrices as dynamics. Where it fails
// the row has no scores, like that of a lost chain.
func learnProduct(ctx context.Context, u *study.Unit, hidden []int, members int) error {
	m, err := linearSet().follow(ctx, u, func(r *paper.Recipe) {
		r.Members, r.Dynamics, r.DynAct, r.Plain = members, hidden, mlp.Linear, true
	})
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return u.Fail(ctx, err)
	}
	_, err = m.on.score(u.Row, "scores.", m.K, sure(m.Predict))
	return err
}

func sampleProduct(ctx context.Context, u *study.Unit, hidden []int, method string, c *chains) error {
	set := linearSet()
	net, loss, err := set.pretrained(hidden, mlp.Linear, false, c.pretraining, 3e-8, u.Seed)
	if err != nil {
		return err
	}
	sd := 0.01 / productSpread(&net)
	b := &paper.Bayes{Net: net, Sigma: 1, Step: 0.1}
	for _, l := range net.Layers {
		b.Prior = append(b.Prior, slices.Repeat([]float64{sd}, len(l.W))...)
		b.Prior = append(b.Prior, make([]float64, len(l.B))...) // a product of matrices has no biases
	}
	u.Put("pretraining_loss", study.Short(3, loss)[0]).Put("prior_std", study.Short(3, sd)[0])
	return set.sample(ctx, u, b, rates{a: 0.001, b: 1, gamma: 0.9, eta: 1.5e-7, alpha: 0.1}.walk(method), c.Chains)
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
	x0 := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	size := math.Sqrt(x0[0]*x0[0] + x0[1]*x0[1] + x0[2]*x0[2])
	for i := range x0 {
		x0[i] /= size
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
	var b mat.Dense
	for i, l := range layers {
		w := mat.NewDense(l.In, l.Out, l.W)
		if i == 0 {
			b.CloneFrom(w)
			continue
		}
		var product mat.Dense
		product.Mul(&b, w)
		b = product
	}
	norm := mat.Norm(&b, 2)
	return norm * norm
}

// overparamTables has a line for every shape, with the rows of all methods.
func overparamTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	shapeOf := func(r *study.Row) string { _, shape, _ := strings.Cut(r.Variant, "-"); return shape }
	by := study.GroupBy(rows, shapeOf)
	sortBy(by, func(g study.Group) float64 { return g[0].Number("weights") })
	of := func(method string) func(g study.Group) study.Group {
		return func(g study.Group) study.Group {
			return g.Where(func(r *study.Row) bool { return strings.HasPrefix(r.Variant, method+"-") })
		}
	}
	t := study.Table{
		Name: "overparam", Title: "Products of matrices", Groups: by,
		Text:    "A linear system of three states whose matrix is a product; log likelihood of the truth. The paper: SGLD does not converge for many matrices, SGHMC becomes worse, DGM stays. The priors of SGLD and SGHMC know the true derivatives. NaN: seeds whose chains did not stay finite, or that could not be learned. Scores of samples leave out the start, which they know exactly.",
		Columns: []study.Column{{Head: "matrices", Cell: func(g study.Group) string { return shapeOf(g[0]) }}, study.MeanOf("weights", "weights", 0)},
	}
	for _, method := range overparamMethods {
		last := rHat
		if method == "dgm" {
			last = study.MeanOf("coverage 95", "scores.coverage95", 2)
		}
		name := strings.ToUpper(method)
		for j, c := range []study.Column{sampledLogLik, notFinite, last} {
			if j == 0 {
				c.Head = name
			}
			t.Columns = append(t.Columns, c.Of(of(method)))
		}
	}
	return []study.Table{t}, nil
}
