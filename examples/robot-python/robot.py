"""A robot's side: sends its states to an estimator and prints what it predicts and estimates.

    pip install './python[queries]'
    dgm-estimator --model flight.dgm --vehicle v1
    python3 robot.py [nats://127.0.0.1:4222] [v1]

Here the robot is a pendulum that is simulated, of which an encoder measures the angle. Put your own reading of the sensors
in the place of sensors().
"""

import asyncio
import math
import random
import sys
import time

import dgm
import nats

RATE = 200  # Hz
state = [1.3, 0.0]  # rad from hanging, rad/s


def sensors():
    """What is measured: all states of the model in their order, or those that have a sensor."""
    for _ in range(10):
        state[1] += -55 * math.sin(state[0]) / (10 * RATE)
        state[0] += state[1] / (10 * RATE)
    return [math.pi + state[0] + 0.01 * random.gauss(0, 1)]


async def show(robot):
    async for p in await robot.predictions():
        if p.seq % RATE == 0:
            band = ", ".join(f"{c} {m:.3f} ± {s:.3f} {u}" for c, m, s, u in zip(p.channels, p.mean[-1], p.std[-1], p.units))
            print(f"in {p.horizon[-1]:g} s: {band}", flush=True)


async def warn(robot):
    known = 0
    async for status in await robot.statuses():
        count = sum(r["count"] for r in status["reasons"])
        if count > known:
            worst = max(status["reasons"], key=lambda r: r["count"])
            print(f"{count} states were not answered: {worst['text']}; the last: {worst['last']}", flush=True)
        known = count


async def main():
    url, vehicle = (sys.argv[1:] + ["nats://127.0.0.1:4222", "v1"][len(sys.argv) - 1 :])[:2]
    nc = await nats.connect(url)
    robot = dgm.Live(nc, vehicle)
    shown, _ = asyncio.create_task(show(robot)), asyncio.create_task(warn(robot))
    due = time.time()
    while not shown.done():
        await robot.send(sensors(), t=due)  # when it was measured: at 8 rad/s a time that is off by 5 ms is an error of 0.04 rad
        due += 1 / RATE
        await asyncio.sleep(max(0, due - time.time()))


asyncio.run(main())
