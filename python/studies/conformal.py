"""Online conformal methods beside the factor of live trust, on the comparisons that `dgm-bench adapt --checks FILE` writes.

    pip install numpy
    python python/studies/conformal.py FILE

A comparison is the error of a prediction over its standard deviation, z; a method gives the factor by which an interval of 95 % was to be scaled when the
prediction was made, from what was compared until then. Methods, each for every channel and time of the horizon by itself:

* none: the model's own intervals
* split conformal: the quantile of the first 100 scores of the first flight (Vovk et al. 2005)
* EnbPI: the quantile of the last 100 scores (Xu & Xie 2021; the model is not refitted)
* ACI: adaptive conformal inference with steps of .01 on the last 256 scores (Gibbs & Candes 2021; MAPIE's TimeSeriesRegressor adapts the same way)
* DtACI: ACI with steps of .001 to .128, weighed by their pinball losses (Gibbs & Candes 2022, algorithm 1)
* conformal PID: quantile tracking with the integrator (Angelopoulos, Candes & Tibshirani 2023; without a scorecaster)
* SAOCP: online gradient descent of scale-free steps with experts of many lifetimes (Bhatnagar et al. 2023, algorithm 1)
* live trust: the factors that were published

Printed are, as a mean over changes: the share inside 95 % intervals, for the first two seconds of a change the same, the share in the worst channel, the width (a
geometric mean), the interval score over that of live trust (Gneiting & Raftery 2007), and the longest run of misses.
"""

import bisect
import csv
import math
import sys
from collections import defaultdict

ALPHA, HALF, LOWEST, HIGHEST = 0.05, 1.959963985, 0.5, 10.0


def bounded(q):
    return min(max(q, LOWEST), HIGHEST)


def quantile(ordered, p):
    """The ceil(p (n + 1))-th of n ordered scores, between them in proportion, and beyond the largest up to twice that."""
    n = len(ordered)
    rank = p * (n + 1)
    if rank >= n:
        return ordered[-1] * min(1 + rank - n, 2)
    if rank <= 1:
        return ordered[0]
    i = int(rank)
    return ordered[i - 1] + (rank - i) * (ordered[i] - ordered[i - 1])


def normal(n):
    """Scores of a true normal distribution, n of them."""
    from statistics import NormalDist

    return [NormalDist().inv_cdf(0.5 + 0.5 * (i + 0.5) / n) / HALF for i in range(n)]


class Window:
    """The last n scores, which begin as those of a normal distribution."""

    def __init__(self, n):
        start = normal(n)
        self.order = [start[i * 97 % n if math.gcd(97, n) == 1 else i] for i in range(n)]
        self.ordered, self.next = sorted(self.order), 0

    def add(self, score):
        old, self.order[self.next] = self.order[self.next], score
        self.next = (self.next + 1) % len(self.order)
        self.ordered.pop(bisect.bisect_left(self.ordered, old))
        bisect.insort(self.ordered, score)


class Off:
    factor = 1.0

    def add(self, score, published, separate):
        pass


class Split:
    def __init__(self):
        self.scores, self.factor = [], 1.0

    def add(self, score, published, separate):
        if len(self.scores) < 100:
            bisect.insort(self.scores, score)
            if len(self.scores) == 100:
                self.factor = bounded(quantile(self.scores, 1 - ALPHA))


class EnbPI:
    def __init__(self):
        self.window, self.factor = Window(100), 1.0

    def add(self, score, published, separate):
        self.window.add(score)
        self.factor = bounded(quantile(self.window.ordered, 1 - ALPHA))


class ACI:
    def __init__(self, step=0.01):
        self.window, self.step, self.alpha, self.factor = Window(256), step, ALPHA, 1.0

    def add(self, score, published, separate):
        self.window.add(score)
        if separate:
            self.alpha += self.step * (ALPHA - (score > published))
        self.factor = bounded(quantile(self.window.ordered, 1 - self.alpha))


class DtACI:
    STEPS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128]

    def __init__(self):
        n, interval = len(self.STEPS), 100
        self.window, self.alphas, self.weights, self.factor = Window(256), [ALPHA] * n, [1 / n] * n, 1.0
        self.share = 1 / (2 * interval)
        top = (1 - ALPHA) ** 2 * ALPHA**3 + ALPHA**2 * (1 - ALPHA) ** 3
        self.rate = math.sqrt(3 / interval) * math.sqrt((math.log(2 * n * interval) + 1) / top)

    def add(self, score, published, separate):
        ordered = self.window.ordered
        beta = 1 - bisect.bisect_left(ordered, score) / (len(ordered) + 1)
        if separate:
            losses = [ALPHA * (beta - a) if beta >= a else (1 - ALPHA) * (a - beta) for a in self.alphas]
            weights = [w * math.exp(-self.rate * loss) for w, loss in zip(self.weights, losses)]
            total = sum(weights)
            self.weights = [(1 - self.share) * w / total + self.share / len(weights) for w in weights]
            self.alphas = [a + step * (ALPHA - (a > beta)) for a, step in zip(self.alphas, self.STEPS)]
        self.window.add(score)
        self.factor = bounded(quantile(ordered, 1 - sum(w * a for w, a in zip(self.weights, self.alphas))))


class PID:
    """Quantile tracking with a step of a tenth of the largest recent score, and an integrator that saturates."""

    def __init__(self):
        self.q, self.sum, self.n, self.recent, self.factor = 1.0, 0.0, 0, [1.0], 1.0

    def add(self, score, published, separate):
        miss = float(score > published)
        self.recent = (self.recent + [score])[-100:]
        self.n, self.sum = self.n + 1, self.sum + miss - ALPHA
        self.q += 0.1 * max(self.recent) * (miss - ALPHA)
        x = self.sum * math.log(self.n + 1) / (5.0 * (self.n + 1))
        saturated = 2.0 * math.tan(min(max(x, -math.pi / 2 + 1e-3), math.pi / 2 - 1e-3))
        self.factor = bounded(self.q + saturated)


class SAOCP:
    """Experts begin at every check, live for 8 times the largest power of two in its number, and follow the quantile by scale-free steps."""

    def __init__(self):
        self.experts, self.t, self.factor = [], 0, 1.0

    def add(self, score, published, separate):
        self.t += 1
        lifetime, t = 8, self.t
        while t % 2 == 0:
            lifetime, t = 2 * lifetime, t // 2
        self.experts.append({"q": self.factor, "g": 0.0, "w": 0.0, "sum": 0.0, "n": 0, "end": self.t + lifetime, "prior": 1 / (self.t**2 * (1 + math.log(self.t)))})
        loss = lambda q: (1 - ALPHA) * (score - q) if score > q else ALPHA * (q - score)
        scale, combined = 10.0, loss(self.factor)
        for e in self.experts:
            gain = (combined - loss(e["q"])) / scale
            if e["w"] <= 0:
                gain = max(gain, 0.0)
            e["n"], e["sum"] = e["n"] + 1, e["sum"] + gain
            e["wealth"] = e.get("wealth", 0.0) + gain * e["w"]
            e["w"] = e["sum"] / e["n"] * (1 + e["wealth"])
            gradient = ALPHA - (score > e["q"])
            e["g"] += gradient**2
            e["q"] -= scale / math.sqrt(3) * gradient / math.sqrt(e["g"])
        self.experts = [e for e in self.experts if e["end"] > self.t]
        weights = [e["prior"] * max(e["w"], 0.0) for e in self.experts]
        total = sum(weights)
        if total <= 0:
            weights, total = [e["prior"] for e in self.experts], sum(e["prior"] for e in self.experts)
        self.factor = bounded(sum(w * e["q"] for w, e in zip(weights, self.experts)) / total)


METHODS = {"none": Off, "split conformal": Split, "EnbPI": EnbPI, "ACI": ACI, "DtACI": DtACI, "conformal PID": PID, "SAOCP": SAOCP}


def read(path):
    """Returns series by run: {run: (set, change, {(bucket, channel): [[(made, at, score, factor, separate), ...] of each flight]})}."""
    runs = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            _, _, series = runs.setdefault(int(row["run"]), (row["set"], row["change"], defaultdict(list)))
            checks = series[int(row["bucket"]), int(row["channel"])]
            made = int(row["made"]) * 1e-9
            if not checks or made < checks[-1][-1][0]:
                checks.append([])  # another flight
            checks[-1].append((made, int(row["at"]) * 1e-9, min(abs(float(row["z"])) / HALF, 1e6), float(row["factor"]), row["separate"] == "true"))
    return runs


def follow(flights, method):
    """Yields (flight, seconds since its start, score, factor) of a series; method None = what was published."""
    m = method() if method else None
    for n, checks in enumerate(flights):
        times, factors = [-math.inf], [m.factor if m else 1.0]
        for made, at, score, factor, separate in checks:
            published = factors[bisect.bisect_right(times, made) - 1] if m else factor
            yield n, made - checks[0][0], score, published
            if m:
                m.add(score, published, separate)
                times.append(at)
                factors.append(m.factor)


def measure(series, method):
    inside = first = checks = begun = width = score = 0.0
    worst, longest = 1.0, 0
    for flights in series.values():
        last = len(flights) - 1
        own = n = run = 0
        for flight, since, s, q in follow(flights, method):
            if flight == 0 and last > 0:
                continue  # before the change
            hit = s <= q
            run = 0 if hit else run + 1
            longest = max(longest, run)
            n, own, width, score = n + 1, own + hit, width + math.log(q), score + q + max(s - q, 0) / ALPHA
            if since < 2:
                begun, first = begun + 1, first + hit
        checks, inside = checks + n, inside + own
        if n >= 50:
            worst = min(worst, own / n)
    return inside / checks, first / max(begun, 1), worst, math.exp(width / checks), score / checks, longest


def main(path):
    runs = read(path)
    names = ["live trust", *METHODS]
    rows = defaultdict(lambda: defaultdict(list))
    for number, (set_, change, series) in sorted(runs.items()):
        print(f"{number} of {len(runs)}: {set_}, {change}", file=sys.stderr)
        kind = "recorded flights" if change == "recorded" else "no change" if change.endswith("none") else "false samples, and after" if change.startswith("false") else "changes of simulated robots, there and back"
        for name in names:
            rows[kind][name].append(measure(series, METHODS.get(name)))
    print("| | method | in 95 % | first 2 s | worst channel | width | interval score | longest run outside |\n|---|---|---|---|---|---|---|---|")
    for kind, methods in rows.items():
        ours = [r[4] for r in methods["live trust"]]
        for name in names:
            r = methods[name]
            mean = lambda i: sum(x[i] for x in r) / len(r)
            relative = math.exp(sum(math.log(x[4] / o) for x, o in zip(r, ours)) / len(r))
            width = math.exp(sum(math.log(x[3]) for x in r) / len(r))
            print(f"| {kind} ({len(r)}) | {name} | {mean(0):.3f} | {mean(1):.3f} | {mean(2):.2f} | {width:.2f} | {relative:.2f} | {max(x[5] for x in r)} |")


if __name__ == "__main__":
    main(sys.argv[1])
