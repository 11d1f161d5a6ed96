"""A differential drive: two motors with back electromotive force, a body with drag."""
import numpy as np

from . import Late, Robot, runge_kutta, smooth, unchanged

RATE = 50


def f(s, u):
    _, _, yaw, v, w = s
    left, right = u
    return np.array([v * np.cos(yaw), v * np.sin(yaw), w, 2.5 * (left + right) - 4 * v - 0.3 * v * abs(v), 14 * (right - left) - 6 * w])


def fly(rng, manoeuvre, seconds, changed=unchanged):
    n = int(seconds * RATE)
    t = np.arange(n) / RATE
    if manoeuvre == "training":
        left, right = (0.5 + smooth(rng, seconds, RATE, 0.5, 0.5) for _ in range(2))
    else:
        turn = 0.15 * np.sin(2 * np.pi * 0.4 * t)
        left, right = 0.55 - turn, 0.55 + turn
    motors, s = (Late(0.04, 0, RATE, 0.5), Late(0.04, 0, RATE, 0.5)), np.zeros(5)
    x, u = np.empty((n, 5)), np.empty((n, 2))
    for i in range(n):
        x[i], u[i] = s, [left[i], right[i]]
        s = runge_kutta(f, s, (motors[0](left[i]) * changed(t[i]).get("left", 1.0), motors[1](right[i])), 0.01, 2)
    return t, x, u


ROBOT = Robot(
    "differential drive", "equations of this folder", ["x", "y", "yaw", "speed", "yaw_rate"], ["left", "right"],
    {"x": "m", "y": "m", "yaw": "rad", "speed": "m/s", "yaw_rate": "rad/s"},
    "slalom", fly, {"left motor a tenth weaker": ({"left": 0.9}, "left")}, seen=("x", "y"))
