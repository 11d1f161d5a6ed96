"""The loop with a real firmware, without the firmware: python/sitl/run flies it."""

import math
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "sitl"))

from dgm_sitl import airplane, firmware, live, vehicles  # noqa: E402


def test_angles_are_those_of_the_preset():
    for roll, pitch, yaw in ((0.3, -0.2, 1.0), (-0.5, 0.4, -3.0)):
        cr, sr, cp, sp, cy, sy = (f(v / 2) for v in (roll, pitch, yaw) for f in (math.cos, math.sin))
        q = [cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy]
        assert firmware.euler(q) == pytest.approx([roll, pitch, yaw])


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
    states = live.Series(t.tolist(), list(x))
    doc = live.scores(range(len(t)), states, predictions, 12)
    good, hold = doc["scores"]["after it"]["without adaptation"], doc["scores"]["after it"]["with adaptation"]
    assert good["covered"] == 1 and good["error"] < 0.1 and hold["error"] == pytest.approx(1) and hold["covered"] < 0.01
    assert good["n"] == 6 * sum(1 for i in range(len(t) - step) if t[i + step] > 15)


class Sensed:
    attitude, velocity, position = np.array([1.0, 0, 0, 0]), np.zeros(3), np.array([0, 0, 2.0])


def multirotor():
    pytest.importorskip("rotorpy")
    return vehicles.VEHICLES["quadrotor"].parts


def test_pilot_arms_on_the_ground_and_pulls_towards_the_figure():
    p = multirotor().Pilot(1)
    assert p.sticks(1, Sensed, 8, 0.002)[4] == 1000 and p.sticks(7, Sensed, 8, 0.002)[2] == 1000
    far = type("Far", (Sensed,), {"position": np.array([3.0, 0, 2.0])})
    assert p.sticks(20, far, 8, 0.002)[1] < 1500  # nose up, to fly back
    left = type("Left", (Sensed,), {"position": np.array([0, 3.0, 2.0])})
    assert p.sticks(20.01, left, 8, 0.002)[0] > 1500  # to the right


def test_payload_moves_the_centre_of_mass():
    parts = multirotor()
    plain, loaded = parts.Plant().model, parts.Plant(parts.Change(payload=0.5, place=(0.2, 0, 0))).model
    assert loaded.mass == pytest.approx(2 * plain.mass)
    assert loaded.rotor_geometry[:, 0] == pytest.approx(plain.rotor_geometry[:, 0] - 0.1)
    assert loaded.Iyy == pytest.approx(plain.Iyy + 2 * 0.5 * 0.1**2) and loaded.Ixx == pytest.approx(plain.Ixx)


def test_worn_propeller_is_that_of_the_named_motor():
    """The second output turns the second of Betaflight's motors, which the preset calls m2; RotorPy counts from the front left."""
    parts, vehicle = multirotor(), vehicles.VEHICLES["quadrotor"]
    out = int(vehicle.input[1:]) - 1
    assert vehicle.worn["thrust"][parts.ORDER.index(out)] < 1 and sum(s < 1 for s in vehicle.worn["thrust"]) == 1
    assert parts.Plant.inputs([1055, 2000, 1055, 1055, *[0] * 12]) == pytest.approx([0, 1, 0, 0])


def test_airplane_pilot_holds_its_height():
    p = airplane.Pilot(1)
    level = type("Level", (Sensed,), {"position": np.array([0, 0, 914.4]), "velocity": np.array([54.0, 0, 0])})
    low = type("Low", (level,), {"position": np.array([0, 0, 800.0])})
    assert p.sticks(1, level, 8, 0.002)[2:5] == [1000, 1500, 1000] and p.sticks(7, level, 8, 0.002)[4] == 2000
    assert airplane.Pilot(1).sticks(9, low, 8, 0.002)[1] < airplane.Pilot(1).sticks(9, level, 8, 0.002)[1]  # nose up


def test_surfaces_turn_the_airplane_as_the_firmware_means():
    """Positive outputs of the mixer roll to the right, lower the nose and yaw to the left."""
    pytest.importorskip("jsbsim")
    neutral = [1700, 1500, 1500, 1500, 1500, 1500, *[1500] * 10]

    def rates(output):
        plane, outputs = airplane.Plant(), list(neutral)
        for i in output:
            outputs[1 + i] = 1700
        for _ in range(100):
            plane.step(outputs, 0.002)
        return plane.sensed().rates

    still = rates(())
    assert (rates((airplane.AILERON,)) - still)[0] > 0.05 and (rates((airplane.ELEVATOR,)) - still)[1] > 0.05 and (rates((airplane.RUDDER,)) - still)[2] > 0.02
    assert airplane.Plant.inputs([2000, 1500, 1600, 1500, 1400, 1550, *[1500] * 10]) == pytest.approx([0.2, 0.1, -0.2, 1])
