"""Robots that are simulated for tables and pictures: a file each, and a row in __main__.ROBOTS."""
import dataclasses
from typing import Callable, Dict, List, Tuple

import numpy as np

HORIZON = 0.5  # s


@dataclasses.dataclass
class Robot:
    """A simulated robot and its pilot.

    fly(rng, manoeuvre, seconds, changed) returns times (n), states (n, K) without noise, and inputs (n, P); manoeuvre is "training" or
    "test", changed(t) has factors of what has changed at a time. changes are what can change on it: these factors, and the channel
    that a diagnosis must name.
    """

    title: str
    plant: str  # who wrote the equations
    states: List[str]
    inputs: List[str]
    units: Dict[str, str]
    test: str  # what the test is
    fly: Callable[..., Tuple[np.ndarray, np.ndarray, np.ndarray]]
    changes: Dict[str, Tuple[Dict[str, float], str]]
    noise: float = 0.01  # of a sensor, over the standard deviation of what its channel changes by in the horizon
    seconds: float = 30
    seen: Tuple[str, ...] = ()  # the two states that a map shows; none: there are plots over time
    plotted: Tuple[str, ...] = ()  # of these states


def unchanged(_t):
    return {}


def smooth(rng, seconds, rate, fastest=0.8, size=1.0):
    """A random signal (n) of few frequencies, within ±size."""
    t = np.arange(int(seconds * rate)) / rate
    f, phase, share = rng.uniform(0.05, fastest, 5), rng.uniform(0, 2 * np.pi, 5), rng.dirichlet(np.ones(5))
    return size * (share * np.sin(2 * np.pi * f * t[:, None] + phase)).sum(1)


def runge_kutta(f, x, u, dt, steps):
    """The state after steps of dt under an input that is held."""
    for _ in range(steps):
        a = f(x, u)
        b = f(x + dt / 2 * a, u)
        c = f(x + dt / 2 * b, u)
        x = x + dt / 6 * (a + 2 * b + 2 * c + f(x + dt * c, u))
    return x


class Late:
    """An input that acts after a dead time, s, and with a first-order lag, s."""

    def __init__(self, dead, lag, rate, start=0.0):
        self.waiting, self.value, self.share = [start] * round(dead * rate), start, 1 - np.exp(-1 / (lag * rate)) if lag else 1.0

    def __call__(self, command):
        self.waiting.append(command)
        self.value += self.share * (self.waiting.pop(0) - self.value)
        return self.value
