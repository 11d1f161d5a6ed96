"""Models of simulated robots, judged on a manoeuvre that is not in their training, and pictures of their predictions.

    pip install ./python numpy rotorpy mujoco jsbsim        # at the top of the repository; needs Go
    cd python/studies && python -m robots --out /tmp/robots

flies each robot five times for training and twice otherwise for the test, trains by dgm-train with and without an equation of motion,
scores by dgm-eval, lets something change in flight and asks dgm-eval --faults what it was. It writes robots.jsonl (rows for
cmd/dgm-bench/results), and with --pictures a picture of each robot. What is there already is not made anew.
"""
import argparse
import datetime
import importlib
import json
import math
import os
import pathlib
import sys
import tempfile

import numpy as np

import dgm
from dgm import log, programs

from . import HORIZON, picture, unchanged

ROBOTS = ("car", "boat", "drive", "quadrotor", "airplane", "arm")
TRAINING, TEST = 5, 2
CALM = 15.0  # s of a flight before something changes


def sensors(robot):
    """The standard deviations (K) of a robot's sensors: a share of what the states change by in the horizon, in the first flight for training."""
    times, states, _ = robot.fly(np.random.default_rng(0), "training", robot.seconds)
    ahead = max(1, round(HORIZON / (times[1] - times[0])))
    return robot.noise * (states[ahead:] - states[:-ahead]).std(0)


def flights(robot, manoeuvre, seeds, changed=unchanged):
    """Flights as fit takes them: times, measured states and inputs, each a list."""
    t, x, u = [], [], []
    noise = sensors(robot)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        times, states, inputs = robot.fly(rng, manoeuvre, robot.seconds, changed)
        t.append(times)
        x.append(states + noise * rng.standard_normal(states.shape))
        u.append(inputs)
    return t, x, u


def settings(folder, equation):
    """A settings file, with or without an equation of motion."""
    path = pathlib.Path(folder) / "settings.toml"
    path.write_text(f"[equation]\nmotion = {str(equation).lower()}\n")
    return path


def train(robot, data, out, preset, equation):
    """The report of a training; the model is written to out."""
    if not out.exists():
        columns = log.channels(robot.states, robot.inputs, robot.units, {}, None, log.flights(*data))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "flights.msgpack")
            log.write(path, "robot", log.flights(*data), columns)
            arguments = ["--log", path, "--out", str(out), "--horizon", f"{HORIZON}s", "--preset", preset, "--config", str(settings(folder, equation))]
            programs.document("dgm-train", arguments, programs.printer("dgm-train"))
    return json.loads(out.with_suffix(".report.json").read_text())


def evaluate(robot, model, data, *more):
    """The document of dgm-eval."""
    columns = log.channels(robot.states, robot.inputs, robot.units, {}, None, log.flights(*data))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "flights.msgpack")
        log.write(path, "robot", log.flights(*data), columns)
        nominal = []
        for i, other in enumerate(more):
            nominal += ["--nominal", os.path.join(folder, f"nominal{i}.msgpack")]
            log.write(nominal[-1], "robot", log.flights(*other), columns)
        return programs.document("dgm-eval", ["--model", str(model), "--log", path, *(["--faults", *nominal] if more else [])])


def error(document, predictor, last=False):
    """RMSE over that of holding the last value, geometric mean over channels and horizons, or of the last one."""
    of = document["horizons"][-1:] if last else document["horizons"]
    ratios = [c[predictor] / c["hold"] for h in of for c in h["channels"] if c.get(predictor) and c["hold"] > 0]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def row(name, robot, preset, folder):
    """What the table has of a robot."""
    training, test = flights(robot, "training", range(TRAINING)), flights(robot, "test", range(100, 100 + TEST))
    report = train(robot, training, folder / f"{name}.dgm", preset, True)
    train(robot, training, folder / f"{name}-without.dgm", preset, False)
    with_, without = evaluate(robot, folder / f"{name}.dgm", test), evaluate(robot, folder / f"{name}-without.dgm", test)
    cells = [(c["coverage95"], f"{c['name']}, {h['t']:g} s") for h in with_["horizons"] for c in h["channels"]]
    least, worst = min(cells)
    mean = lambda of, key: [round(float(np.mean([c[key] for c in h["channels"]])), 4) for h in of["horizons"]]
    equation = report.get("equation") or {}
    return {
        "set": name, "variant": preset, "seed": 1, "robot": robot.title, "plant": robot.plant, "test": robot.test, "equation": equation.get("kind", "none"),
        "geo": round(error(with_, "rmse"), 4), "geo_last": round(error(with_, "rmse", True), 4), "geo_without": round(error(without, "rmse"), 4), "geo_ridge": round(error(with_, "ridge"), 4),
        "geo_ridge_last": round(error(with_, "ridge", True), 4), "coverage95_by_horizon": mean(with_, "coverage95"), "coverage50_by_horizon": mean(with_, "coverage50"), "worst": worst,
        "worst_coverage95": round(least, 4), "cpu_seconds": round(report["cpu_seconds"]), "measured": f"{datetime.date.today()}, {os.cpu_count()} cores",
    }


def changes(name, robot, preset, folder):
    """Rows of what dgm-eval --faults names when something changes in flight."""
    model = folder / f"{name}.dgm"
    nominal = flights(robot, "training", range(200, 204))
    for text, (change, part) in robot.changes.items():
        named = []
        for seed in range(300, 303):
            found = evaluate(robot, model, flights(robot, "training", [seed], lambda t: change if t >= CALM else {}), nominal)["faults"]
            first = min(found, key=lambda f: f["t"], default=None)
            named.append(bool(first) and first["name"] == part and 0 <= first["t"] - CALM <= 3)
        yield {"set": name, "variant": f"{preset}/change", "seed": 1, "robot": robot.title, "change": text, "named": sum(named), "of": len(named), "measured": f"{datetime.date.today()}, {os.cpu_count()} cores"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder for models, robots.jsonl and pictures")
    p.add_argument("--robots", default=",".join(ROBOTS), help="which, by comma")
    p.add_argument("--preset", default="quick", choices=("quick", "default"))
    p.add_argument("--pictures", action="store_true", help="also write robots-NAME.svg")
    o = p.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for name in o.robots.split(","):
        try:
            robot = importlib.import_module(f"robots.{name}").ROBOT
            result = row(name, robot, o.preset, o.out)
        except ImportError as e:
            print(f"{name} is left out: {e}", file=sys.stderr)
            continue
        with (o.out / "robots.jsonl").open("a") as f:
            f.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)
        for result in changes(name, robot, o.preset, o.out):
            with (o.out / "robots.jsonl").open("a") as f:
                f.write(json.dumps(result) + "\n")
            print(json.dumps(result), flush=True)
        if o.pictures:
            test = flights(robot, "test", [100])
            picture.write(o.out / f"robots-{name}.svg", robot, dgm.Model.load(o.out / f"{name}.dgm"), *test)


if __name__ == "__main__":
    main()
