"""The pilot: flies figures by looking at the vehicle, and moves the sticks of an angle mode as a person would."""

import math

import numpy as np

RISES = 8.0  # s, when the pilot leaves the ground: the firmware lets nobody arm in its first five seconds
LIMIT = math.radians(50)  # of the firmware's angle mode, at a full stick
ARMED, ANGLE = 2000, 2000
TAP = (0.15, 0.15, 0.1)  # shares of a full stick


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
