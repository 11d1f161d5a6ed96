"""The rate of an angle that nothing measures: our filter beside what a user would write.

    pip install numpy scipy filterpy
    python python/studies/estimation.py --data ../shared/data --programs BIN

trains on the recorded pendulums of the folder --data (multiarm-pendulum/derived), angles alone, with the programs
dgm-bridge, dgm-train and dgm-eval of the folder BIN, and prints a table: for each estimator the error of the rate against
the published one, that of the angle against the one without noise, and the error of predictions that the same predictor
makes of each estimate, over that of holding the last angle, geometric mean over the horizons. The predictor is a ridge regression on sines, cosines and rates up to third
order; of ours the error of the whole model is beside it. Noise is drawn with seed 1.

FilterPy's filters have constant velocity or constant acceleration for a model; their noises maximise the likelihood of the
innovations on the training segments, as ours do. Both processes are linear in these states, so that an EKF is the Kalman
filter; the UKF is there to show that it is, too. The polynomial is the causal end of a Savitzky-Golay filter, with the
window that predicts the training segments best.
"""

import argparse
import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from filterpy.common import Q_continuous_white_noise
from filterpy.kalman import KalmanFilter, MerweScaledSigmaPoints, UnscentedKalmanFilter
from scipy.optimize import minimize

HORIZONS = {"single": [0.05, 0.1, 0.2, 0.5, 1.0], "double": [0.05, 0.1, 0.2, 0.5]}
TESTS = {"single": ["id_1"], "double": ["id_3", "id_8", "id_13", "id_18"]}


def segments(path):
    """Returns {name: (t, angles, rates)}, with angles (n, m) unwrapped."""
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    angles = [k for k in rows[0] if k.startswith("theta")]
    rates = [k for k in rows[0] if k.startswith("omega")]
    out = {}
    for (split, segment), part in itertools.groupby(rows, lambda r: (r["split"], r["segment"])):
        part = list(part)
        column = lambda keys: np.array([[float(r[k]) for k in keys] for r in part])
        out[f"{split}_{segment}"] = (column(["t"])[:, 0], np.unwrap(column(angles), axis=0), column(rates))
    return out


def kalman(order, dt, q, r, ukf=False):
    """A filter of constant velocity (order 2) or constant acceleration (3)."""
    F = np.eye(order)
    for i in range(order):
        for j in range(i + 1, order):
            F[i, j] = dt ** (j - i) / np.prod(range(1, j - i + 1))
    Q = Q_continuous_white_noise(order, dt, q)
    if ukf:
        points = MerweScaledSigmaPoints(order, 0.1, 2.0, 3 - order)
        f = UnscentedKalmanFilter(order, 1, dt, lambda x: x[:1], lambda x, _: F @ x, points)
    else:
        f = KalmanFilter(order, 1)
        f.F, f.H = F, np.eye(1, order)
    f.Q, f.R = Q, np.array([[r]])
    return f


def run(f, y):
    """Returns the estimates (n, order) and the mean log likelihood of an innovation."""
    order = len(f.x)
    f.x = np.zeros((order, 1)) if isinstance(f, KalmanFilter) else np.zeros(order)
    f.x.flat[0] = y[0]
    f.P = np.diag([float(f.R[0, 0]) + 1e-12, 100.0, 1e4][:order])
    out, total = [], 0.0
    for i, v in enumerate(y):
        if i > 0:
            f.predict()
            f.update(np.array([v]))
            if i > 20:
                s = float(np.squeeze(f.S))
                nu = float(np.squeeze(f.y))
                total -= 0.5 * (np.log(2 * np.pi * s) + nu * nu / s)
        out.append(np.ravel(f.x).copy())
    return np.array(out), total / max(1, len(y) - 21)


def likeliest(order, dt, train):
    """Returns q and r that maximise the likelihood of the training segments, of some of their samples."""
    some = [y[:600] for y in train[:6]]

    def loss(p):
        q, r = np.exp(np.clip(p, -45, 25))
        with np.errstate(all="ignore"):
            v = -sum(run(kalman(order, dt, q, r), y)[1] for y in some)
        return v if np.isfinite(v) else 1e9

    noise = np.mean([np.var(np.diff(y, 3)) / 20 for y in some]) + 1e-14
    start = [np.log(np.mean([np.var(np.diff(y, 2)) for y in some]) / dt ** (3 if order == 2 else 5)), np.log(noise)]
    return np.exp(minimize(loss, start, method="Nelder-Mead", options={"maxfev": 120, "xatol": 0.05, "fatol": 1e-3}).x)


def polynomial(y, dt, window):
    """Returns angle and rate (n, 2) by a cubic through the last samples: the end of a Savitzky-Golay filter."""
    t = dt * np.arange(1 - window, 1)
    fit = np.linalg.pinv(np.vander(t, 4, increasing=True))[:2]
    out = np.full((len(y), 2), np.nan)
    for i in range(window - 1, len(y)):
        out[i] = fit @ y[i + 1 - window : i + 1]
    return out


def lift(x):
    """Sines and cosines of the angles and the rates (n, 3m), with products up to third order."""
    m = x.shape[1] // 2
    base = np.hstack([np.sin(x[:, :m]), np.cos(x[:, :m]), x[:, m:] / 10])
    columns = [np.ones(len(x))]
    for degree in (1, 2, 3):
        for c in itertools.combinations_with_replacement(range(base.shape[1]), degree):
            columns.append(np.prod(base[:, c], axis=1))
    return np.stack(columns, axis=1)


def predicted(train, test, dt, horizons):
    """Returns the error over hold of the ridge regression. train and test: [(x (n, 2m), measured, exact (n, m))]."""
    ratios = []
    for h in horizons:
        n = int(round(h / dt))

        def pairs(flights, of):
            a, b = [], []
            for f in flights:
                x, y = f[0][:-n], f[of][n:]
                ok = np.isfinite(x).all(axis=1) & (np.arange(len(x)) * dt > 0.2)
                a.append(x[ok])
                b.append((y - f[0][:-n, : y.shape[1]])[ok])
            return np.vstack(a), np.vstack(b)

        x, y = pairs(train, 1)
        A = lift(x)
        scale = A.std(axis=0) + 1e-12
        scale[0] = 1
        A = A / scale
        best = None
        half = len(A) // 2
        for penalty in 10.0 ** np.arange(-12, 0):
            solve = lambda a, b: np.linalg.solve(a.T @ a + penalty * len(a) * np.eye(a.shape[1]), a.T @ b)
            e = np.mean((y[half:] - A[half:] @ solve(A[:half], y[:half])) ** 2)
            if best is None or e < best[0]:
                best = e, solve(A, y)
        x, y = pairs(test, 2)
        hold = np.vstack([(f[2][n:] - f[2][:-n]) for f in test])
        for k in range(y.shape[1]):
            e = y[:, k] - (lift(x) / scale) @ best[1][:, k]
            ratios.append(np.sqrt(np.mean(e**2)) / np.sqrt(np.mean(hold[:, k] ** 2)))
    return float(np.exp(np.mean(np.log(ratios))))


class Ours:
    """dgm-bridge, dgm-train and dgm-eval."""

    def __init__(self, programs, folder, system, angles):
        self.bin, self.dir, self.system = pathlib.Path(programs), pathlib.Path(folder), system
        lines = [f'vehicle = "{system}"', "[time]", 'column = "t"', 'unit = "s"', 'segment_column = "segment"']
        for k in range(angles):
            lines += ["[[channel]]", f'name = "theta{k}"', f'column = "theta{k}"', 'unit = "rad"', 'role = "state"', f"period = {2 * np.pi!r}"]
        (self.dir / "map.toml").write_text("\n".join(lines) + "\n")

    def log(self, name, flights, of):
        with open(self.dir / f"{name}.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["segment", "t"] + [f"theta{k}" for k in range(flights[0][1][of].shape[1])])
            for segment, data in flights:
                for t, row in zip(data[0], data[of]):
                    w.writerow([segment, f"{t:.6f}"] + [f"{v:.9g}" for v in row])
        self.call("dgm-bridge", "import", "csv", "--map", self.dir / "map.toml", self.dir / f"{name}.csv", "--out", self.dir / f"{name}.msgpack")

    def call(self, program, *args):
        done = subprocess.run([str(self.bin / program), *map(str, args)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{program} {' '.join(map(str, args))}: {done.stderr}")
        return done.stdout

    def estimates(self, name):
        """Returns {segment: estimates (n, 2m)} and the scores of dgm-eval."""
        truth = ["--truth", self.dir / "exact.msgpack"] if name == "test" else []
        text = self.call("dgm-eval", "--model", self.dir / "m.dgm", "--log", self.dir / f"{name}.msgpack", "--estimates", self.dir / "e.csv", "--json", *truth)
        out = {}
        with open(self.dir / "e.csv", newline="") as f:
            for r in csv.DictReader(f):
                v = [float(r[k]) if r[k] else np.nan for k in r if k not in ("segment", "t") and not k.endswith("_std")]
                out.setdefault(r["segment"], []).append(v)
        return {k: np.array(v) for k, v in out.items()}, json.loads(text)


def case(args, system, every, noise):
    rng = np.random.default_rng(1)
    flights = {}
    for name, (t, x, v) in segments(args.data / "multiarm-pendulum" / "derived" / f"{system}_200hz.csv").items():
        x, v, t = x[::every], v[::every], t[::every]
        flights[name] = (t, x + noise * rng.standard_normal(x.shape), x, v)
    dt = float(np.median(np.diff(next(iter(flights.values()))[0])))
    train = [(k, f) for k, f in flights.items() if k not in TESTS[system]]
    test = [(k, f) for k, f in flights.items() if k in TESTS[system]]
    m = test[0][1][1].shape[1]
    horizons = HORIZONS[system]

    def score(name, estimate):
        of = lambda all: [(estimate(k, f), f[1], f[2]) for k, f in all]
        a, b = of(train), of(test)
        off = np.concatenate([(x - np.hstack([f[2], f[3]]))[20:] for (x, _, _), (_, f) in zip(b, test)])
        angle, rate = (np.sqrt(np.nanmean(part**2)) for part in (off[:, :m], off[:, m:]))
        print(f"| {name} | {rate:.3f} | {1000 * angle:.2f} | {predicted(a, b, dt, horizons):.4f} |", flush=True)

    print(f"\n{system}, {1 / dt:.0f} Hz, noise {noise} rad: errors of rate (rad/s) and angle (mrad), error over hold of the same predictor\n")
    print("| estimator | rate | angle | predictor |\n|---|---|---|---|")
    score("published rate", lambda _, f: np.hstack([f[1], f[3]]))
    column = lambda one: lambda _, f: np.hstack([z[:, :1] for z in one(f)] + [z[:, 1:2] for z in one(f)])
    for label, order, ukf in (("Kalman filter, constant velocity", 2, False), ("Kalman filter, constant acceleration", 3, False), ("UKF, constant acceleration", 3, True)):
        noises = [likeliest(order, dt, [f[1][:, k] for _, f in train]) for k in range(m)]
        score(label, column(lambda f: [run(kalman(order, dt, *noises[k], ukf), f[1][:, k])[0] for k in range(m)]))
    best = min((7, 11, 15, 21, 31, 41), key=lambda w: np.nanmean([np.nanmean((polynomial(f[1][:, 0], dt, w)[:-1, :1] + dt * polynomial(f[1][:, 0], dt, w)[:-1, 1:] - f[1][1:, :1]) ** 2) for _, f in train]))
    score(f"cubic polynomial, {best} samples", column(lambda f: [polynomial(f[1][:, k], dt, best) for k in range(m)]))
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(args.programs, folder, system, m)
        ours.log("train", train, 1)
        ours.log("test", test, 1)
        ours.log("exact", test, 2)
        ours.call("dgm-train", "--preset", "quick", "--horizon", f"{int(1000 * horizons[-1])}ms", "--log", pathlib.Path(folder) / "train.msgpack", "--out", pathlib.Path(folder) / "m.dgm")
        known = {**ours.estimates("train")[0]}
        tested, scores = ours.estimates("test")
        known.update(tested)
        near = lambda x, y: np.hstack([x[:, :m] + 2 * np.pi * np.round((y - x[:, :m]) / (2 * np.pi)), x[:, m:]])
        score("ours", lambda k, f: near(known[k], f[1]))
        print(f"\nours, the whole model: {scores['geo']['model']:.4f} over hold; normalised innovations squared {scores['filter']['nis']:.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--programs", type=pathlib.Path, required=True)
    args = p.parse_args()
    case(args, "single", 1, 0.0)
    case(args, "single", 1, 0.01)
    case(args, "single", 4, 0.01)
    case(args, "double", 1, 0.0)


if __name__ == "__main__":
    main()
