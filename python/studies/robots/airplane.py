"""JSBSim's Cessna 172, flown by a pilot of ours who holds height and follows a bank angle."""
import tempfile

import numpy as np

from . import Robot, smooth, unchanged

RATE = 50
FOOT = 0.3048


def fly(rng, manoeuvre, seconds, changed=unchanged):
    import jsbsim

    plane = jsbsim.FGFDMExec(None)
    plane.set_debug_level(0)
    plane.set_output_path(tempfile.gettempdir())  # of a table that it writes
    plane.load_model("c172x")
    plane.set_dt(1 / 200)
    for name, value in (("ic/h-sl-ft", 3000), ("ic/vc-kts", 100), ("ic/psi-true-deg", 0)):
        plane[name] = value
    plane.run_ic()
    plane["propulsion/set-running"] = -1
    n, settle = int(seconds * RATE), 10 * RATE
    t = np.arange(n + settle) / RATE
    if manoeuvre == "training":
        bank, climb, extra, speed = (smooth(rng, seconds + 10, RATE, f, size) for f, size in ((0.15, 0.8), (0.12, 0.12), (0.8, 0.25), (0.05, 0.2)))
    else:  # turns to both sides at a constant bank
        bank, climb, extra, speed = 0.5 * np.tanh(3 * np.sin(2 * np.pi * t / 24)), 0.04 * np.sin(0.5 * t), np.zeros(n + settle), np.zeros(n + settle)
    x, u = np.empty((n, 12)), np.empty((n, 4))
    north = east = 0.0
    for i in range(-settle, n):
        phi, theta, psi = (plane[f"attitude/{a}-rad"] for a in ("phi", "theta", "psi"))
        p, q, r = (plane[f"velocities/{a}-rad_sec"] for a in "pqr")
        velocity = [FOOT * plane[f"velocities/v-{a}-fps"] for a in ("north", "east", "down")]
        k = i + settle
        aileron = np.clip(1.2 * (bank[k] - phi) - 0.4 * p + extra[k], -1, 1)
        elevator = np.clip(-2.5 * (0.05 + climb[k] + 0.12 * (1 - np.cos(phi)) - theta) + 0.6 * q + 0.5 * extra[k - 7], -1, 1)
        rudder = np.clip(-0.6 * r * np.cos(phi) + 0.4 * extra[k - 15], -1, 1)
        command = [aileron, elevator, rudder, 0.75 + speed[k]]
        if i >= 0:
            x[i], u[i] = [north, east, -FOOT * plane["position/h-sl-ft"], *velocity, phi, theta, psi, p, q, r], command
        for name, c in zip(("aileron", "elevator", "rudder", "throttle"), command):
            plane[f"fcs/{name}-cmd-norm"] = c * changed(i / RATE).get(name, 1.0)
        for _ in range(200 // RATE):
            plane.run()
        north, east = north + velocity[0] / RATE, east + velocity[1] / RATE
    x[:, 6:9] = np.unwrap(x[:, 6:9], axis=0)
    x[:, 2] -= x[0, 2]
    return np.arange(n) / RATE, x, u


ROBOT = Robot(
    "Cessna 172", "JSBSim 1.3", ["x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"], ["aileron", "elevator", "rudder", "throttle"],
    {**dict.fromkeys("xyz", "m"), **dict.fromkeys(("vx", "vy", "vz"), "m/s"), **dict.fromkeys(("roll", "pitch", "yaw"), "rad"), **dict.fromkeys("pqr", "rad/s")},
    "turns to both sides", fly, {"aileron with a third less effect": ({"aileron": 0.67}, "aileron")}, seconds=60, seen=("y", "x"))
