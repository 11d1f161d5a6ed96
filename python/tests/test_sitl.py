"""The loop with a real firmware, without the firmware: python/sitl/run flies it."""

import math
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "sitl"))

from dgm_sitl import live, pilot  # noqa: E402


def test_angles_are_those_of_the_preset():
    for roll, pitch, yaw in ((0.3, -0.2, 1.0), (-0.5, 0.4, -3.0)):
        cr, sr, cp, sp, cy, sy = (f(v / 2) for v in (roll, pitch, yaw) for f in (math.cos, math.sin))
        q = [cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy]
        assert live.angles(q) == pytest.approx([roll, pitch, yaw])


class Prediction:
    """One that is off by a constant, with an interval that is as wide as this."""

    def __init__(self, seq, x, off):
        self.seq, self.horizon = seq, np.array([0.1, 0.2])
        self.mean, self.obs_std, self.factor = np.array([x + off, x + off]), np.full((2, 6), abs(off) / 1.95), None


def test_scores_compare_with_what_came_later():
    t = np.arange(0, 30, 0.008)
    x = np.stack([np.sin(t + k) for k in range(6)], axis=1)
    step = round(0.2 / 0.008)
    predictions = [[Prediction(i, x[i + step], 0.01) for i in range(len(t) - step)], [Prediction(i, x[i], 0.0) for i in range(len(t) - step)]]
    doc = live.scores([(a, b.tolist()) for a, b in zip(t, x)], predictions, 12)
    good, hold = doc["scores"]["after it"]["without adaptation"], doc["scores"]["after it"]["with adaptation"]
    assert good["covered"] == 1 and good["error"] < 0.1 and hold["error"] == pytest.approx(1) and hold["covered"] < 0.01
    assert good["n"] == 6 * sum(1 for i in range(len(t) - step) if t[i + step] > 15)


class Sensed:
    attitude, velocity, position = np.array([1.0, 0, 0, 0]), np.zeros(3), np.array([0, 0, 2.0])


def test_pilot_arms_on_the_ground_and_pulls_towards_the_figure():
    p = pilot.Pilot(1)
    assert p.sticks(1, Sensed, 8, 0.002)[4] == 1000 and p.sticks(7, Sensed, 8, 0.002)[2] == 1000
    far = type("Far", (Sensed,), {"position": np.array([3.0, 0, 2.0])})
    assert p.sticks(20, far, 8, 0.002)[1] < 1500  # nose up, to fly back
    left = type("Left", (Sensed,), {"position": np.array([0, 3.0, 2.0])})
    assert p.sticks(20.01, left, 8, 0.002)[0] > 1500  # to the right


def test_payload_moves_the_centre_of_mass():
    pytest.importorskip("rotorpy")
    from dgm_sitl.vehicle import Change, Vehicle

    plain, loaded = Vehicle().model, Vehicle(Change(payload=0.5, place=(0.2, 0, 0))).model
    assert loaded.mass == pytest.approx(2 * plain.mass)
    assert loaded.rotor_geometry[:, 0] == pytest.approx(plain.rotor_geometry[:, 0] - 0.1)
    assert loaded.Iyy == pytest.approx(plain.Iyy + 2 * 0.5 * 0.1**2) and loaded.Ixx == pytest.approx(plain.Ixx)
    assert Change.motor("rear right") == "m1" and Change.motor("front left") == "m4" and Change.worn("rear right", 0.8).thrust == (1, 1, 0.8, 1)
