"""A six-joint arm in MuJoCo, with gravity, friction and position servos; one joint rests for a part of each flight."""
import numpy as np

from . import Robot, smooth

RATE = 100
KP, KV, MOST = (120, 160, 90, 20, 15, 6), (12, 16, 9, 2, 1.2, 0.5), (60, 90, 50, 12, 10, 6)
LINKS = [  # axis, end of the link, radius, mass, damping, friction
    ("0 0 1", "0 0 .15", 0.06, 4.0, 0.8, 0.6), ("0 1 0", ".35 0 0", 0.05, 3.5, 1.0, 0.8), ("0 1 0", ".3 0 0", 0.04, 2.2, 0.6, 0.5),
    ("1 0 0", ".08 0 0", 0.035, 0.8, 0.1, 0.15), ("0 1 0", ".08 0 0", 0.03, 0.6, 0.1, 0.12), ("1 0 0", ".06 0 0", 0.025, 0.4, 0.05, 0.1)]


def document():
    body = ""
    for i, (axis, end, radius, mass, damping, friction) in reversed(list(enumerate(LINKS, 1))):
        at = "0 0 .3" if i == 1 else LINKS[i - 2][1]
        body = (f'<body pos="{at}"><joint name="j{i}" axis="{axis}" damping="{damping}" frictionloss="{friction}" armature=".02"/>'
                f'<geom type="capsule" size="{radius}" fromto="0 0 0 {end}" mass="{mass}"/>{body}</body>')
    servos = "".join(f'<position joint="j{i}" kp="{kp}" kv="{kv}" forcerange="-{f} {f}"/>' for i, (kp, kv, f) in enumerate(zip(KP, KV, MOST), 1))
    return f'<mujoco><option timestep="0.001" integrator="implicitfast"/><compiler angle="radian"/><worldbody>{body}</worldbody><actuator>{servos}</actuator></mujoco>'


def fly(rng, manoeuvre, seconds, _changed=None):
    import mujoco

    model = mujoco.MjModel.from_xml_string(document())
    data, n = mujoco.MjData(model), int(seconds * RATE)
    home, reach = np.array([0, -0.4, 0.8, 0, 0.4, 0]), np.array([1.0, 0.55, 0.7, 0.8, 0.8, 1.2])
    if manoeuvre == "training":
        command = home + np.stack([smooth(rng, seconds, RATE, 0.5, size) for size in reach], 1)
        rests = rng.integers(6)
        command[n // 2:, rests] = command[n // 2, rests]
    else:  # from point to point, as in pick and place
        command, at = np.empty((n, 6)), home
        for begin in range(0, n, 250):
            s = np.clip(np.arange(min(250, n - begin)) / 140, 0, 1)[:, None]
            to = home + 0.6 * reach * rng.uniform(-1, 1, 6)
            command[begin:begin + 250] = at + (to - at) * (10 * s**3 - 15 * s**4 + 6 * s**5)
            at = to
    data.qpos[:] = command[0]
    x = np.empty((n, 12))
    for i in range(n):
        x[i] = [*data.qpos, *data.qvel]
        data.ctrl[:] = command[i]
        for _ in range(1000 // RATE):
            mujoco.mj_step(model, data)
    return np.arange(n) / RATE, x, command


Q, DQ = [f"q{i}" for i in range(1, 7)], [f"dq{i}" for i in range(1, 7)]
ROBOT = Robot(
    "six-joint arm, position servos", "MuJoCo 3", Q + DQ, [f"{q}_cmd" for q in Q], {**dict.fromkeys(Q, "rad"), **dict.fromkeys(DQ, "rad/s"), **{f"{q}_cmd": "rad" for q in Q}},
    "from point to point", fly, {}, plotted=("q2", "q3"))
