"""A flight with estimators beside it: states go over NATS as the vehicle flies, predictions come back and are scored."""

import asyncio
import dataclasses
import math
import pathlib
import socket
import subprocess
import time

import numpy as np

from .firmware import COMMAND_LINE, Failed, dies_with_us, euler

KINDS = {"without adaptation": "off", "with adaptation": "on"}  # of estimators: what each is told about adaptation
FIRMWARE = "firmware"  # the vehicle whose states come by MSP
ATTEMPTS = 3  # to fly: now and then a firmware starts that accepts no connection
PAUSE = 0.1  # s, after a sample, when the vehicle flies as it will no more
LATER = 0.2  # s, of the predictions that are scored
CERTAIN = 4.0  # standard deviations of a gain that names an input
SETTLES = 3.0  # s after a change that are not scored: adaptation has to learn it first


def run(bin_: pathlib.Path, model: pathlib.Path, flown, changes: float, preset: str = ""):
    """Fly with estimators, and return their scores before and after the change, and a stretch to be drawn.

    preset -- states are what the firmware answers by MSP, with the channels of this preset; else what the simulated sensors measure
    """
    port = _free()
    url = f"nats://127.0.0.1:{port}"
    children = []

    def start(program, *arguments):
        with open(model.with_name(f"{program}.txt"), "w") as said:  # of two of a kind the last one's
            children.append(subprocess.Popen([bin_ / program, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=said, preexec_fn=dies_with_us))

    start("nats-server", "-a", "127.0.0.1", "-p", port)
    try:
        for i, adapt in enumerate(KINDS.values()):
            start("dgm-estimator", "--model", model, "--vehicle", f"robot{i}", "--nats", url, "--clock", "robot", "--adapt", adapt)
        if preset:
            start("dgm-bridge", "msp", "--link", f"tcp:127.0.0.1:{COMMAND_LINE}", "--vehicle", FIRMWARE, "--model", model, "--preset", preset, "--nats", url)
        doc = None
        for _ in range(ATTEMPTS):
            if doc := asyncio.run(_fly(url, flown, changes, bool(preset))):
                break
        if ended := [c.args[0] for c in children if c.poll() is not None]:
            raise Failed(f"{ended[0]} has ended during the flight; it says why in {model.with_name(ended[0].name + '.txt')}")
        if doc is None:
            raise Failed("the firmware answers nothing by MSP")
        return doc
    finally:
        for c in reversed(children):
            c.terminate()
        for c in children:
            try:
                c.wait(timeout=5)
            except subprocess.TimeoutExpired:
                c.kill()
                c.wait()


def _free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


async def _fly(url, flown, changes, by_msp):
    import dgm
    import msgpack
    import nats

    nc = await nats.connect(url)
    robots = [dgm.Live(nc, f"robot{i}") for i in range(len(KINDS))]
    predictions = [[] for _ in KINDS]

    async def listen(i):
        async for p in await robots[i].predictions():
            predictions[i].append(p)

    listening = [asyncio.create_task(listen(i)) for i in range(len(KINDS))]
    amounts = []  # what the estimator with adaptation has learned: time of flight, and the value and standard deviation of each gain
    sensed, states = Series(), {}  # what the simulated sensors measure, and the states that were sent, by number: time, as they have it, and values
    flight = Series()  # time of flight, by that of states as they come

    async def hear(statuses):
        async for doc in statuses:
            if sensed.t and doc.get("amounts"):
                gains = {a["name"].removeprefix("gain "): (a["value"], a["std"]) for a in doc["amounts"] if a["name"].startswith("gain ")}
                amounts.append((sensed.t[-1], gains))

    listening.append(asyncio.create_task(hear(await robots[list(KINDS.values()).index("on")].statuses())))
    seen = [-math.inf]  # when the last sample of the flight was
    loop, queue, base = asyncio.get_running_loop(), asyncio.Queue(), time.time()

    def watch(t, measured, inputs):  # in the thread of the flight
        x = [*euler(measured.attitude), *measured.rates]
        sensed.add(t, x)
        seen[0] = time.monotonic()
        if not by_msp:
            loop.call_soon_threadsafe(queue.put_nowait, (base + t, x, inputs))

    async def send():
        while True:
            t, x, u = await queue.get()
            flight.add(t, t - base)
            for r in robots:
                states[await r.send(x, t=t, u=u)] = t, x

    async def forward(m):  # what the firmware says, while the vehicle flies as it will
        if time.monotonic() - seen[0] < PAUSE:
            doc = msgpack.unpackb(m.data)
            states[doc["seq"]] = 1e-9 * doc["t"], np.frombuffer(doc["x"])
            flight.add(1e-9 * doc["t"], sensed.t[-1])
            for r in robots:
                await nc.publish("dgm.state." + r.vehicle, m.data)

    sending = asyncio.create_task(send())
    await nc.subscribe("dgm.state." + FIRMWARE, cb=forward)
    await asyncio.sleep(1)  # the estimators start
    await asyncio.to_thread(flown, watch)
    await asyncio.sleep(0.5)
    for task in (*listening, sending):
        task.cancel()
    await nc.close()
    if not states:
        return None
    numbers = sorted(states)
    measured = Series([states[n][0] - np.median(np.subtract(flight.t, flight.x)) for n in numbers], [states[n][1] for n in numbers])
    doc = scores(numbers, measured, predictions, changes)
    seconds = measured.t[-1] - measured.t[0]
    return {**doc, "states": len(states), "rate_hz": len(states) / seconds, "answered": [len(p) for p in predictions], "gains": amounts, "named": named(amounts, changes)}


@dataclasses.dataclass
class Series:
    """Values by time."""

    t: list = dataclasses.field(default_factory=list)
    x: list = dataclasses.field(default_factory=list)

    def add(self, t, x):
        self.t.append(t)
        self.x.append(x)


def named(amounts, changes):
    """The first input, and when, whose gain is CERTAIN standard deviations from none after the change, and half as far from that of every other."""
    for t, gains in amounts:
        farthest = sorted(gains, key=lambda n: -abs(gains[n][0]) / gains[n][1])
        name, value, std = farthest[0], *gains[farthest[0]]
        if t > changes and abs(value) > CERTAIN * std and all(abs(gains[n][0] - value) > CERTAIN / 2 * std for n in farthest[1:]):
            return {"input": name, "after_s": t - changes, "gain": value, "std": std}
    return None


def scores(numbers, states, predictions, changes):
    """Error over holding and share of the measurements in the intervals of 95 %, of what was predicted LATER s ahead.

    numbers -- of the states, which predictions name
    """
    t, x = np.array(states.t), np.array(states.x)
    x[:, 2] = np.unwrap(x[:, 2])
    place = {n: i for i, n in enumerate(numbers)}
    step = np.median(np.diff(t))
    doc = {"later_s": LATER, "channels": ["roll", "pitch", "yaw", "p", "q", "r"], "scores": {}, "time": t.tolist(), "measured": x.tolist(), "predicted": {}}
    for kind, got in zip(KINDS, predictions):
        mean, width, hold = (np.full_like(x, np.nan) for _ in range(3))
        for p in got:
            i = place.get(p.seq)
            if i is None:
                continue
            j = int(np.argmin(abs(t - t[i] - LATER)))
            if abs(t[j] - t[i] - LATER) > step:
                continue
            factor = 1 if p.factor is None else p.factor
            mean[j], width[j] = (at(t[j] - t[i], p.horizon, v) for v in (p.mean, 1.96 * p.obs_std * factor))
            hold[j] = x[i]
            mean[j, 2] += 2 * math.pi * round((x[j, 2] - mean[j, 2]) / (2 * math.pi))
        doc["predicted"][kind] = {"mean": mean.tolist(), "half": width.tolist()}
        for when, part in {"before the change": t < changes, "after it": t > changes + SETTLES}.items():
            ok = part & ~np.isnan(mean[:, 0])
            if not ok.any():
                continue
            off, still = x[ok] - mean[ok], x[ok] - hold[ok]
            error = np.exp(np.mean(np.log(np.sqrt((off**2).mean(axis=0)) / np.sqrt((still**2).mean(axis=0)))))
            doc["scores"].setdefault(when, {})[kind] = {"error": float(error), "covered": float((abs(off) <= width[ok]).mean()), "n": int(off.size)}
    return doc


def at(t, times, values):
    """Each column of values at time t."""
    return [np.interp(t, times, column) for column in values.T]
