"""A boat with a thruster and a rudder: three degrees of freedom with linear and quadratic drag."""
import numpy as np

from . import Late, Robot, runge_kutta, smooth, unchanged

RATE = 50


def f(s, u):
    _, _, heading, surge, sway, r = s
    thrust, rudder = u
    lift = rudder * surge * abs(surge)
    return np.array([
        surge * np.cos(heading) - sway * np.sin(heading), surge * np.sin(heading) + sway * np.cos(heading), r,
        thrust - 0.35 * surge - 0.2 * surge * abs(surge) + 1.4 * sway * r,
        -0.9 * sway - 1.5 * sway * abs(sway) - 0.75 * surge * r + 0.2 * lift,
        -1.1 * r - 0.8 * r * abs(r) - 0.3 * surge * sway + 0.8 * lift])


def fly(rng, manoeuvre, seconds, changed=unchanged):
    n = int(seconds * RATE)
    t = np.arange(n) / RATE
    if manoeuvre == "training":
        thrust, rudder = 0.9 + smooth(rng, seconds, RATE, 0.2, 0.6), smooth(rng, seconds, RATE, 0.4, 0.9)
    else:  # a zigzag: the rudder is laid over at each ten seconds
        thrust, rudder = np.full(n, 1.1), 0.35 * np.sign(np.sin(2 * np.pi * t / 10))
    screw, servo, s = Late(0.2, 0.3, RATE, 0.9), Late(0, 0.15, RATE), np.array([0, 0, 0, 1.0, 0, 0])
    x, u = np.empty((n, 6)), np.empty((n, 2))
    for i in range(n):
        x[i], u[i] = s, [thrust[i], rudder[i]]
        s = runge_kutta(f, s, (screw(thrust[i]) * changed(t[i]).get("thrust", 1.0), servo(rudder[i])), 0.01, 2)
    return t, x, u


ROBOT = Robot(
    "boat with thruster and rudder", "equations of this folder", ["x", "y", "heading", "surge", "sway", "yaw_rate"], ["thrust", "rudder"],
    {"x": "m", "y": "m", "heading": "rad", "surge": "m/s", "sway": "m/s", "yaw_rate": "rad/s", "rudder": "rad"},
    "zigzag", fly, {"thruster with a fifth less thrust": ({"thrust": 0.8}, "thrust")}, seconds=60, seen=("x", "y"))
