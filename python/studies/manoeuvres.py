"""Sixteen simulated robots on manoeuvres that are not in their training: errors beside the own ridge, and coverage.

    pip install numpy mujoco msgpack
    cd python/studies && PYTHONPATH=.. DGM_PROGRAMS=FOLDER python manoeuvres.py --out /tmp/manoeuvres [NAME ...]

Each robot has six runs of smooth commands for training, and two of each kind for the test: same (as in training), new (ramps or steps, and holds, of the
same amplitude) and new13 (of 1.3 times it). A robot is a class: f returns the rates of all runs at once (R, K) under what acts of the inputs (R, P), command
the inputs by references (R, n) and state, dead and lag are those of the inputs, s, ramp is the duration of a change of the reference over its period (0 = a step).
"""

import argparse
import json
import pathlib

import numpy as np
from numpy import abs as ab, clip, cos, pi, sign, sin, stack, tanh

from dgm import log, programs

KINDS = ["train"] * 6 + ["same"] * 2 + ["new"] * 2 + ["new13"] * 2


def multisine(rng, n, dt, fast):
    t = np.arange(n) * dt
    f, ph, sh = rng.uniform(0.08 * fast, fast, 6), rng.uniform(0, 2 * pi, 6), rng.dirichlet(np.ones(6))
    s = (sh * sin(2 * pi * f * t[:, None] + ph)).sum(1)
    return s / ab(s).max()


def holds(rng, n, dt, fast, ramp):
    out, at, i = np.empty(n), 0.0, 0
    while i < n:
        to = rng.uniform(-1, 1)
        r = max(1, int(ramp / fast / dt)) if ramp else 1
        h = max(1, int(rng.uniform(0.3, 1.5) / fast / dt))
        seg = np.concatenate([np.linspace(at, to, r + 1)[1:], np.full(h, to)])[: n - i]
        out[i : i + len(seg)] = seg
        i += len(seg)
        at = to
    return out / ab(out).max()


class Sim:
    name = ""
    states = []
    inputs = []
    units = {}
    rate = 50.0
    sub = 5
    seconds = 30.0
    horizon = 0.5
    noise = 0.01
    fast = 0.8
    ramp = 0.35
    dead = ()
    lag = ()
    measured = None
    nrefs = None

    def x0(self, R, rng):
        return np.zeros((R, self.K))

    def refs(self, rng, kind, n):
        P = self.nrefs or len(self.inputs)
        gen = (
            (lambda: multisine(rng, n, 1 / self.rate, self.fast))
            if kind in ("train", "same")
            else (lambda: holds(rng, n, 1 / self.rate, self.fast, self.ramp))
        )
        return stack([gen() for _ in range(P)], 1) * (1.3 if kind == "new13" else 1.0)

    def command(self, x, r, t, m):
        return r * self.amp

    def out(self, x):
        return x

    def step_noise(self, R, rng, n):
        return None

    def fly(self, kinds, seed):
        R, n, dt = len(kinds), int(self.seconds * self.rate), 1 / self.rate
        rngs = [np.random.default_rng(1000 * seed + i) for i in range(R)]
        refs = stack([self.refs(g, k, n) for g, k in zip(rngs, kinds)])
        rng = np.random.default_rng(seed)
        self.R, self.rng = R, rng
        self.w = self.step_noise(R, rng, n)
        x = self.x0(R, rng)
        P = len(self.inputs)
        dead, lag = np.broadcast_to(np.array(self.dead or 0.0), (P,)), np.broadcast_to(np.array(self.lag or 0.0), (P,))
        h = dt / self.sub
        buf = np.zeros((R, n * self.sub + 1, P))
        v = None
        X, U = [], []
        shift = np.round(dead / h).astype(int)
        share = np.where(lag > 0, 1 - np.exp(-h / np.maximum(lag, 1e-9)), 1.0)
        memory = {}
        for i in range(n):
            u = self.command(x, refs[:, i], i * dt, memory)
            X.append(self.out(x))
            U.append(u)
            if v is None:
                v = u * 1.0
                first = u * 1.0
            self.wi = None if self.w is None else self.w[:, i]
            for s in range(self.sub):
                k = i * self.sub + s
                buf[:, k] = u
                late = stack([buf[:, k - shift[p], p] if k >= shift[p] else first[:, p] for p in range(P)], 1)
                v = v + share * (late - v)
                a = self.f(x, v)
                b = self.f(x + h / 2 * a, v)
                c = self.f(x + h / 2 * b, v)
                d = self.f(x + h * c, v)
                x = self.after(x + h / 6 * (a + 2 * b + 2 * c + d))
        t = np.arange(n) * dt
        X, U = stack(X, 1), stack(U, 1)
        assert np.isfinite(X).all(), self.name
        return t, X, U, rngs

    def after(self, x):
        return x


def ou(rng, R, n, dt, tau, size, m):
    w = np.zeros((R, n, m))
    a = np.exp(-dt / tau)
    w[:, 0] = size * rng.standard_normal((R, m))
    for i in range(1, n):
        w[:, i] = a * w[:, i - 1] + size * np.sqrt(1 - a * a) * rng.standard_normal((R, m))
    return w


class Car(Sim):
    name = "car40"
    states = ["x", "y", "yaw", "vx", "vy", "yaw_rate"]
    inputs = ["steering_cmd", "throttle"]
    units = dict(x="m", y="m", yaw="rad", vx="m/s", vy="m/s", yaw_rate="rad/s", steering_cmd="rad")
    rate = 40
    sub = 10
    K = 6
    fast = 0.7
    dead = (0.08, 0.04)
    lag = (0.06, 0.0)
    nrefs = 2

    def x0(self, R, rng):
        x = np.zeros((R, 6))
        x[:, 3] = 2.2
        return x

    def command(self, x, r, t, m):
        v = 2.4 + 1.1 * r[:, 1]
        return stack([0.38 * r[:, 0], clip(0.3 * (v - x[:, 3]) + 0.13 * v, -0.7, 1.0)], 1)

    def f(self, x, u):
        lf, lr, m, I = 0.16, 0.17, 3.2, 0.05
        yaw, vx, vy, r = x[:, 2], np.maximum(x[:, 3], 0.3), x[:, 4], x[:, 5]
        st, th = u[:, 0], u[:, 1]
        Ff = 14 * sin(1.5 * np.arctan(8 * (st - np.arctan2(vy + lf * r, vx))))
        Fr = 15 * sin(1.5 * np.arctan(8.5 * -np.arctan2(vy - lr * r, vx)))
        ax = (11 * th - 0.5 * x[:, 3] - 0.07 * vx * ab(vx) - Ff * sin(st)) / m + vy * r
        ay = (Ff * cos(st) + Fr) / m - vx * r
        return stack(
            [x[:, 3] * cos(yaw) - vy * sin(yaw), x[:, 3] * sin(yaw) + vy * cos(yaw), r, ax, ay, (lf * Ff * cos(st) - lr * Fr) / I], 1
        )


class Soft(Sim):
    name = "softarm"
    states = ["bend_x", "bend_y"]
    inputs = ["p1", "p2", "p3"]
    units = dict(bend_x="rad", bend_y="rad", p1="kPa", p2="kPa", p3="kPa")
    rate = 12
    sub = 40
    K = 6
    seconds = 90
    horizon = 1.0
    fast = 0.5
    ramp = 0
    dead = 0.05
    lag = 0.15
    amp = 40.0

    def command(self, x, r, t, m):
        return 60 + 40 * r

    def out(self, x):
        return x[:, [0, 1]]

    def f(self, x, u):  # b(2), rate(2), hysteresis(2)
        fx = (u[:, 0] - 0.5 * u[:, 1] - 0.5 * u[:, 2]) / 60
        fy = 0.866 * (u[:, 1] - u[:, 2]) / 60
        z = x[:, 4:6]
        w = x[:, 2:4]
        b = x[:, :2]
        F = stack([fx, fy], 1)
        dz = 8 * w - 6 * ab(w) * z * 2 - 2 * w * ab(z)
        stiff = 1 + 0.4 * (b**2).sum(1, keepdims=True)
        dw = 60 * F - 60 * stiff * b - 7 * w - 18 * z * 0.5
        return np.concatenate([w, dw, dz], 1)


class Industrial(Sim):
    name = "industrial"
    states = ["q1", "q2", "q3", "q4"]
    inputs = ["q1_cmd", "q2_cmd", "q3_cmd", "q4_cmd"]
    units = {**{f"q{i}": "rad" for i in range(1, 5)}, **{f"q{i}_cmd": "rad" for i in range(1, 5)}}
    rate = 10
    seconds = 80
    horizon = 1.0
    fast = 0.4
    noise = 0.003

    def fly(self, kinds, seed):
        import mujoco

        xml = """<mujoco><option timestep="0.002" integrator="implicitfast"/><compiler angle="radian"/><worldbody><body pos="0 0 .4"><joint name="j1" axis="0 0 1" damping="6" frictionloss="3" armature=".5"/><geom type="capsule" size=".09" fromto="0 0 0 0 0 .3" mass="12"/>
        <body pos="0 0 .3"><joint name="j2" axis="0 1 0" damping="8" frictionloss="4" armature=".6"/><geom type="capsule" size=".07" fromto="0 0 0 .5 0 0" mass="9"/><body pos=".5 0 0"><joint name="j3" axis="0 1 0" damping="4" frictionloss="2" armature=".3"/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0" mass="5"/>
        <body pos=".4 0 0"><joint name="j4" axis="0 1 0" damping="1" frictionloss=".5" armature=".08"/><geom type="capsule" size=".04" fromto="0 0 0 .15 0 0" mass="2"/></body></body></body></body></worldbody>
        <actuator><position joint="j1" kp="700" kv="110" forcerange="-150 150"/><position joint="j2" kp="1500" kv="180" forcerange="-260 260"/><position joint="j3" kp="600" kv="70" forcerange="-120 120"/><position joint="j4" kp="120" kv="14" forcerange="-30 30"/></actuator></mujoco>"""
        m = mujoco.MjModel.from_xml_string(xml)
        n = int(self.seconds * self.rate)
        home, reach = np.array([0, -0.5, 0.9, 0.2]), np.array([1.2, 0.6, 0.7, 0.9])
        rngs = [np.random.default_rng(1000 * seed + i) for i in range(len(kinds))]
        X = []
        U = []
        for g, k in zip(rngs, kinds):
            d = mujoco.MjData(m)
            r = home + reach * self.refs(g, k, n)
            d.qpos[:] = r[0]
            if k in ("train", "same"):
                j = g.integers(4)
                r[n // 2 :, j] = r[n // 2, j]
            x = np.empty((n, 4))
            for i in range(n):
                x[i] = d.qpos
                d.ctrl[:] = r[i]
                for _ in range(50):
                    mujoco.mj_step(m, d)
            X.append(x)
            U.append(r)
        return np.arange(n) / self.rate, stack(X), stack(U), rngs


class Cable(Sim):
    name = "cable"
    states = ["x", "y", "phi", "vx", "vy", "dphi"]
    inputs = ["t1", "t2", "t3", "t4"]
    units = dict(x="m", y="m", phi="rad", vx="m/s", vy="m/s", dphi="rad/s", t1="N", t2="N", t3="N", t4="N")
    rate = 50
    K = 6
    fast = 0.5
    nrefs = 3
    lag = 0.03
    A = np.array([[-2, 1.5], [2, 1.5], [2, -1.5], [-2, -1.5]]) * 1.0
    B = np.array([[-0.2, -0.15], [0.2, -0.15], [0.2, 0.15], [-0.2, 0.15]]) * 1.0  # crossed

    def geo(self, x):
        c, s = cos(x[:, 2]), sin(x[:, 2])
        W = []
        for a, b in zip(self.A, self.B):
            bx, by = c * b[0] - s * b[1], s * b[0] + c * b[1]
            dx, dy = a[0] - x[:, 0] - bx, a[1] - x[:, 1] - by
            l = np.hypot(dx, dy)
            dx, dy = dx / l, dy / l
            W.append(stack([dx, dy, bx * dy - by * dx], 1))
        return stack(W, 2)

    def command(self, x, r, t, m):
        e = stack([0.9 * r[:, 0] - x[:, 0], 0.6 * r[:, 1] - x[:, 1], 0.25 * r[:, 2] - x[:, 2]], 1)
        w = stack([60, 60, 5], 0) * e - stack([22, 22, 1.6], 0) * x[:, 3:]
        w[:, 1] += 4 * 9.81
        W = self.geo(x)
        ten = 40 + np.einsum("rij,rj->ri", np.linalg.pinv(W), w - 40 * W.sum(2))
        return clip(ten, 5, 150)

    def f(self, x, u):
        w = np.einsum("rij,rj->ri", self.geo(x), u)
        v = x[:, 3:]
        return stack(
            [v[:, 0], v[:, 1], v[:, 2], (w[:, 0] - 3 * v[:, 0]) / 4, (w[:, 1] - 3 * v[:, 1]) / 4 - 9.81, (w[:, 2] - 0.25 * v[:, 2]) / 0.12],
            1,
        )


class Balance(Sim):
    name = "balance"
    states = ["pitch", "pitch_rate", "speed", "yaw_rate"]
    inputs = ["left", "right"]
    units = dict(pitch="rad", pitch_rate="rad/s", speed="m/s", yaw_rate="rad/s", left="Nm", right="Nm")
    rate = 100
    sub = 4
    K = 5
    fast = 0.5
    lag = 0.02
    nrefs = 2

    def out(self, x):
        return x[:, :4]

    def command(self, x, r, t, m):
        v = 0.8 * r[:, 0]
        y = 1.5 * r[:, 1]
        iv = m.get("i", 0) + (v - x[:, 2]) * 0.01
        iv = clip(iv, -0.5, 0.5)
        m["i"] = iv
        T = 2 * (4.2 * x[:, 0] + 0.55 * x[:, 1] - 0.9 * (v - x[:, 2]) - 0.25 * iv)
        Y = 0.25 * (y - x[:, 3]) + 0.12 * y
        return clip(stack([T / 2 - Y, T / 2 + Y], 1), -1.6, 1.6)

    def f(self, x, u):
        M, m, l, Rw, I = 2.5, 0.6, 0.18, 0.05, 0.03
        th, w, v, y = x[:, 0], x[:, 1], x[:, 2], x[:, 3]
        fr = 0.04 * tanh(v / 0.03) + 0.05 * v
        F = (u.sum(1) - fr) / Rw
        T = -u.sum(1) + fr
        a11 = M + 2 * m
        a12 = M * l * cos(th)
        a22 = I + M * l * l
        b1 = F + M * l * w * w * sin(th)
        b2 = M * 9.81 * l * sin(th) + T
        det = a11 * a22 - a12 * a12
        return stack(
            [
                w,
                (a11 * b2 - a12 * b1) / det - 0.02 * w,
                (a22 * b1 - a12 * b2) / det,
                (6 * (u[:, 1] - u[:, 0]) - 0.7 * y - 0.2 * tanh(y / 0.05)),
                y,
            ],
            1,
        )


class Hexa(Sim):
    name = "hexacopter"
    states = ["x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"]
    inputs = [f"m{i}" for i in range(1, 7)]
    units = dict(x="m", y="m", z="m", vx="m/s", vy="m/s", vz="m/s", roll="rad", pitch="rad", yaw="rad", p="rad/s", q="rad/s", r="rad/s")
    rate = 100
    sub = 3
    K = 12
    fast = 0.35
    nrefs = 4
    dead = 0.01
    lag = 0.05
    seconds = 25

    def step_noise(self, R, rng, n):
        return ou(rng, R, n, 1 / self.rate, 2.0, 1.5, 3) * np.array([1, 1, 0.3]) + rng.normal(0, 2, (R, 1, 3)) * np.array([1, 1, 0])

    ang = np.arange(6) * pi / 3 + pi / 6
    dirs = np.array([1, -1, 1, -1, 1, -1])

    def mix(self):
        return np.array(
            [np.ones(6) * 6.0, 6 * 0.3 * sin(self.ang), -6 * 0.3 * cos(self.ang), 0.12 * self.dirs]
        )  # thrust N, torques Nm for m^2

    def command(self, x, r, t, m):
        vs = stack([3 * r[:, 0], 3 * r[:, 1], 1.2 * r[:, 2]], 1)
        a = 1.5 * (vs - x[:, 3:6])
        c, s = cos(x[:, 8]), sin(x[:, 8])
        pd = clip((a[:, 0] * c + a[:, 1] * s) / 9.81, -0.5, 0.5)
        rd = clip((a[:, 0] * s - a[:, 1] * c) / 9.81, -0.5, 0.5)
        T = 2.4 * (9.81 + a[:, 2])
        tau = stack(
            [0.9 * (rd - x[:, 6]) * 3 - 0.6 * x[:, 9], 0.9 * (pd - x[:, 7]) * 3 - 0.6 * x[:, 10], 0.35 * (0.8 * r[:, 3] - x[:, 11])], 1
        )
        M = self.mix()
        u2 = np.concatenate([T[:, None], tau], 1) @ np.linalg.pinv(M).T
        return np.sqrt(clip(u2, 0.04, 1.4))

    def f(self, x, u):
        w = np.zeros((len(x), 3)) if self.wi is None else self.wi
        F = (u**2) @ self.mix().T
        ro, pi_, ya = x[:, 6], x[:, 7], x[:, 8]
        cr, sr, cp, sp, cy, sy = cos(ro), sin(ro), cos(pi_), sin(pi_), cos(ya), sin(ya)
        rel = x[:, 3:6] - w
        drag = -0.12 * rel - 0.02 * rel * np.linalg.norm(rel, axis=1, keepdims=True)
        T = F[:, 0] / 2.4
        acc = stack([T * (cy * sp * cr + sy * sr), T * (sy * sp * cr - cy * sr), T * cp * cr - 9.81], 1) + drag
        p, q, r = x[:, 9], x[:, 10], x[:, 11]
        I = (0.035, 0.036, 0.06)
        return np.concatenate(
            [
                x[:, 3:6],
                acc,
                stack(
                    [
                        p + (q * sr + r * cr) * sp / cp,
                        q * cr - r * sr,
                        (q * sr + r * cr) / cp,
                        (F[:, 1] - (I[2] - I[1]) * q * r) / I[0] - 0.2 * p,
                        (F[:, 2] - (I[0] - I[2]) * p * r) / I[1] - 0.2 * q,
                        (F[:, 3] - 0.0 * p) / I[2] - 0.3 * r,
                    ],
                    1,
                ),
            ],
            1,
        )


class Auv(Sim):
    name = "auv"
    states = ["x", "y", "z", "yaw", "u", "v", "w", "r"]
    inputs = ["t1", "t2", "t3", "t4"]
    units = dict(x="m", y="m", z="m", yaw="rad", u="m/s", v="m/s", w="m/s", r="rad/s", t1="N", t2="N", t3="N", t4="N")
    rate = 10
    sub = 10
    K = 8
    seconds = 120
    horizon = 2.0
    fast = 0.12
    dead = 0.1
    lag = 0.25
    noise = 0.02
    amp = np.array([25, 25, 15, 20])

    def step_noise(self, R, rng, n):
        return ou(rng, R, n, 1 / self.rate, 30.0, 0.15, 2)

    def command(self, x, r, t, m):
        return r * self.amp + np.array([8, 8, 0, 0])

    def f(self, x, u):
        cur = self.wi
        c, s = cos(x[:, 3]), sin(x[:, 3])
        cx, cy = c * cur[:, 0] + s * cur[:, 1], -s * cur[:, 0] + c * cur[:, 1]
        su, sv, sw, r = x[:, 4], x[:, 5], x[:, 6], x[:, 7]
        a, b = su - cx, sv - cy
        X = u[:, 0] + u[:, 1]
        Y = u[:, 3]
        N = 0.25 * (u[:, 1] - u[:, 0]) + 0.1 * u[:, 3]
        return stack(
            [
                c * su - s * sv,
                s * su + c * sv,
                sw,
                r,
                (X - 12 * a - 25 * a * ab(a) + 38 * b * r) / 28,
                (Y - 18 * b - 40 * b * ab(b) - 28 * a * r) / 38,
                (u[:, 2] - 15 * sw - 35 * sw * ab(sw) + 1.5) / 40,
                (N - 2.5 * r - 4 * r * ab(r) - 10 * a * b) / 3.0,
            ],
            1,
        )


class Tracked(Sim):
    name = "tracked"
    states = ["x", "y", "heading", "speed", "yaw_rate"]
    inputs = ["left", "right"]
    units = dict(x="m", y="m", heading="rad", speed="m/s", yaw_rate="rad/s", left="m/s", right="m/s")
    rate = 20
    sub = 10
    K = 5
    seconds = 60
    horizon = 1.0
    fast = 0.3
    dead = 0.1
    lag = 0.2
    ramp = 0
    nrefs = 2

    def step_noise(self, R, rng, n):
        return ou(rng, R, n, 1 / self.rate, 3.0, 0.12, 2)

    def command(self, x, r, t, m):
        v = 0.7 * r[:, 0] + 0.3
        w = 0.5 * r[:, 1]
        return stack([v - w, v + w], 1)

    def f(self, x, u):
        y, v, w = x[:, 2], x[:, 3], x[:, 4]
        L, Rr = u[:, 0], u[:, 1]
        slip = 1 / (1 + 0.5 * ab(Rr - L)) * (1 + self.wi[:, 0])
        wt = (Rr - L) / 0.6 * slip * 0.75
        vt = (Rr + L) / 2 * (0.95 - 0.1 * ab(w))
        lat = 0.15 * w * v
        return stack(
            [v * cos(y) + lat * sin(y), v * sin(y) - lat * cos(y), w, 8 * tanh((vt - v) * 1.2) / 1.2, 12 * tanh((wt - w) * 1.0)], 1
        )


class Excavator(Sim):
    name = "excavator"
    states = ["boom", "stick", "bucket", "dboom", "dstick", "dbucket"]
    inputs = ["v1", "v2", "v3"]
    units = dict(boom="rad", stick="rad", bucket="rad", dboom="rad/s", dstick="rad/s", dbucket="rad/s")
    rate = 50
    sub = 5
    K = 6
    seconds = 40
    horizon = 0.5
    fast = 0.35
    dead = 0.12
    lag = 0.1

    def x0(self, R, rng):
        return np.tile([0.3, -1.2, -0.5, 0, 0, 0], (R, 1))

    def command(self, x, r, t, m):
        pos = stack([0.3 + 0.4 * r[:, 0], -1.2 + 0.5 * r[:, 1], -0.5 + 0.6 * r[:, 2]], 1)
        e = 3 * (pos - x[:, :3])
        return clip(np.where(ab(e) < 0.02, 0, e + 0.12 * sign(e)), -1, 1) * 1.0

    def f(self, x, u):
        db = 0.12
        eff = sign(u) * np.maximum(ab(u) - db, 0)
        gain = stack([0.55 - 0.15 * sin(x[:, 0]), 0.8 + 0 * x[:, 0], 1.1 + 0.2 * cos(x[:, 2])], 1)
        asym = np.where(eff > 0, 1.0, 0.8)
        load = stack([-0.06 * cos(x[:, 0]), 0.03 * cos(x[:, 0] + x[:, 1]), 0 * x[:, 0]], 1)
        vt = gain * asym * eff + load * (ab(eff) > 0)
        return np.concatenate([x[:, 3:], 20 * (vt - x[:, 3:])], 1)


class Conveyor(Sim):
    name = "conveyor"
    states = ["motor", "belt", "motor_speed", "belt_speed"]
    inputs = ["voltage"]
    units = dict(motor="rad", belt="rad", motor_speed="rad/s", belt_speed="rad/s", voltage="V")
    rate = 100
    sub = 10
    K = 4
    fast = 1.0
    ramp = 0
    amp = 12.0
    dead = 0.005

    def f(self, x, u):
        th, b, w, v = x.T
        d = th - b
        gap = 0.05
        k = 60.0
        T = k * (sign(d) * np.maximum(ab(d) - gap, 0)) + 0.4 * (w - v) * (ab(d) > gap)
        return stack([w, v, (0.5 * u[:, 0] - 0.12 * w - 0.3 * tanh(w / 0.05) - T) / 0.02, (T - 0.3 * v - 1.2 * tanh(v / 0.05)) / 0.08], 1)


class Tank(Sim):
    name = "tank"
    states = ["upper", "lower"]
    inputs = ["pump", "valve"]
    units = dict(upper="cm", lower="cm")
    rate = 1
    sub = 10
    K = 2
    seconds = 900
    horizon = 30.0
    fast = 0.012
    ramp = 0
    noise = 0.03
    dead = 2.0
    lag = 1.5

    def x0(self, R, rng):
        return np.full((R, 2), 9.0)

    def command(self, x, r, t, m):
        return stack([6 + 3.5 * r[:, 0], 0.5 + 0.3 * r[:, 1]], 1)

    def f(self, x, u):
        a, b = np.maximum(x[:, 0], 0), np.maximum(x[:, 1], 0)
        o = 1.8 * u[:, 1] * np.sqrt(a) * 1.1
        return stack([0.22 * u[:, 0] - 0.45 * o + 0.0 * a, 0.45 * o - 0.3 * np.sqrt(b) * 1.0], 1) * 0.6


class Thermal(Sim):
    name = "thermal"
    states = ["plate", "housing", "air"]
    inputs = ["heater", "blower"]
    units = dict(plate="degC", housing="degC", air="degC")
    rate = 1
    sub = 4
    K = 3
    seconds = 1500
    horizon = 60.0
    fast = 0.006
    ramp = 0
    noise = 0.01
    dead = 3.0

    def x0(self, R, rng):
        return np.tile([60, 42, 28.0], (R, 1)) + rng.normal(0, 3, (R, 3))

    def step_noise(self, R, rng, n):
        return ou(rng, R, n, 1, 200.0, 1.5, 1)

    def command(self, x, r, t, m):
        return stack([0.5 + 0.38 * r[:, 0], 0.5 + 0.38 * r[:, 1]], 1)

    def f(self, x, u):
        p, h, a = x.T
        T = 22 + self.wi[:, 0]
        fl = 0.004 + 0.02 * u[:, 1]
        rad = 2e-10 * ((p + 273) ** 4 - (T + 273) ** 4) * 0.02
        return stack(
            [
                1.4 * u[:, 0] - 0.012 * (p - h) - fl * (p - a) - rad,
                0.006 * (p - h) - 0.009 * (h - T),
                0.02 * (fl / 0.01) * (p - a) * 0.15 - 0.02 * (a - T) * (1 + u[:, 1]),
            ],
            1,
        )


class Space(Sim):
    name = "spacecraft"
    states = ["qw", "qx", "qy", "qz", "wx", "wy", "wz"]
    inputs = ["tx", "ty", "tz"]
    units = dict(wx="rad/s", wy="rad/s", wz="rad/s", tx="Nm", ty="Nm", tz="Nm")
    rate = 10
    K = 7
    seconds = 100
    horizon = 2.0
    fast = 0.12
    amp = np.array([0.35, 0.3, 0.25])
    lag = 0.2

    def x0(self, R, rng):
        q = rng.standard_normal((R, 4)) * 0.4
        q[:, 0] = 1
        q /= np.linalg.norm(q, axis=1, keepdims=True)
        return np.concatenate([q, np.zeros((R, 3))], 1)

    def command(self, x, r, t, m):
        return r * self.amp - 0.25 * x[:, 4:]

    def f(self, x, u):
        q0, q1, q2, q3, a, b, c = x.T
        I = (2.0, 1.6, 1.1)
        return stack(
            [
                0.5 * (-q1 * a - q2 * b - q3 * c),
                0.5 * (q0 * a + q2 * c - q3 * b),
                0.5 * (q0 * b - q1 * c + q3 * a),
                0.5 * (q0 * c + q1 * b - q2 * a),
                (u[:, 0] + (I[1] - I[2]) * b * c) / I[0],
                (u[:, 1] + (I[2] - I[0]) * a * c) / I[1],
                (u[:, 2] + (I[0] - I[1]) * a * b) / I[2],
            ],
            1,
        )

    def after(self, x):
        x = x.copy()
        x[:, :4] /= np.linalg.norm(x[:, :4], axis=1, keepdims=True)
        return x


class CartPole(Sim):
    name = "cartpole"
    states = ["x", "theta", "v", "omega"]
    inputs = ["force"]
    units = dict(x="m", theta="rad", v="m/s", omega="rad/s", force="N")
    rate = 50
    K = 4
    fast = 0.5
    nrefs = 2
    seconds = 40
    dead = 0.01

    def command(self, x, r, t, m):
        return clip(48 * x[:, 1] + 9 * x[:, 3] + 3 * (x[:, 0] - 0.8 * r[:, 0]) + 5 * x[:, 2] + 2 * r[:, 1], -25, 25)[:, None]

    def f(self, x, u):
        M, m, l = 1.0, 0.2, 0.5
        th, v, w = x[:, 1], x[:, 2], x[:, 3]
        F = u[:, 0] - 0.8 * v - 0.6 * tanh(v / 0.03)
        s, c = sin(th), cos(th)
        tmp = (F + m * l * w * w * s) / (M + m)
        a = (9.81 * s - c * tmp - 0.02 * w) / (l * (4 / 3 - m * c * c / (M + m)))
        return stack([v, w, tmp - m * l * a * c / (M + m), a], 1)


class BallPlate(Sim):
    name = "ballplate"
    states = ["x", "y"]
    inputs = ["ax", "ay"]
    units = dict(x="m", y="m", ax="rad", ay="rad")
    rate = 30
    sub = 10
    K = 8
    fast = 0.4
    seconds = 60
    nrefs = 2
    dead = 0.05
    noise = 0.02

    def out(self, x):
        return x[:, :2]

    def command(self, x, r, t, m):
        e = stack([0.12 * r[:, 0] - x[:, 0], 0.12 * r[:, 1] - x[:, 1]], 1)
        return clip(0.9 * e - 0.5 * x[:, 2:4], -0.15, 0.15)

    def f(self, x, u):
        v = x[:, 2:4]
        al = x[:, 4:6]
        dal = x[:, 6:8]
        sp = np.linalg.norm(v, axis=1, keepdims=True)
        dd = 400 * (u - al) - 28 * dal
        return np.concatenate(
            [
                v,
                5 / 7 * 9.81 * sin(al) - 0.12 * tanh(sp / 0.01) * v / np.maximum(sp, 1e-3) * 0.3 - 0.1 * v + 5 / 7 * x[:, :2] * dal**2,
                dal,
                dd,
            ],
            1,
        )


class Pend6(Sim):
    name = "pendulum6"
    states = ["theta", "omega"]
    inputs = ["torque"]
    units = dict(theta="rad", omega="rad/s", torque="Nm")
    rate = 6
    sub = 40
    K = 2
    fast = 0.5
    seconds = 120
    horizon = 1.0
    amp = 1.8
    noise = 0.02

    def f(self, x, u):
        return stack([x[:, 1], (u[:, 0] - 0.25 * x[:, 1] - 0.1 * tanh(x[:, 1] / 0.05) - 0.5 * 9.81 * 0.55 * sin(x[:, 0])) / 0.16], 1)


ROBOTS = {
    c.name: c
    for c in (
        Car,
        Soft,
        Industrial,
        Cable,
        Balance,
        Hexa,
        Auv,
        Tracked,
        Excavator,
        Conveyor,
        Tank,
        Thermal,
        Space,
        CartPole,
        BallPlate,
        Pend6,
    )
}


def runs(robot, seed=1):
    """By kind: times, measured states and inputs of its runs. Sensors have noise of a share of what states change by in the horizon."""
    t, states, inputs, rngs = robot.fly(KINDS, seed)
    ahead = max(1, round(robot.horizon * robot.rate))
    deviation = robot.noise * (states[0, ahead:] - states[0, :-ahead]).std(0)
    out = {}
    for kind, x, u, rng in zip(KINDS, states, inputs, rngs):
        out.setdefault(kind, []).append((t, x + deviation * rng.standard_normal(x.shape), u))
    return out


def write(path, robot, of):
    flights = log.flights(*([run[i] for run in of] for i in range(3)))
    log.write(path, robot.name, flights, log.channels(robot.states, robot.inputs, robot.units, {}, None, flights))
    return str(path)


def main(robots=ROBOTS):
    """Trains a model of each of the robots that the arguments name, and prints its scores."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", default=list(robots), help="robots, by default all")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder for logs, models and manoeuvres.jsonl")
    p.add_argument("--preset", default="quick", choices=("quick", "default"))
    o = p.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    for name in o.names:
        robot = robots[name]()
        of, model = runs(robot), o.out / f"{name}.dgm"
        trained = programs.document(
            "dgm-train",
            [
                "--log",
                write(o.out / f"{name}-train.msgpack", robot, of["train"]),
                "--out",
                str(model),
                "--horizon",
                f"{robot.horizon}s",
                "--preset",
                o.preset,
            ],
        )
        for kind in ("same", "new", "new13"):
            document = programs.document(
                "dgm-eval", ["--model", str(model), "--log", write(o.out / f"{name}-{kind}.msgpack", robot, of[kind])]
            )
            cells = [c for h in document["horizons"] for c in h["channels"] if c["hold"] > 0]
            mean = lambda key: float(np.exp(np.mean([np.log(c[key] / c["hold"]) for c in cells])))
            row = {
                "robot": name,
                "test": kind,
                "error": round(mean("rmse"), 4),
                "ridge": round(mean("ridge"), 4),
                "crps": round(mean("crps"), 4),
                "worst_over_ridge": round(max(c["rmse"] / c["ridge"] for c in cells), 3),
                "coverage95_by_horizon": [round(float(np.mean([c["coverage95"] for c in h["channels"]])), 4) for h in document["horizons"]],
                "coverage50": round(float(np.mean([c["coverage50"] for c in cells])), 4),
                "least_coverage95": round(min(c["coverage95"] for c in cells), 4),
                "cpu_seconds": round(trained["cpu_seconds"]),
            }
            with (o.out / "manoeuvres.jsonl").open("a") as f:
                f.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
