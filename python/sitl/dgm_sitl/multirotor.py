"""A multirotor: RotorPy's Hummingbird, with what can change on it in flight, and its pilot."""

import dataclasses
import math

import numpy as np
from rotorpy.vehicles.hummingbird_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor

from .firmware import ANGLE, ARMED, LIMIT, Sensed, matrix

ORDER = (3, 1, 0, 2)  # output of each of RotorPy's rotors: front left, front right, rear right, rear left
SETTINGS = ""
G = 9.81
HELD = False  # it stands on the ground
TAP = (0.15, 0.15, 0.1)  # shares of a full stick


@dataclasses.dataclass
class Change:
    """What is different from the vehicle as it was.

    thrust -- of each of RotorPy's rotors, as a share of what it was (a worn propeller has less)
    payload -- kg, and where it hangs: m, forward, left and up from the centre of mass
    """

    thrust: tuple = (1.0, 1.0, 1.0, 1.0)
    payload: float = 0.0
    place: tuple = (0.0, 0.0, 0.0)


class Plant:
    def __init__(self, change: Change = Change(), seed: int = 0):
        self.change = change
        self.rng = np.random.default_rng(seed)
        self.model = Multirotor(_loaded(change), control_abstraction="cmd_motor_speeds", aero=True, enable_ground=True,
                                integrator_kwargs={"method": "RK23", "rtol": 1e-2, "atol": 1e-3, "first_step": 2e-3})
        self.state = {"x": np.zeros(3), "v": np.zeros(3), "q": np.array([0, 0, 0, 1.0]), "w": np.zeros(3), "wind": np.zeros(3), "rotor_speeds": np.zeros(4)}
        self._acceleration = np.zeros(3)

    def changed(self, change: Change) -> "Plant":
        """The vehicle with a change, in the state that it is in."""
        other = Plant(change)
        other.rng, other.state, other._acceleration = self.rng, self.state, self._acceleration
        return other

    @staticmethod
    def inputs(outputs):
        """What the outputs command, as the preset reads it from the blackbox: motors, 0 (idle) to 1."""
        return [(pulse - 1055) / 945 for pulse in outputs[:4]]

    def step(self, outputs, dt):
        """Move on by dt, s, under the outputs of Firmware.exchange."""
        share = np.sqrt(np.asarray(self.change.thrust))  # thrust and drag grow with the square of the speed
        speeds = self.model.rotor_speed_max * np.clip([(outputs[i] - 1000) / 1000 for i in ORDER], 0, 1) * share
        before = self.state["v"].copy()
        self.state = self.model.step(self.state, {"cmd_motor_speeds": speeds}, dt)
        self._acceleration = (self.state["v"] - before) / dt

    def sensed(self) -> Sensed:
        """What is measured now: rates with noise of 0.3 °/s, force with .05 m/s²."""
        x, y, z, w = self.state["q"]
        turn = matrix(w, x, y, z)
        noise = self.rng.normal
        return Sensed(rates=self.state["w"] + noise(0, 0.005, 3), force=turn.T @ (self._acceleration + [0, 0, G]) + noise(0, 0.05, 3), attitude=np.array([w, x, y, z]),
                      velocity=self.state["v"], position=self.state["x"], pressure=101325 - 12 * self.state["x"][2])

    def down(self) -> bool:
        """Whether it is on the ground."""
        return self.state["x"][2] < 0.05


def _loaded(change):
    """The parameters with the payload, about the new centre of mass."""
    p, m = dict(quad_params), change.payload
    if m == 0:
        return p
    place = np.asarray(change.place, float)
    total = p["mass"] + m
    moved = m / total * place  # of the centre of mass
    inertia = np.diag([p["Ixx"], p["Iyy"], p["Izz"]])
    for mass, at in ((p["mass"], -moved), (m, place - moved)):
        inertia = inertia + mass * (at @ at * np.eye(3) - np.outer(at, at))
    p.update(mass=total, Ixx=inertia[0, 0], Iyy=inertia[1, 1], Izz=inertia[2, 2], Ixy=inertia[0, 1], Ixz=inertia[0, 2], Iyz=inertia[1, 2],
             rotor_pos={k: v - moved for k, v in p["rotor_pos"].items()})
    return p


class Pilot:
    """Flies a figure that the seed draws, sums of sines in all axes within some metres, and taps the sticks now and then, as for
    the identification of a system."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.amplitude = rng.uniform(0.25, 0.6, (3, 3)) * np.array([[1], [1], [0.5]])
        self.frequency = rng.uniform(0.4, 1.6, (3, 3)) * rng.uniform(1, 1.6)
        self.phase = rng.uniform(0, 2 * math.pi, (3, 3))
        self.height = 2.0
        self.sum = np.zeros(3)
        self.taps, self.tapped = np.zeros(3), 0.0  # shares of a full stick: right, down, yaw; until when, s
        self.turn = rng.uniform(0.03, 0.1), rng.uniform(0, 6)

    def target(self, t):
        a = self.amplitude * np.sin(self.frequency * t + self.phase)
        v = self.amplitude * self.frequency * np.cos(self.frequency * t + self.phase)
        return a.sum(axis=1) + [0, 0, self.height], v.sum(axis=1)

    def sticks(self, t, sensed, begins, dt):
        """The sticks at time t, s: armed two seconds before begins, up from there on."""
        if t < begins - 2:
            return [1500, 1500, 1000, 1500, 1000, ANGLE]
        if t < begins:
            return [1500, 1500, 1000, 1500, ARMED, ANGLE]
        share = min(1.0, (t - begins) / 3)
        x, v = self.target(t - begins)
        x, v = np.array([x[0] * share, x[1] * share, x[2] * share]), v * share
        off = x - sensed.position
        self.sum = np.clip(self.sum + off * dt, -2, 2)
        accel = np.clip(2.2 * off + 2.4 * (v - sensed.velocity) + [0.3, 0.3, 0.8] * self.sum, -6, 6)
        w, qx, qy, qz = sensed.attitude
        yaw = math.atan2(2 * (w * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
        forward = math.cos(yaw) * accel[0] + math.sin(yaw) * accel[1]
        left = -math.sin(yaw) * accel[0] + math.cos(yaw) * accel[1]
        down = math.atan2(forward, 9.81)  # nose
        right = math.atan2(-left, 9.81)
        tilt = max(0.5, 1 - 2 * (qx * qx + qy * qy))
        thrust = (accel[2] + 9.81) / 9.81 / tilt
        if t >= self.tapped and t > begins + 4:
            self.taps = self.rng.choice([-1, 0, 1], 3) * np.array(TAP) if self.rng.random() < 0.5 else np.zeros(3)
            self.tapped = t + self.rng.uniform(0.1, 0.4)
        right, down = right + self.taps[0] * LIMIT, down + self.taps[1] * LIMIT
        yaw_rate = self.taps[2] + self.turn[0] * math.sin(0.7 * (t - begins) + self.turn[1])
        return [1500 + 500 * np.clip(right / LIMIT, -1, 1), 1500 + 500 * np.clip(down / LIMIT, -1, 1), 1000 + 1000 * np.clip(self.hover * thrust, 0, 1),
                1500 + 500 * np.clip(yaw_rate, -1, 1), ARMED, ANGLE]

    hover = 0.31  # throttle
