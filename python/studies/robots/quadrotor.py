"""RotorPy's Hummingbird with its aerodynamics and motors' lag, flown by RotorPy's geometric controller."""
import copy

import numpy as np

from . import Robot, smooth, unchanged

RATE = 100


def path(rng, manoeuvre, seconds):
    """Returns a function from time to position and yaw (4)."""
    if manoeuvre == "training":
        size, f = rng.dirichlet(np.ones(3), 4) * np.array([[1.6], [1.6], [0.7], [0.8]]), rng.uniform(0.08, 0.4, (4, 3))
        phase = rng.uniform(0, 2 * np.pi, (4, 3))
        return lambda t: (size * np.sin(2 * np.pi * f * t + phase)).sum(1)
    w = 2 * np.pi / 4.5  # a figure of eight
    return lambda t: np.array([1.3 * np.sin(w * t), 0.8 * np.sin(2 * w * t), 0.2 * np.sin(w * t / 2), 0.0])


class Flat:
    """What the controller follows: a path with its derivatives, by differences."""

    def __init__(self, f):
        self.f = f

    def update(self, t):
        h = 2e-3
        x = [self.f(t + k * h) for k in (-2, -1, 0, 1, 2)]
        first, second = (x[3] - x[1]) / (2 * h), (x[3] - 2 * x[2] + x[1]) / h**2
        third = (x[4] - 2 * x[3] + 2 * x[1] - x[0]) / (2 * h**3)
        return {"x": x[2][:3], "x_dot": first[:3], "x_ddot": second[:3], "x_dddot": third[:3], "x_ddddot": np.zeros(3), "yaw": x[2][3], "yaw_dot": first[3], "yaw_ddot": 0.0}


def euler(q):
    x, y, z, w = q
    return np.array([np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), np.arcsin(np.clip(2 * (w * y - z * x), -1, 1)), np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


def fly(rng, manoeuvre, seconds, changed=unchanged):
    from rotorpy.controllers.quadrotor_control import SE3Control
    from rotorpy.vehicles.hummingbird_params import quad_params
    from rotorpy.vehicles.multirotor import Multirotor

    params = copy.deepcopy(quad_params)
    plant, pilot, goal = Multirotor(params), SE3Control(params), Flat(path(rng, manoeuvre, seconds))
    start, hover = goal.update(0), np.sqrt(params["mass"] * 9.81 / 4 / params["k_eta"])
    s = {"x": start["x"], "v": start["x_dot"], "q": np.array([0, 0, 0, 1.0]), "w": np.zeros(3), "wind": np.zeros(3), "rotor_speeds": np.full(4, hover)}
    n, settle = int(seconds * RATE), RATE
    x, u = np.empty((n, 12)), np.empty((n, 4))
    for i in range(-settle, n):
        t = (i + settle) / RATE
        command = pilot.update(t, s, goal.update(t))["cmd_motor_speeds"]
        if i >= 0:
            x[i], u[i] = [*s["x"], *s["v"], *euler(s["q"]), *s["w"]], command
        thrust = np.array([changed(i / RATE).get(f"motor{k}", 1.0) for k in range(1, 5)])
        s = plant.step(s, {"cmd_motor_speeds": command * np.sqrt(thrust)}, 1 / RATE)
    x[:, 6:9] = np.unwrap(x[:, 6:9], axis=0)
    return np.arange(n) / RATE, x, u


ROBOT = Robot(
    "quadrotor", "RotorPy 3.0, Hummingbird", ["x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"], ["motor1", "motor2", "motor3", "motor4"],
    {**dict.fromkeys("xyz", "m"), **dict.fromkeys(("vx", "vy", "vz"), "m/s"), **dict.fromkeys(("roll", "pitch", "yaw"), "rad"), **dict.fromkeys("pqr", "rad/s"), **dict.fromkeys(("motor1", "motor2", "motor3", "motor4"), "rad/s")},
    "figure of eight", fly, {"propeller with a tenth less thrust": ({"motor2": 0.9}, "motor2")}, seen=("x", "y"))
