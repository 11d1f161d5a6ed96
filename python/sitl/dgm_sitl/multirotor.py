"""The vehicle: RotorPy's Hummingbird, with what can change on it between flights."""

import dataclasses

import numpy as np
from rotorpy.vehicles.hummingbird_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor

ROTORS = ("front left", "front right", "rear right", "rear left")  # as RotorPy counts them
ORDER = (2, 0, 3, 1)  # of each rotor among the commands of Firmware.exchange
G = 9.81


@dataclasses.dataclass
class Change:
    """What is different from the vehicle as it was.

    thrust -- of each rotor, as a share of what it was (a worn propeller has less)
    payload -- kg, and where it hangs: m, forward, left and up from the centre of mass
    """

    thrust: tuple = (1.0, 1.0, 1.0, 1.0)
    payload: float = 0.0
    place: tuple = (0.0, 0.0, 0.0)

    @staticmethod
    def rotor(name: str) -> int:
        return ROTORS.index(name)

    @staticmethod
    def motor(name: str) -> str:
        """What the preset for Betaflight calls the motor of a rotor."""
        return f"m{('rear right', 'front right', 'rear left', 'front left').index(name) + 1}"

    @classmethod
    def worn(cls, name: str, thrust: float) -> "Change":
        """A propeller that has so much of its thrust."""
        return cls(thrust=tuple(thrust if r == name else 1.0 for r in ROTORS))


@dataclasses.dataclass
class Sensed:
    """What sensors measure: rates (rad/s) and specific force (m/s²) forward, left and up; attitude (w, x, y, z) to a world whose z
    is up; velocity and position in it; pressure, Pa."""

    rates: np.ndarray
    force: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    pressure: float


class Vehicle:
    def __init__(self, change: Change = Change(), seed: int = 0):
        self.change = change
        self.rng = np.random.default_rng(seed)
        self.model = Multirotor(_loaded(change), control_abstraction="cmd_motor_speeds", aero=True, enable_ground=True,
                                integrator_kwargs={"method": "RK23", "rtol": 1e-2, "atol": 1e-3, "first_step": 2e-3})
        self.state = {"x": np.zeros(3), "v": np.zeros(3), "q": np.array([0, 0, 0, 1.0]), "w": np.zeros(3), "wind": np.zeros(3), "rotor_speeds": np.zeros(4)}
        self._acceleration = np.zeros(3)

    def changed(self, change: Change) -> "Vehicle":
        """The vehicle with a change, in the state that it is in."""
        other = Vehicle(change)
        other.rng, other.state, other._acceleration = self.rng, self.state, self._acceleration
        return other

    def step(self, commands, dt):
        """Move on by dt, s, with the motors' commands (0 to 1, as Firmware.exchange gives them)."""
        share = np.sqrt(np.asarray(self.change.thrust))  # thrust and drag grow with the square of the speed
        speeds = self.model.rotor_speed_max * np.clip([commands[i] for i in ORDER], 0, 1) * share
        before = self.state["v"].copy()
        self.state = self.model.step(self.state, {"cmd_motor_speeds": speeds}, dt)
        self._acceleration = (self.state["v"] - before) / dt

    def sensed(self) -> Sensed:
        """What is measured now: rates with noise of 0.3 °/s, force with .05 m/s²."""
        x, y, z, w = self.state["q"]
        turn = _matrix(w, x, y, z)
        noise = self.rng.normal
        return Sensed(rates=self.state["w"] + noise(0, 0.005, 3), force=turn.T @ (self._acceleration + [0, 0, G]) + noise(0, 0.05, 3), attitude=np.array([w, x, y, z]),
                      velocity=self.state["v"], position=self.state["x"], pressure=101325 - 12 * self.state["x"][2])


def _matrix(w, x, y, z):
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


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
