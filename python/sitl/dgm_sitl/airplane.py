"""An aircraft with a fixed wing: JSBSim's Cessna 172, with what can change on it in flight, and its pilot."""

import dataclasses
import math
import os
import tempfile

import numpy as np

from .firmware import ANGLE, ARMED, LIMIT, Sensed, euler, matrix

FOOT, POUND = 0.3048, 0.45359237
G = 9.81
HELD = True  # in the air, at its first state, until the pilot releases it
SPEED = 105.0  # kt, at which it is released
SETTINGS = """
mixer AIRPLANE
set p_roll = 60
set i_roll = 10
set d_roll = 0
set f_roll = 0
set p_pitch = 60
set i_pitch = 20
set d_pitch = 0
set f_pitch = 0
set p_yaw = 200
set i_yaw = 0
set f_yaw = 0
set angle_p_gain = 40
"""
# Where the outputs of Betaflight's mixer AIRPLANE are, behind the one motor: flaps, two flaperons, rudder, elevator, throttle.
AILERON, RUDDER, ELEVATOR = 1, 3, 4


@dataclasses.dataclass
class Change:
    """What is different from the aircraft as it was.

    aileron -- effect of the ailerons, as a share of what it was
    baggage -- kg, in the back
    """

    aileron: float = 1.0
    baggage: float = 0.0


class Plant:
    """The aircraft, held in the air at its first state until the pilot releases it."""

    def __init__(self, seed: int = 0):
        os.environ["JSBSIM_DEBUG"] = "0"  # no banner
        import jsbsim

        self.rng = np.random.default_rng(seed)
        self.change = Change()
        self.plane = jsbsim.FGFDMExec(None)
        self.plane.set_debug_level(0)
        self.plane.set_output_path(tempfile.gettempdir())  # of a table that it writes
        self.plane.load_model("c172x")
        self.plane.set_dt(0.002)
        for name, value in (("ic/h-sl-ft", 3000), ("ic/vc-kts", SPEED), ("ic/psi-true-deg", 0)):
            self.plane[name] = value
        self.plane.run_ic()
        self.plane["propulsion/set-running"] = -1
        self.position, self.acceleration = np.array([0, 0, FOOT * 3000]), np.zeros(3)

    def changed(self, change: Change) -> "Plant":
        """The aircraft with a change, in the state that it is in."""
        self.change = change
        self.plane["inertia/pointmass-weight-lbs[4]"] += change.baggage / POUND
        return self

    @staticmethod
    def inputs(outputs):
        """What the outputs command, as the preset reads it from the blackbox: aileron, elevator, rudder (−1 to 1), throttle (0 to 1)."""
        surface = [(outputs[1 + i] - 1500) / 500 for i in (AILERON, ELEVATOR, RUDDER)]
        return [*surface, (outputs[0] - 1055) / 945]

    def step(self, outputs, dt):
        """Move on by dt, s, under the outputs of Firmware.exchange."""
        aileron, elevator, rudder, _ = self.inputs(outputs)
        for name, c in (("aileron", aileron * self.change.aileron), ("elevator", elevator), ("rudder", rudder), ("throttle", (outputs[0] - 1000) / 1000)):
            self.plane[f"fcs/{name}-cmd-norm"] = float(np.clip(c, -1, 1))
        before = self._velocity()
        for _ in range(round(dt / 0.002)):
            self.plane.run()
        v = self._velocity()
        self.position, self.acceleration = self.position + v * dt, (v - before) / dt

    def _velocity(self):
        """North, west, up, m/s."""
        north, east, down = (FOOT * self.plane[f"velocities/v-{a}-fps"] for a in ("north", "east", "down"))
        return np.array([north, -east, -down])

    def sensed(self) -> Sensed:
        """What is measured now: rates with noise of 0.3 °/s, force with .05 m/s²."""
        p, q, r = (self.plane[f"velocities/{a}-rad_sec"] for a in "pqr")
        half = [self.plane[f"attitude/{a}-rad"] / 2 for a in ("phi", "theta", "psi")]
        (cr, cp, cy), (sr, sp, sy) = map(math.cos, half), map(math.sin, half)
        attitude = np.array([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, -(cr * sp * cy + sr * cp * sy), -(cr * cp * sy - sr * sp * cy)])
        noise = self.rng.normal
        return Sensed(rates=np.array([p, -q, -r]) + noise(0, 0.005, 3), force=matrix(*attitude).T @ (self.acceleration + [0, 0, G]) + noise(0, 0.05, 3), attitude=attitude,
                      velocity=self._velocity(), position=self.position, pressure=101325 - 12 * self.position[2])

    def down(self) -> bool:
        """Whether it is near the ground, or has lost its speed."""
        return self.position[2] < 300 or self.plane["velocities/vc-kts"] < 55


class Pilot:
    """Banks, climbs and descends as sums of sines that the seed draws, holds height and speed in the mean, and taps the sticks now and then."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.frequency = rng.uniform(0.15, 0.7, (3, 3)) * rng.uniform(1, 1.5)
        self.phase = rng.uniform(0, 2 * math.pi, (3, 3))
        self.size = np.array([0.28, 0.05, 0.06]) * rng.uniform(0.7, 1.3, 3)  # rad, rad, share of the throttle; of each sine
        self.taps, self.tapped = np.zeros(3), 0.0

    def sticks(self, t, sensed, begins, dt):
        """The sticks at time t, s: armed two seconds before begins, with the engine from there on."""
        if t < begins:
            return [1500, 1500, 1000, 1500, 1000 if t < begins - 2 else ARMED, ANGLE]
        bank, climb, power = self.size * np.sin(self.frequency * (t - begins) + self.phase).sum(axis=1)
        roll, _, _ = euler(sensed.attitude)
        climb += 0.02 + 0.1 * (1 - math.cos(roll)) + np.clip(0.002 * (FOOT * 3000 - sensed.position[2]), -0.1, 0.1)
        speed = float(np.linalg.norm(sensed.velocity))
        throttle = 0.7 + power + 0.03 * (SPEED * 0.5144 - speed)
        turn = G * math.tan(roll) / speed / math.radians(670)  # of a full stick
        if t >= self.tapped and t > begins + 2:
            self.taps = self.rng.choice([-1, 0, 1], 3) * [0.25, 0.15, 0.1] if self.rng.random() < 0.6 else np.zeros(3)
            self.tapped = t + self.rng.uniform(0.2, 0.8)
        return [1500 + 500 * np.clip(bank / LIMIT + self.taps[0], -1, 1), 1500 + 500 * np.clip(-climb / LIMIT + self.taps[1], -1, 1), 1000 + 1000 * np.clip(throttle, 0.1, 1),
                1500 + 500 * np.clip(turn + self.taps[2], -1, 1), ARMED, ANGLE]
