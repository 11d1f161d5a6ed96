"""The vehicles that the firmware flies, each with its flights and what is changed on it."""

import dataclasses
import functools
import importlib


@dataclasses.dataclass(frozen=True)
class Vehicle:
    """A vehicle that the firmware flies.

    module -- of this package, with Plant, Pilot, Change, SETTINGS and HELD
    preset -- of the import of its blackbox
    options -- of the firmware's build
    duration -- s, of a flight
    worn -- arguments of the Change that weakens an input
    input -- the name of that input
    says -- the change in words
    loaded -- arguments of the Change that adds a mass
    """

    name: str
    title: str
    module: str
    preset: str
    options: str
    duration: float
    worn: dict
    input: str
    says: str
    loaded: dict

    @functools.cached_property
    def parts(self):
        """The module, which needs its simulator."""
        return importlib.import_module("." + self.module, __package__)


VEHICLES = {
    v.name: v
    for v in (
        Vehicle("quadrotor", "Hummingbird of RotorPy", "multirotor", "betaflight", "", 25.0, {"thrust": (1.0, 1.0, 0.88, 1.0)}, "m1",
              "the propeller rear right has 88 % of its thrust", {"payload": 0.08, "place": (0.1, 0.0, -0.03)}),
        Vehicle("airplane", "Cessna 172 of JSBSim", "airplane", "betaflight-plane", "USE_WING", 30.0, {"aileron": 0.67}, "aileron",
              "the ailerons have 67 % of their effect", {"baggage": 60.0}),
    )
}
