package estimator_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// brokenBuild is a small change of the numeric path: in a file, one text for another.
type brokenBuild struct{ file, old, new string }

var brokenBuilds = []brokenBuild{
	// Start state and its covariance.
	{"start.go", "\treturn s\n}", "\treturn s / 100\n}"},
	{"start.go", "p.diff[k*K+k] -= m.Sensor[k]", "p.diff[k*K+k] += m.Sensor[k]"},
	{"start.go", "row[k]++", "row[k] += 1.01"},
	{"fast_covariance.go", "return q.P0[a*K+b] - m.Sensor[a]", "return q.P0[a*K+b]/100 - m.Sensor[a]"},
	{"fast_covariance.go", "float32(networkWeight[lane] * f.c.perMember)", "float32(networkWeight[lane] * 1.05 * f.c.perMember)"},
	{"fast_finish.go", "float64(w.covariance.variance[j])", "float64(w.covariance.variance[j])/100"},
	{"fast_jacobian.go", "c.factors = append(c.factors, simd.Single(t))", "c.factors = append(c.factors, simd.Single(0.9*t))"},
	{"channel/lift.go", "d = -l.Omega[i] * math.Sin(l.Omega[i]*x[k])", "d = l.Omega[i] * math.Sin(l.Omega[i]*x[k])"},

	// Scores.
	{"ood.go", "p.distance = r.Nearest(p.white)", "p.distance = r.Nearest(p.white) / 100"},
	{"ood.go", "dst.OOD = dst.Distance / r.Distance", "dst.OOD = dst.Distance / r.Distance / 100"},
	{"ood.go", "dst.InputScore/math.Max(r.Input, 1)", "dst.InputScore/math.Max(2*r.Input, 1)"},
	{"ood.go", "ratio := p.ratio / float64(p.variances*m.K)", "ratio := p.ratio / 50 / float64(p.variances*m.K)"},
	{"ood.go", "const maxOODFactor = 10", "const maxOODFactor = 1.01"},
	{"ood/detector.go", "sum += d * d", "sum += 0.98 * d * d"},
	{"ood/detector.go", "const inputSlack = 0.25", "const inputSlack = 0.5"},
	{"ood/rms.go", "0.5*(c.squares[q]+square)*(tau-c.knots[q])", "0.4*(c.squares[q]+square)*(tau-c.knots[q])"},
	{"direct/leverage.go", "return math.Max(sum, 0) / (l.Rest * float64(n))", "return math.Max(sum, 0) / (10 * l.Rest * float64(n))"},

	// Ensemble and intervals.
	{"combine.go", "p.sumV[j]/nv+spread, p.sigma2[j]/n", "p.sumV[j]/nv+0.5*spread, p.sigma2[j]/n"},
	{"combine.go", "origin + m.Scale[k]*(p.displacement[j]+", "origin + 1e-4 + m.Scale[k]*(p.displacement[j]+"},
	{"combine.go", "dst.ObsStd[j] = math.Sqrt(factor*(state+obs) + apart + beside + start)", "dst.ObsStd[j] = math.Sqrt(factor*state + obs + apart + beside + start)"},
	{"combine.go", "apart := p.disagreement[j]", "apart := 0.9 * p.disagreement[j]"},
	{"fast_finish.go", "apart := w.prior.disagreement[lane*K+k]", "apart := 0.0"},
	{"combine.go", "unit * math.Sqrt(p.dsumV[j]/nv+spread)", "unit * math.Sqrt(p.dsumV[j]/nv+spread) / 2"},
	{"combine.go", "weight.value[j]*mean + weight.slope[j]*p.sum[j])", "weight.value[j]*mean)"},
	{"predictor.go", "p.sigma2[i*K+k] += math.Exp(2 * ls)", "p.sigma2[i*K+k] += math.Exp(1.99 * ls)"},
	{"predictor.go", "p.sumV[j] = math.Max(p.sumV[j], s/n)", "p.sumV[j] = math.Min(p.sumV[j], s/n)"},
	{"fast_finish.go", "return mean, variance", "if j >= 4 {\n\t\tmean += 0.01\n\t}\n\treturn mean, variance"},
	{"fast_finish.go", "variance = w.v[j]*c.perVariance + spread(members, j, mean)*c.perMember", "variance = w.v[j] * c.perVariance"},
	{"fast_finish.go", "factor := w.factor[lane] * part.scaleFactor[j]", "factor := part.scaleFactor[j]"},
	{"fast_finish.go", "sum += d * d", "sum += 0.5 * d * d"},
	{"combine.go", "+ beside + start)", "+ 0.9*beside + start)"},
	{"fast_finish.go", "f.plain.intervals.beside[k] + start", "0.9*f.plain.intervals.beside[k] + start"},
	{"fast_interval.go", "log -= b * c.Centre[j]", "log += b * c.Centre[j]"},
	{"fast_interval.go", "return b * scale", "return 0.9 * b * scale"},
	{"interval.go", "const leastShare = 0.1", "const leastShare = 0.11"},
	{"interval.go", "log := v.perChannel[k]", "log := 0.9 * v.perChannel[k]"},
	{"interval.go", "most := v.bound[at] + displacement*displacement", "most := 1e-3 * v.bound[at]"},
	{"model/calibration.go", "dst[j], dst[j+1] = (b-s)/(b-a), (s-a)/(b-a)", "dst[j], dst[j+1] = (s-a)/(b-a), (b-s)/(b-a)"},
	{"knots.go", "dst[j], dst[j+1] = -slope, slope", "dst[j], dst[j+1] = -slope, 2*slope"},

	// What acts of the inputs.
	{"actuator/response.go", "return -math.Expm1(-(t - r.Dead) / r.Lag)", "return -math.Expm1(-(t - r.Dead) / r.Lag * 1.1)"},
	{"actuator/response.go", "return math.Exp(-math.Max(dt, 0) / r.Lag)", "return math.Exp(-1.1 * math.Max(dt, 0) / r.Lag)"},
	{"actuator/response.go", "return (commands - r.Lag*(to-from)) / time", "return (commands - 0.9*r.Lag*(to-from)) / time"},
	{"actuator/output.go", "t += tiny - o.responses[p].Dead", "t += tiny - 0.9*o.responses[p].Dead"},
	{"actuator/output.go", "o.add(p, b, -r.Lag*y, y)", "o.add(p, b, 0, y)"},
	{"actuators.go", "a.out.Hold(-a.spec.Edges[j], history[(j+1)*a.row-P:(j+1)*a.row])", "a.out.Hold(-0.9*a.spec.Edges[j], history[(j+1)*a.row-P:(j+1)*a.row])"},
	{"actuators.go", "if row == 0 && !a.whole {", "if row == 0 && a.whole {"},
	{"dynamics/actuators.go", "weights[p*n+j] = w; math.Abs(w) < leastWeight", "weights[p*n+j] = 0.9 * w; math.Abs(w) < leastWeight"},
	{"dynamics/actuators.go", "if row == 0 && c.past == program.None {", "if row == 0 && c.past != program.None {"},

	// Programs: sixteen questions at once.
	{"batch_block.go", "means[j] = x0[j%K] + d", "means[j] = x0[j%K] + 0.999*d"},
	{"program/matrix.go", "X: any(m.ones).([]float32), K: 1", "X: any(m.ones).([]float32), K: 0"},
	{"program/weigh.go", "addScaled(y, 1, o.c.block(b, n))", "addScaled(y, 0.9, o.c.block(b, n))"},
	{"program/weigh.go", "at := r*len(x)/l.rows", "at := (l.rows-1-r)*len(x)/l.rows"},
	{"program/columns.go", "addScaled(y[(e.to*each+b)*ly.stride:][:n], e.w,", "addScaled(y[(e.to*each+b)*ly.stride:][:n], 1,"},
	{"program/products.go", "y[i] += s * u[i] * w[i]", "y[i] += u[i] * w[i]"},
	{"program/repeat_value.go", "outer: m.asIs(k.out), in: k.in}, i-1)", "outer: m.asIs(k.out), in: k.in}, 0)"},
	{"dynamics/equation.go", "return s - curve, curve", "return s, curve"},
	{"dynamics/stack.go", "terms = append(terms, weighted{c.Times(w, difference), 1})", "terms = append(terms, weighted{c.Times(w, difference), 0.9})"},
	{"dynamics/direct.go", "W: 1 - share}", "W: 1}"},
	{"dynamics/signal.go", "-at.Factor*mean[p]/std[p]", "-0.9*at.Factor*mean[p]/std[p]"},
	{"dynamics/ensemble.go", "average = append(means, at.mean), append(average, weighted{at.mean, 1 / n})", "average = append(means, at.mean), append(average, weighted{at.mean, 0.99 / n})"},
	{"numeric/simd/kernels.go", "Single(-math.Atan2(sin, cos)/math.Pi)", "Single(-0.999*math.Atan2(sin, cos)/math.Pi)"},

	// Prior dynamics.
	{"prior.go", "dst[k] += w * d", "dst[k] += 0.99 * w * d"},
	{"prior.go", "b.spread[k] += w * w * b.variance[k]", "b.spread[k] += w * b.variance[k]"},
	{"prior.go", "return math.Max(0, squares-2*sum*mean+sum*sum)", "return math.Max(0, squares-sum*mean+sum*sum)"},
	{"prior_component.go", "\t\tdst[k] = s * e.share", "\t\tdst[k] = s * e.share / 4"},
	{"prior_fade.go", "f.factor[i] = (far - value) / (far - near)", "f.factor[i] = 1"},
	{"fast_prior.go", "f64.Scale(faded, weight, factor)", "f64.Scale(faded, weight, 1)"},
	{"fast_prior.go", "f64.Scale(faded[n*K:(n+1)*K], faded[n*K:(n+1)*K], f.ranges[n].Value)", "f64.Scale(faded[n*K:(n+1)*K], faded[n*K:(n+1)*K], 1)"},
	{"fast_prior.go", "dst[j] += weight[j] * weight[j] * v", "dst[j] += weight[j] * v"},
	{"priordynamics/rollout.go", "b := 0.5 * (p.db[k] - p.da[k])", "b := 0.45 * (p.db[k] - p.da[k])"},
	{"priordynamics/model.go", "psi[o] = a * b", "psi[o] = 1.001 * a * b"},
	{"priordynamics/ellipsoid.go", "s := 1 / math.Sqrt(square)", "s := 0.99 / math.Sqrt(square)"},
	{"priordynamics/ellipsoid.go", "addScaled(dv, -dot(g, dv), v)", "addScaled(dv, -0.9*dot(g, dv), v)"},
	{"priordynamics/ellipsoid.go", "addScaled(columns[i*K:(i+1)*K], -a, sum)", "addScaled(columns[i*K:(i+1)*K], -0.9*a, sum)"},
	{"dynamics/ellipsoid.go", "M: same(n, -0.5)", "M: same(n, -0.45)"},
	{"priordynamics/model.go", "v[L+p] = (c - m.UMean[p]) / m.UStd[p]", "v[L+p] = c / m.UStd[p]"},
	{"priordynamics/batch.go", "f.part[j]*d0 + f.curve[j]*(d1-d0)", "f.part[j]*d0 + 0.9*f.curve[j]*(d1-d0)"},
	{"priordynamics/batch_net.go", "dst[i*K+k] += scale * float64(", "dst[i*K+k] += 0.9 * scale * float64("},
	{"priordynamics/net.go", "dst[k] += w.m.NetScale[k] * o", "dst[k] += 0.99 * w.m.NetScale[k] * o"},
	{"priordynamics/body.go", "\tf = vec3{w[0] + tan*g, dg, sec * g}", "\tf = vec3{w[0] - tan*g, dg, sec * g}"},
	{"direct/map.go", "dst[k] = t * (d.v0[k] + g)", "dst[k] = t * (d.v0[k] + 0.98*g)"},
	{"direct/map.go", "ddst[k] = d.v0[k] + g + t*dg", "ddst[k] = d.v0[k] + g"},

	// Nets, features and kernels.
	{"feature/inputs.go", "in.Standardise(q, (end-from)/block)", "in.Standardise(q, 1)"},
	{"feature/inputs.go", "dst[c] += part * u", "dst[c] += 0.999 * part * u"},
	{"feature/phi.go", "unit := math.Sqrt(2 / float64(max(m.F, 1)))", "unit := math.Sqrt(1.99 / float64(max(m.F, 1)))"},
	{"feature/phi.go", "phi[q] = gb * b[q]", "phi[q] = 1.001 * gb * b[q]"},
	{"feature/rows.go", "b[o+i] = power * s[i]", "b[o+i] = power * s[i] * 1.001"},
	{"feature/exact.go", "rbf := a1 * math.Exp(-0.5*sq)", "rbf := a1 * math.Exp(-0.49*sq)"},
	{"fast_start.go", "in.Standardise(p.scratch, (t-from)/length)", "in.Standardise(p.scratch, 1)"},
	{"fast_start.go", "w.square += v * v", "w.square += 2 * v * v"},
	{"fast_member.go", "v[lane] += float64(s)", "v[lane] += 0.99 * float64(s)"},
	{"fast_member.go", "v += float64(e.mu.B[row])", "v += 1.01 * float64(e.mu.B[row])"},
	{"fast_compile.go", "prior: [2]float64{amp[0] * amp[0] * float64(F/2)", "prior: [2]float64{amp[0] * amp[0] * float64(F)"},
	{"fast_compile.go", "f.omega = append(f.omega, simd.Single(o/math.Pi))", "f.omega = append(f.omega, simd.Single(1.001*o/math.Pi))"},
	{"fast_triangularise.go", "t.below[B+c][r] = amp[0] * v", "t.below[B+c][r] = 0.99 * amp[0] * v"},
	{"numeric/mlp/activate.go", "to[i] = v * (1 - v) * from[i]", "to[i] = v * from[i]"},
	{"numeric/mlp/activate.go", "to[i] = (1 - v*v) * from[i]", "to[i] = (1 - v) * from[i]"},

	// Direct maps with history.
	{"direct/map.go", "row[k] = x - x0[k]\n", "row[k] = x\n"},
	{"direct/map.go", "row, history = row[K+P:], history[K+P:]", "row = row[K+P:]"},
	{"direct/map.go", "row[k] = -v\n", "row[k] = 0 * v\n"},
	{"direct/map.go", "tangent[1+i] = d.slope[i] * d.dx[of]", "tangent[1+i] = d.dx[of]"},
	{"direct/map.go", "dst[k] += t * d.dx[v]", "dst[k] += d.dx[v]"},
	{"direct/model.go", "return i, (t - l.Times[i]) * perSecond, perSecond", "return i, 0.99 * (t - l.Times[i]) * perSecond, perSecond"},
	{"direct/map.go", "((to*d.after[p]-from*d.before[p])/(to-from) - v)", "(d.after[p] - v)"},
	{"direct/map.go", "tangent[1+m.Lift.Dim()+i] /= m.UStd[i%P]", "tangent[1+m.Lift.Dim()+i] *= m.UStd[i%P]"},
	{"direct/batched.go", "row[k] += share * (v - row[k])", "row[k] += share * share * (v - row[k])"},
	{"direct/batched.go", "c = append(c, a*v)", "c = append(c, 1.01*a*v)"},
	{"direct/batched.go", "c = append(c, d.column[linear:1+d.m.Linear(l.Level)]...)", "c = append(c, make([]float64, 1+d.m.Linear(l.Level)-linear)...)"},
	{"direct/batched_jacobian.go", "row[L+c] = 1", "row[L+c] = 0.9"},
	{"direct/batched_jacobian.go", "simd.Single(t * (1 - share) * c)", "simd.Single((1 - share) * c)"},
	{"direct/batched_jacobian.go", "dst[at] += a * dz[j]", "dst[at] += 0.9 * a * dz[j]"},
	{"direct/batched_inputs.go", "add(lane+p, l.plan+p, t/std)", "add(lane+p, l.plan+p, 0.5*t/std)"},
	{"direct/batched_inputs.go", "f64.AddScaled(row, l.share[i], next)", "f64.AddScaled(row, 1, next)"},
	{"direct/agreement.go", "share := 1 / (1 + q)", "share := 1 / (1 + 2*q)"},
	{"direct/agreement.go", "out.own = (1 - q) * share * share", "out.own = share"},
	{"direct/bounded.go", "+ a.byApart*rate", "+ 0*rate"},
	{"direct/agreement.go", "return a.beyond * (a.beyond - (a.value - a.bound))", "return a.beyond * a.beyond"},
	{"direct/model.go", "return t * v, v + t*slope", "return v, slope"},
	{"direct/batched_bounded.go", "a.shares[1+g.nearest][j] = 1 - g.own", "a.shares[1+g.nearest][j] = 0"},
	{"fast_direct.go", "b.addLevel(dst, below.Batched, shares[1+i][lane*K:(lane+1)*K], lane)", "_, _ = i, below"},
	{"fast_prior_jacobian.go", "j.addLevel(dst, d, 1+i, K, block)", "_ = i"},
	{"dynamics/direct.go", "weighted{beyond, 1}, weighted{kept, -1}", "weighted{beyond, 1}, weighted{kept, -0.9}"},
	{"direct/range.go", "outside = 4.0", "outside = 5.0"},
	{"direct/range.go", "slope := -math.Copysign", "slope := math.Copysign"},
	{"direct/range.go", "most.raise(v-columns[i-P]", "most.raise(v+columns[i-P]"},
	{"direct/range.go", "f.By[1] = m.slope(-slope, of[1], t)", "f.By[1] = m.slope(slope, of[1], t)"},
	{"direct/range.go", "most.raise(after-past[K+p]", "most.raise(after-past[p]"},
	{"dynamics/leverage.go", "part(before, -1)", "part(before, 1)"},
	{"dynamics/leverage.go", "		first = row\n", "		before := row\n		_ = before\n"},
	{"fast_inputs.go", "slope *= f.prior.fade.factor[i]", "slope *= 0.9 * f.prior.fade.factor[i]"},
	{"prior.go", "slope += b.fade.factor[i] * b.ranges.Along", "slope -= b.fade.factor[i] * b.ranges.Along"},
	{"direct/leverage.go", "bar[i] *= 2 / (l.Rest * float64(n) * std)", "bar[i] *= 1.8 / (l.Rest * float64(n) * std)"},
	{"direct/leverage.go", "gradient[k] -= row[k]", "gradient[k] += row[k]"},

	// Covariance and tubes.
	{"correlation.go", "v := r[a*K+b]*remains*rest(start[b], std[b]) +", "v := r[a*K+b]*remains +"},
	{"correlation.go", "share[k] = math.Sqrt(math.Min(start[k], s*s)/v) / s", "share[k] = 0.9 * math.Sqrt(math.Min(start[k], s*s)/v) / s"},
	{"correlation.go", "c.P0[j] = 0.5 * (v + P0[j%K*K+j/K])", "c.P0[j] = 0.5 * (v - P0[j%K*K+j/K])"},
	{"correlation.go", "copy(out[:], j.Tube)", "copy(out[1:], j.Tube)"},
	{"correlation.go", "j.At(dst, c.K, c.taus[i])", "j.At(dst, c.K, 0.9*c.taus[i])"},
	{"correlation.go", "copy(dst, c.kinematic)", "clear(dst)"},
	{"model/joint.go", "r += weight * (j.Correlation[i+1][at] - r)", "r += weight * weight * (j.Correlation[i+1][at] - r)"},
	{"process.go", "out[a*K+b] = math.Sqrt(float64((2*n+1)*(2*m+1))) / float64(n+m+1)", "out[a*K+b] = 1 / float64(n+m+1)"},
	{"process.go", "move = math.Pow(h, float64(j-i)) / factorial(j-i)", "move = math.Pow(h, float64(j-i))"},
	{"process.go", "math.Pow(t, float64(order)+0.5))", "math.Pow(t, float64(order)+0.4))"},

	// Trajectories and violations.
	{"joint.go", "row[b] -= row[c] * f.process[c*K+b]", "row[b] += row[c] * f.process[c*K+b]"},
	{"joint.go", "f.rest[j] = rest(start, std)", "f.rest[j] = 1"},
	{"joint.go", "f.carried[c*n+j] *= share", "f.carried[c*n+j] *= 0.9 * share"},
	{"trajectories.go", "dst[j] = s.mean[j] + s.std[j]*z", "dst[j] = s.mean[j] + 0.9*s.std[j]*z"},
	{"trajectories.go", "z += e * f.carried[r*len(f.rest)+j]", "z -= e * f.carried[r*len(f.rest)+j]"},
	{"violation.go", "return 0.5 * math.Erfc(-mean/math.Sqrt(2*variance))", "return 0.5 * math.Erfc(-mean/math.Sqrt(variance))"},
	{"violation.go", "variance += carried * carried", "variance += 0 * carried"},
	{"violation.go", "if v < box[k] || v > box[len(x)+k] {", "if v < box[k] && v > box[len(x)+k] {"},
	{"violation.go", "whole += 1 / float64(n)", "whole += 0.5 / float64(n)"},

	// Jacobians and gradients.
	{"gradient.go", "dst.X0[j%K] += b", "dst.X0[j%K] += 0.9 * b"},
	{"gradient.go", "a.input[c] = at.Factor * machine", "a.input[c] = machine"},
	{"gradient.go", "dst.X0[k] -= machine", "dst.X0[k] += machine"},
	{"program/products.go", "abar[t.a] += s * b[t.b]", "abar[t.a] += 0.9 * s * b[t.b]"},
	{"program/clamp.go", "to[r] += bar[r]", "to[r] += 0.9 * bar[r]"},
	{"program/features.go", "return -f.omega[(j-f.half)*f.D+d] * f.weights[j-f.half]", "return f.omega[(j-f.half)*f.D+d] * f.weights[j-f.half]"},
	{"program/matrix.go", "addScaled(x[:a.cols], v, a.dense[r*a.cols:(r+1)*a.cols])", "addScaled(x[:a.cols], 0.9*v, a.dense[r*a.cols:(r+1)*a.cols])"},
	{"program/function.go", "return y * (1 - y)", "return y"},
	{"fast_jacobian.go", "c.factors = append(c.factors, 1)", "c.factors = append(c.factors, 0.99)"},
	{"fast_covariance.go", "dst[(i*K+k)*K+c] = float64(row[c*simd.Width+lane])", "dst[(i*K+c)*K+k] = float64(row[c*simd.Width+lane])"},
	{"input_jacobian.go", "share := p.scratch[input] * (to - from) / length /", "share := p.scratch[input] * length / length /"},
	{"priordynamics/batch_inputs.go", "parts = append(parts, j.inputPart(i, f.inputs.input))", "_ = parts"},

	// Adaptation.
	{"adapt/correct.go", "mean[k] += moved", "mean[k] -= moved"},
	{"adapt/correct.go", "obsStd[k] = obs + added", "obsStd[k] = obs + 0.9*added"},
	{"adapt/correct.go", "added += slope * variance", "added += 0 * variance"},
	{"adapt/instants.go", "p.share = min((tau-fractions[b-1])*p.shareRate, 1)", "p.share = 1"},
	{"adapt/gate.go", "slope: 0.5*w[half] + whole", "slope: w[half] + whole"},
	{"adapt/gate.go", "w[i] *= math.Exp(-temper * (scores[i] - least))", "w[i] *= math.Exp(-scores[i] + least)"},
	{"adapt/learn.go", "f.state.Theta[i] += f.gain[i] * e / total", "f.state.Theta[i] += f.gain[i] * e / r"},
	{"adapt/learn.go", "v := f.product[i*q+j] - ts*f.gain[j]/total + f.gain[i]*r*f.gain[j]/(total*total)", "v := f.product[i*q+j] - 0.9*ts*f.gain[j]/total"},
	{"adapt/learn.go", "f.regress(st.Rests[at*F:(at+1)*F], e-delta, obs)", "f.regress(st.Rests[at*F:(at+1)*F], e, obs)"},
	{"adapt/regression.go", "p := P[i*n+j] - a*b/total", "p := P[i*n+j] - 0.9*a*b/total"},
	{"adapt/regression.go", "c.at[0] = constant", "c.at[0] = 1"},
	{"adapt/effective.go", "v[i+p] *= 1 + g", "v[i+p] *= 1 - g"},
	{"adapt/effective.go", "clear(e.still[K : K+P])", "_ = e.still"},
	{"adapt/effective.go", "scale(e.query.History, gains, K, K+P)", "scale(e.query.History, gains, K, K+P+1)"},
	{"adapt/effective.go", "f64.AddScaled(dst.Mean[i*K:(i+1)*K], times, c.delta)", "f64.AddScaled(dst.Mean[i*K:(i+1)*K], 0.9*times, c.delta)"},
	{"adapt/filter.go", "f.state.Covariance[i] *= a * a\n", "f.state.Covariance[i] *= a\n"},
	{"adapt/observe.go", "f.y[k] = f.x[k] + share*d", "f.y[k] = f.x[k] + 0.5*share*d"},
	{"adapt/inputs.go", "v*dt\n", "v*dt/2\n"},
	{"adapt/past.go", "delta[k] -= (a*wa[k] + b*wb[k]) * (g0[k] + share*(g1[k]-g0[k]))", "delta[k] += (a*wa[k] + b*wb[k]) * (g0[k] + share*(g1[k]-g0[k]))"},
	{"adapt/past.go", "{(from + to) / 2, 4. / 6}", "{(from + to) / 2, 3. / 6}"},
	{"priordynamics/adapted.go", "a.inc[k] += a.unit[k] * theta[K+len(u)+i] * a.v[a.own[i]]", "a.inc[k] -= a.unit[k] * theta[K+len(u)+i] * a.v[a.own[i]]"},
	{"priordynamics/adapted.go", "a.gained[p] = v * (1 + theta[K+p])", "a.gained[p] = v + theta[K+p]"},
	{"priordynamics/adapted.go", "dd[j] += a.unit[j]", "dd[j] += 0.9 * a.unit[j]"},
}

// What is changed is in the sources.
func TestBrokenBuildsChangeTheSources(t *testing.T) {
	for _, b := range brokenBuilds {
		source, err := os.ReadFile(b.file)
		if err != nil {
			t.Error(err)
		} else if strings.Count(string(source), b.old) == 0 {
			t.Errorf("%s: %q is not in it: change what replaced it", b.file, b.old)
		}
	}
}

// Each broken build refuses a model that the true one serves. A build takes seconds: DGM_SLOW=all tries all of them,
// every other value every third one.
func TestBrokenBuildsAreRefusedAtLoad(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("builds a program for each change of the sources; DGM_SLOW=1 runs it")
	}
	var tried []brokenBuild
	for i, b := range brokenBuilds {
		if i%3 == 0 || os.Getenv("DGM_SLOW") == "all" {
			tried = append(tried, b)
		}
	}
	if len(tried) < 50 {
		t.Fatalf("%d builds", len(tried))
	}
	if out, err := builtProgram(t, "", ""); err != nil {
		t.Fatalf("the true build: %v: %s", err, out)
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, b := range tried {
		t.Run(b.file, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			source, err := os.ReadFile(b.file)
			if err != nil {
				t.Fatal(err)
			}
			out, err := builtProgram(t, b.file, strings.Replace(string(source), b.old, b.new, 1))
			switch exit, ran := err.(*exec.ExitError); {
			case err == nil:
				t.Errorf("starts with %q", b.new)
			case !ran || exit.ExitCode() != 1 || strings.Contains(string(out), ".go:"):
				t.Errorf("%v: %s", err, out)
			default:
				t.Logf("%q: %s", b.new, out)
			}
		})
	}
}

// builtProgram builds testdata/verify with another source of a file, "" = none, and runs it.
func builtProgram(t *testing.T, file, source string) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	program, replaced, overlay := filepath.Join(dir, "verify"), filepath.Join(dir, "replaced.go"), filepath.Join(dir, "overlay.json")
	args := []string{"build", "-p", "1", "-o", program}
	if file != "" {
		whole, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: replaced}})
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string][]byte{replaced: []byte(source), overlay: b} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.Command("go", append(args, "./testdata/verify")...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return exec.Command(program, "testdata/pendulum.dgm").CombinedOutput()
}
