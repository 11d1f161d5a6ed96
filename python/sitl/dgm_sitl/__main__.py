"""A real firmware in the loop, from its first flight to the name of a worn propeller: python3 -m dgm_sitl --help."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time

from . import live, picture
from .firmware import Failed, Firmware, build
from .fly import fly
from .vehicles import VEHICLES

# Seed of each flight by its name. Those named nominal set the threshold of what counts as a fault. On the others something changes CHANGES s after the start.
TRAINING = {f"training-{i}": i for i in range(1, 9)}
NOMINAL = {f"nominal-{i}": 10 + i for i in range(1, 4)}
CHANGED = {"worn": 21, "loaded": 22}
CHANGES = 12.0  # s
HORIZON = "500ms"
SETTLED = "5s"  # of a blackbox log: before, the vehicle leaves the ground or is released, which no model of its flight predicts
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ("./cmd/dgm-bridge", "./cmd/dgm-train", "./cmd/dgm-eval", "./cmd/dgm-estimator", "github.com/nats-io/nats-server/v2")


def main():
    options = argparse.ArgumentParser(prog="dgm_sitl", description=(
        "Builds Betaflight for this computer, flies it on a multirotor of RotorPy and on an aircraft of JSBSim, learns a model of each from its blackbox, predicts live "
        "while a propeller wears out or the ailerons lose effect, and names the input. What is there already is used again: an interrupted run goes on where it was."))
    options.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/sitl"), help="folder of all that is made (default: %(default)s)")
    options.add_argument("--preset", default="quick", choices=["quick", "default"], help="of the training (default: %(default)s)")
    options.add_argument("--states", default="firmware", choices=["firmware", "sensors"],
                         help="what the estimators get in the live flight: what the firmware answers by MSP, or what its simulated sensors measure (default: %(default)s)")
    options.add_argument("--vehicle", choices=list(VEHICLES), action="append", help="which one (default: each)")
    o = options.parse_args()
    out = o.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("dgm_sitl: terminated"))  # and end what was started
    right = True
    try:
        for name in o.vehicle or VEHICLES:
            right &= report(Run(out, VEHICLES[name], o.preset, o.states))
    except Failed as e:
        sys.exit(f"dgm_sitl: {e}")
    except KeyboardInterrupt:
        sys.exit(f"dgm_sitl: interrupted; what was made is in {out}, the next run goes on")
    sys.exit(0 if right else 1)


def report(run):
    """Make a run, and return whether it named the input that was changed."""
    doc = run.all()
    worn, name = doc["worn"], run.vehicle.input
    busy = worn["answered"][0] < worn["states"] / 2  # then adaptation has learned from the log only
    how = "from the log; live this computer was too busy" if busy else "live and from the log"
    found, fault = worn["adaptation"]["named"] if busy else worn["named"], worn["fault"]
    right = fault is not None and (fault["kind"], fault["name"]) == ("actuator gain", name) and fault["since"] > CHANGES - 5 and found is not None and found["input"] == name
    print(f"dgm_sitl: {run.vehicle.name}: {name} was {'named, ' + how if right else 'not named'}; wrote {run.out / 'sitl.json'}, {run.out / 'sitl.svg'}")
    return right


class Run:
    def __init__(self, out: pathlib.Path, vehicle, preset: str, states: str):
        self.shared, self.out, self.vehicle, self.preset, self.states, self.began = out, out / vehicle.name, vehicle, preset, states, time.monotonic()
        self.out.mkdir(parents=True, exist_ok=True)

    def say(self, text):
        print(f"{time.monotonic() - self.began:5.0f} s  {self.vehicle.name}: {text}", flush=True)

    def program(self, name, *arguments, code=(0,)):
        """Run one of the repository's programs and return what it prints."""
        done = subprocess.run([self.shared / "bin" / name, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode not in code:
            raise Failed(f"{name} {' '.join(map(str, arguments))}: {(done.stderr or done.stdout)[-2000:]}")
        return done.stdout

    def all(self):
        self.tools()
        flights = {**TRAINING, **NOMINAL, "loaded": CHANGED["loaded"]}
        for i, (name, seed) in enumerate(flights.items()):
            self.flight(name, seed, self.vehicle.loaded if name == "loaded" else None, f"{i + 1} of {len(flights)}")
        model = self.train()
        doc = {"firmware": "Betaflight 4.6, SITL", "vehicle": self.vehicle.title, "states": self.states, "training": self.training}
        doc["worn"] = self.live("worn", CHANGED["worn"], model)
        nominal = [x for n in NOMINAL for x in ("--nominal", self.imported([n], n))]
        for name in CHANGED:
            faults = json.loads(self.program("dgm-eval", "--model", model, "--log", self.imported([name], name), "--faults", *nominal, "--json"))["faults"]
            doc.setdefault(name, {})["fault"] = faults[0] if faults else None
            doc[name]["adaptation"] = self.adaptation(model, self.out / f"{name}.msgpack")
            self.say(f"{name}: " + (describe(faults[0]) if faults else "no fault is named"))
        (self.out / "sitl.json").write_text(json.dumps(doc, indent=1) + "\n")
        picture.draw(self.out / "sitl.svg", doc, CHANGES)
        return doc

    def tools(self):
        self.firmware = build(self.shared / "firmware", self.vehicle.options, self.say)
        self.clock = self.shared / "clock.so"
        source = pathlib.Path(__file__).with_name("clock.c")
        for command in (["cc", "-O2", "-shared", "-fPIC", "-o", self.clock, source, "-ldl", "-lpthread"], ["go", "build", "-o", f"{self.shared / 'bin'}/", *PROGRAMS]):
            try:
                done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
            except FileNotFoundError:
                raise Failed(f"{command[0]} is not installed") from None
            if done.returncode != 0:
                raise Failed(f"{' '.join(map(str, command))}: {done.stderr[-1000:]}")
        self.settings = self.out / "settings"
        firmware = Firmware(self.firmware, self.clock, self.settings)
        try:
            firmware.configure(self.vehicle.parts.SETTINGS)
        finally:
            firmware.close()

    def flight(self, name, seed, change, which):
        log = self.out / name / "flight.bfl"
        if not log.exists():
            self.say(f"flight {which}: {name}, {self.vehicle.duration:g} s")
            fly(self.vehicle, self.firmware, self.clock, self.settings, log.parent, seed, self.vehicle.duration, change, CHANGES)

    def imported(self, names, to):
        """The flight log of blackbox logs."""
        path = self.out / f"{to}.msgpack"
        self.program("dgm-bridge", "import", "blackbox", "--preset", self.vehicle.preset, "--from", SETTLED, *(self.out / n / "flight.bfl" for n in names), "--out", path)
        return path

    def train(self):
        model, trained = self.out / f"{self.preset}.dgm", self.out / f"{self.preset}.json"
        log = self.imported(TRAINING, "training")
        if not trained.exists():  # it is written last
            self.say(f"training on {len(TRAINING)} blackbox logs, some minutes")
            trained.write_text(self.program("dgm-train", "--log", log, "--horizon", HORIZON, "--preset", self.preset, "--out", model, "--json"))
        doc = json.loads(trained.read_text())
        self.training = {k: doc[k] for k in ("cpu_seconds", "verdict") if k in doc}
        return model

    def adaptation(self, model, log):
        """What adaptation brings under the plan that was flown, by the time since the start of the log."""
        doc = json.loads(self.program("dgm-eval", "--model", model, "--log", log, "--adapt", "--json"))
        gains = {a["name"].removeprefix("gain "): (a["value"], a["std"]) for a in doc["adapted"]["amounts"] if a["name"].startswith("gain ")}
        return {"since": doc["adapted"]["since"], "amounts": doc["adapted"]["amounts"], "named": live.named([(self.vehicle.duration, gains)], CHANGES)}

    def live(self, name, seed, model):
        self.say(f"flight with an estimator, states of the {self.states}: after {CHANGES:g} s {self.vehicle.says}")
        directory = self.out / name

        def flown(watch):
            fly(self.vehicle, self.firmware, self.clock, self.settings, directory, seed, self.vehicle.duration, self.vehicle.worn, CHANGES, watch, paced=True)

        doc = live.run(self.shared / "bin", model, flown, CHANGES, self.vehicle.preset if self.states == "firmware" else "")
        if min(doc["answered"]) < 0.9 * doc["states"]:
            self.say(f"live: {min(doc['answered'])} of {doc['states']} states were answered; this computer is too busy to fly in real time, and states that are half a second late are not predicted from")
        self.say(f"live: {doc['rate_hz']:.0f} states a second")
        for when, rows in doc["scores"].items():
            for how, r in rows.items():
                self.say(f"live, {when}, {how}: error {r['error']:.3f} of holding, 95 % intervals covered {r['covered']:.1%} of {r['n']} values")
        found = doc["named"]
        self.say("live, adaptation: " + (f"{found['input']}: gain {found['gain']:.1f} ± {2 * found['std']:.1f} %, {found['after_s']:.1f} s after the change" if found else "no input"))
        return doc


def describe(f):
    return f"{f['kind']} of {f['name']}, {f['amount']:.1f} {f['unit']}, since {f['since']:.2f} s, named at {f['t']:.2f} s with {f['confidence']:.0%} of the likelihood; next: {f['second']}"


if __name__ == "__main__":
    main()
