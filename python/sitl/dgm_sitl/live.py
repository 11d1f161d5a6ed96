"""A flight with estimators beside it: states go over NATS as the vehicle flies, predictions come back and are scored."""

import asyncio
import math
import pathlib
import socket
import subprocess
import time

import numpy as np

from .firmware import Failed, dies_with_us, euler

KINDS = {"without adaptation": "off", "with adaptation": "on"}  # of estimators: what each is told about adaptation
LATER = 0.2  # s, of the predictions that are scored
CERTAIN = 4.0  # standard deviations of a gain that names an input
SETTLES = 3.0  # s after a change that are not scored: adaptation has to learn it first


def run(bin_: pathlib.Path, model: pathlib.Path, flown, changes: float):
    """Fly with estimators, and return their scores before and after the change, and a stretch to be drawn."""
    port = _free()
    children = [subprocess.Popen([bin_ / "nats-server", "-a", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=dies_with_us)]
    url = f"nats://127.0.0.1:{port}"
    try:
        for i, adapt in enumerate(KINDS.values()):
            children.append(subprocess.Popen([bin_ / "dgm-estimator", "--model", model, "--vehicle", f"robot{i}", "--nats", url, "--clock", "robot", "--adapt", adapt],
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=dies_with_us))
        doc = asyncio.run(_fly(url, flown, changes))
        if ended := [c.args[0] for c in children if c.poll() is not None]:
            raise Failed(f"{ended[0]} has ended during the flight")
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


async def _fly(url, flown, changes):
    import dgm
    import nats

    nc = await nats.connect(url)
    robots = [dgm.Live(nc, f"robot{i}") for i in range(len(KINDS))]
    predictions = [[] for _ in KINDS]

    async def listen(i):
        async for p in await robots[i].predictions():
            predictions[i].append(p)

    listening = [asyncio.create_task(listen(i)) for i in range(len(KINDS))]
    amounts = []  # what the estimator with adaptation has learned: time of flight, and the value and standard deviation of each gain

    async def hear(statuses):
        async for doc in statuses:
            if states and doc.get("amounts"):
                gains = {a["name"].removeprefix("gain "): (a["value"], a["std"]) for a in doc["amounts"] if a["name"].startswith("gain ")}
                amounts.append((states[-1][0], gains))

    listening.append(asyncio.create_task(hear(await robots[list(KINDS.values()).index("on")].statuses())))
    loop, states, queue = asyncio.get_running_loop(), [], asyncio.Queue()

    def watch(t, sensed, inputs):  # in the thread of the flight
        loop.call_soon_threadsafe(queue.put_nowait, (t, [*euler(sensed.attitude), *sensed.rates], inputs))

    async def send():
        base = time.time()
        while True:
            t, x, u = await queue.get()
            states.append((t, x))
            for r in robots:
                await r.send(x, t=base + t, u=u)

    sending = asyncio.create_task(send())
    await asyncio.sleep(1)  # the estimators start
    await asyncio.to_thread(flown, watch)
    await asyncio.sleep(0.5)
    for task in (*listening, sending):
        task.cancel()
    await nc.close()
    return {**scores(states, predictions, changes), "states": len(states), "answered": [len(p) for p in predictions], "gains": amounts, "named": named(amounts, changes)}


def named(amounts, changes):
    """The first input, and when, whose gain is CERTAIN standard deviations from none after the change, and half as far from that of every other."""
    for t, gains in amounts:
        farthest = sorted(gains, key=lambda n: -abs(gains[n][0]) / gains[n][1])
        name, value, std = farthest[0], *gains[farthest[0]]
        if t > changes and abs(value) > CERTAIN * std and all(abs(gains[n][0] - value) > CERTAIN / 2 * std for n in farthest[1:]):
            return {"input": name, "after_s": t - changes, "gain": value, "std": std}
    return None


def scores(states, predictions, changes):
    """Error over holding and share of the measurements in the intervals of 95 %, of what was predicted LATER s ahead."""
    x = np.array([s[1] for s in states])
    t = np.array([s[0] for s in states])
    x[:, 2] = np.unwrap(x[:, 2])
    step = int(round(LATER / np.median(np.diff(t))))
    doc = {"later_s": LATER, "channels": ["roll", "pitch", "yaw", "p", "q", "r"], "scores": {}, "time": t.tolist(), "measured": x.tolist(), "predicted": {}}
    for kind, got in zip(KINDS, predictions):
        mean, width, hold = (np.full_like(x, np.nan) for _ in range(3))
        for p in got:
            j = p.seq + step
            if p.seq >= len(x) or j >= len(x):
                continue
            at = int(np.argmin(abs(p.horizon - LATER)))
            factor = 1 if p.factor is None else p.factor[at]
            mean[j], width[j], hold[j] = p.mean[at], 1.96 * p.obs_std[at] * factor, x[p.seq]
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
