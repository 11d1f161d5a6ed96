"""Thirteen simulated plants under feedback on manoeuvres that are not in their training, beside those of manoeuvres.py and as these are.

pip install numpy scipy mujoco msgpack
cd python/studies && PYTHONPATH=.. DGM_PROGRAMS=FOLDER python plants.py --out /tmp/plants [NAME ...]
"""

import numpy as np
from manoeuvres import Sim, main, ou
from numpy import abs as ab, clip, cos, sign, sin, stack, tanh


class Leg(Sim):
    name = "leg"
    states = ["hip", "knee", "hip_rate", "knee_rate"]
    inputs = ["hip_torque", "knee_torque"]
    units = dict(hip="rad", knee="rad", hip_rate="rad/s", knee_rate="rad/s", hip_torque="Nm", knee_torque="Nm")
    rate = 100
    sub = 10
    K = 4
    fast = 1.0
    lag = 0.005
    seconds = 30

    def x0(self, R, rng):
        return np.tile([0.5, -1.0, 0, 0], (R, 1))

    def command(self, x, r, t, m):
        qd = stack([0.5 + 0.5 * r[:, 0], -1.0 + 0.6 * r[:, 1]], 1)
        return clip(stack([60, 45], 0) * (qd - x[:, :2]) - stack([2.5, 1.6], 0) * x[:, 2:], -40, 40)

    def f(self, x, u):
        l1, l2, m1, m2, g = 0.3, 0.3, 2.0, 1.0, 9.81
        q1, q2, w1, w2 = x.T
        c2, s2 = cos(q2), sin(q2)
        M11 = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3 + l1 * l2 * c2) + 0.02
        M12 = m2 * (l2**2 / 3 + l1 * l2 * c2 / 2)
        M22 = m2 * l2**2 / 3 + 0.01
        h = m2 * l1 * l2 * s2 / 2
        G1 = (m1 * l1 / 2 + m2 * l1) * g * sin(q1) + m2 * l2 / 2 * g * sin(q1 + q2)
        G2 = m2 * l2 / 2 * g * sin(q1 + q2)
        # foot against the ground
        fx, fz = l1 * sin(q1) + l2 * sin(q1 + q2), -(l1 * cos(q1) + l2 * cos(q1 + q2))
        vx = l1 * cos(q1) * w1 + l2 * cos(q1 + q2) * (w1 + w2)
        vz = l1 * sin(q1) * w1 + l2 * sin(q1 + q2) * (w1 + w2)
        pen = np.maximum(-0.52 - fz, 0)
        Fz = np.maximum(2e4 * pen - 100 * vz * (pen > 0), 0)
        Fx = -0.6 * Fz * tanh(vx / 0.05)
        t1 = Fx * (l1 * cos(q1) + l2 * cos(q1 + q2)) + Fz * (l1 * sin(q1) + l2 * sin(q1 + q2))
        t2 = Fx * l2 * cos(q1 + q2) + Fz * l2 * sin(q1 + q2)
        b1 = u[:, 0] - 0.3 * w1 - 0.2 * tanh(w1 / 0.05) + h * (2 * w1 * w2 + w2 * w2) - G1 + t1
        b2 = u[:, 1] - 0.2 * w2 - 0.15 * tanh(w2 / 0.05) - h * w1 * w1 - G2 + t2
        d = M11 * M22 - M12 * M12
        return stack([w1, w2, (M22 * b1 - M12 * b2) / d, (M11 * b2 - M12 * b1) / d], 1)


class Cylinder(Sim):
    name = "cylinder"
    states = ["position", "velocity", "pa", "pb"]
    inputs = ["valve"]
    units = dict(position="m", velocity="m/s", pa="bar", pb="bar")
    rate = 50
    sub = 40
    K = 5
    fast = 0.6
    seconds = 40
    dead = 0.01

    def x0(self, R, rng):
        return np.tile([0.0, 0, 80, 80, 0], (R, 1)).astype(float)

    def out(self, x):
        return x[:, :4]

    def command(self, x, r, t, m):
        return clip(8 * (0.25 * r[:, 0:1] - x[:, 0:1]) - 0.3 * x[:, 1:2], -1, 1)

    def f(self, x, u):
        p, v, pa, pb, s = x.T
        Aa, Ab = 1.2e-3, 0.8e-3
        q = 9e-5
        fl = lambda d: sign(d) * np.sqrt(ab(d))
        op = np.where(ab(s) < 0.03, 0, s - 0.03 * sign(s))
        qa = np.where(op > 0, q * op * fl(160 - pa), q * op * fl(pa - 2))
        qb = np.where(op > 0, -q * op * fl(pb - 2), -q * op * fl(160 - pb))
        leak = 2e-8 * (pa - pb)
        B = 7000.0
        Va, Vb = 2.0e-4 * 2 + Aa * (p + 0.5), 2.0e-4 * 2 + Ab * (0.5 - p)
        F = (pa * Aa - pb * Ab) * 1e5 * 1.0 - 900 * v - 150 * tanh(v / 0.01) - 60 * 9.81 * 0.3
        return stack([v, F / 60, B / Va * (qa - Aa * v - leak), B / Vb * (qb + Ab * v + leak), 60 * (u[:, 0] - s)], 1)


class Heli3(Sim):
    name = "heli3"
    states = ["elevation", "pitch", "travel", "elevation_rate", "pitch_rate", "travel_rate"]
    inputs = ["front", "back"]
    units = dict(
        elevation="rad", pitch="rad", travel="rad", elevation_rate="rad/s", pitch_rate="rad/s", travel_rate="rad/s", front="V", back="V"
    )
    rate = 50
    sub = 5
    K = 6
    fast = 0.25
    seconds = 50
    lag = 0.08
    nrefs = 2

    def command(self, x, r, t, m):
        e = 0.3 * r[:, 0]
        tr = 0.5 * r[:, 1]
        S = 9.0 / cos(clip(x[:, 1], -1, 1)) * cos(x[:, 0]) + 14 * (e - x[:, 0]) - 11 * x[:, 3]
        pd = clip(-1.6 * (tr - x[:, 5]), -0.6, 0.6)
        D = 10 * (pd - x[:, 1]) - 5 * x[:, 4]
        return clip(stack([(S + D) / 2, (S - D) / 2], 1), 0, 14)

    def f(self, x, u):
        e, p, t, de, dp, dt_ = x.T
        S, D = (u**2 * 0.06 + u * 0.6).sum(1), (u[:, 0] ** 2 - u[:, 1] ** 2) * 0.06 + (u[:, 0] - u[:, 1]) * 0.6
        return stack(
            [
                de,
                dp,
                dt_,
                (S * 0.66 * cos(p) - 5.1 * cos(e) - 0.4 * sin(e) - 0.8 * de) / 1.0,
                (D * 0.9 - 0.5 * dp - 0.3 * sin(p)) / 0.5,
                -(S * 0.66 * sin(p) * cos(e) + 0.9 * dt_ + 0.2 * dt_ * ab(dt_)) / 1.0,
            ],
            1,
        )


class Furuta(Sim):
    name = "furuta"
    states = ["arm", "pendulum", "arm_rate", "pendulum_rate"]
    inputs = ["voltage"]
    units = dict(arm="rad", pendulum="rad", arm_rate="rad/s", pendulum_rate="rad/s", voltage="V")
    rate = 100
    sub = 5
    K = 4
    fast = 0.6
    nrefs = 1

    def command(self, x, r, t, m):
        if not hasattr(self, "gain"):
            import scipy.linalg as sl

            e = 1e-6
            z = np.zeros((1, 4))
            A = np.stack(
                [(self.f(z + e * np.eye(4)[k : k + 1], np.zeros((1, 1))) - self.f(z, np.zeros((1, 1))))[0] / e for k in range(4)], 1
            )
            B = ((self.f(z, np.full((1, 1), e)) - self.f(z, np.zeros((1, 1))))[0] / e)[:, None]
            P = sl.solve_continuous_are(A, B, np.diag([12.0, 40, 0.3, 1]), np.eye(1) * 0.15)
            self.gain = (B.T @ P / 0.15)[0]
        ref = np.zeros_like(x)
        ref[:, 0] = 0.8 * r[:, 0]
        return clip(-((x - ref) @ self.gain), -10, 10)[:, None]

    def f(self, x, u):
        a, th, wa, w = x.T
        mp, Lr, Lp, Jr, Jp = 0.024, 0.085, 0.129, 5.7e-5, 3.3e-5
        l = Lp / 2
        tau = 0.042 * (u[:, 0] - 0.042 * wa) / 8.4 - 0.00005 * tanh(wa / 0.05)
        m11 = Jr + mp * Lr**2 + mp * l * l * sin(th) ** 2
        m12 = mp * Lr * l * cos(th)
        m22 = Jp + mp * l * l
        b1 = tau - 0.0003 * wa - 2 * mp * l * l * sin(th) * cos(th) * wa * w + mp * Lr * l * sin(th) * w * w
        b2 = -0.00002 * w + mp * l * l * sin(th) * cos(th) * wa * wa + mp * 9.81 * l * sin(th)
        d = m11 * m22 - m12 * m12
        return stack([wa, w, (m22 * b1 - m12 * b2) / d, (m11 * b2 - m12 * b1) / d], 1)


class Scara(Sim):
    name = "scara"
    states = ["j1", "j2", "z", "j1_rate", "j2_rate", "z_rate"]
    inputs = ["tau1", "tau2", "fz"]
    units = dict(j1="rad", j2="rad", z="m", j1_rate="rad/s", j2_rate="rad/s", z_rate="m/s", tau1="Nm", tau2="Nm", fz="N")
    rate = 100
    sub = 5
    K = 6
    fast = 0.7
    lag = 0.004

    def command(self, x, r, t, m):
        q = stack([1.2 * r[:, 0], 0.8 + 0.9 * r[:, 1], 0.1 * r[:, 2]], 1)
        return clip(stack([160, 80, 900], 0) * (q - x[:, :3]) - stack([32, 12, 90], 0) * x[:, 3:] + stack([0, 0, 2 * 9.81], 0), -80, 80)

    def f(self, x, u):
        q2, w1, w2, v = x[:, 1], x[:, 3], x[:, 4], x[:, 5]
        a, b, c = 3.2, 0.9, 0.75
        M11 = a + 2 * c * cos(q2)
        M12 = b + c * cos(q2)
        M22 = b
        h = c * sin(q2)
        b1 = u[:, 0] + h * (2 * w1 * w2 + w2 * w2) - 3 * w1 - 2.5 * tanh(w1 / 0.03)
        b2 = u[:, 1] - h * w1 * w1 - 1.2 * w2 - 1.0 * tanh(w2 / 0.03)
        d = M11 * M22 - M12 * M12
        return stack(
            [w1, w2, v, (M22 * b1 - M12 * b2) / d, (M11 * b2 - M12 * b1) / d, (u[:, 2] - 8 * v - 3 * tanh(v / 0.01)) / 2 - 9.81], 1
        )


class Blimp(Sim):
    name = "blimp"
    states = ["x", "y", "z", "yaw", "u", "v", "w", "yaw_rate"]
    inputs = ["left", "right", "up"]
    units = dict(x="m", y="m", z="m", yaw="rad", u="m/s", v="m/s", w="m/s", yaw_rate="rad/s", left="N", right="N", up="N")
    rate = 20
    sub = 5
    K = 8
    fast = 0.12
    seconds = 120
    horizon = 1.5
    lag = 0.15
    nrefs = 3

    def step_noise(self, R, rng, n):
        return ou(rng, R, n, 1 / self.rate, 8.0, 0.25, 2)

    def command(self, x, r, t, m):
        F = 0.5 * (1.0 + 0.8 * r[:, 0] - x[:, 4]) + 0.15
        N = 0.5 * (0.6 * r[:, 1] - x[:, 7]) + 0.2 * r[:, 1]
        up = 0.5 * (1.0 * r[:, 2] - x[:, 2]) - 0.5 * x[:, 6] + 0.1
        return clip(stack([F / 2 - N / 2, F / 2 + N / 2, up], 1), -0.8, 0.8)

    def f(self, x, u):
        c, s = cos(x[:, 3]), sin(x[:, 3])
        w = self.wi
        a = x[:, 4] - (c * w[:, 0] + s * w[:, 1])
        b = x[:, 5] - (-s * w[:, 0] + c * w[:, 1])
        X = u[:, 0] + u[:, 1]
        N = 0.4 * (u[:, 1] - u[:, 0])
        return stack(
            [
                c * x[:, 4] - s * x[:, 5],
                s * x[:, 4] + c * x[:, 5],
                x[:, 6],
                x[:, 7],
                (X - 0.05 * a - 0.12 * a * ab(a) + 1.6 * b * x[:, 7]) / 1.2,
                (-0.2 * b - 0.5 * b * ab(b) - 1.2 * a * x[:, 7]) / 1.7,
                (u[:, 2] - 0.1 * x[:, 6] - 0.5 * x[:, 6] * ab(x[:, 6]) - 0.08) / 1.6,
                (N - 0.05 * x[:, 7] - 0.1 * x[:, 7] * ab(x[:, 7])) / 0.25,
            ],
            1,
        )


class Arm7(Sim):
    name = "arm7"
    states = [f"q{i}" for i in range(1, 8)] + [f"dq{i}" for i in range(1, 8)]
    inputs = [f"tau{i}" for i in range(1, 8)]
    units = {**{f"q{i}": "rad" for i in range(1, 8)}, **{f"dq{i}": "rad/s" for i in range(1, 8)}, **{f"tau{i}": "Nm" for i in range(1, 8)}}
    rate = 50
    seconds = 40
    fast = 0.5

    def fly(self, kinds, seed):
        import mujoco

        axes = ["0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1"]
        ln = [0.34, 0.2, 0.2, 0.2, 0.2, 0.1, 0.08]
        ms = [4, 3.5, 3, 2.5, 1.7, 1.6, 0.4]
        inner = ""
        for i in reversed(range(7)):
            inner = f'<body pos="0 0 {ln[i - 1] if i else 0.1}"><joint name="j{i}" axis="{axes[i]}" damping="{[1, 1, 0.6, 0.6, 0.3, 0.3, 0.1][i]}" frictionloss="{[0.6, 0.6, 0.4, 0.4, 0.2, 0.2, 0.1][i]}" armature="{[0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.05][i]}"/><geom type="capsule" size=".05" fromto="0 0 0 0 .03 {ln[i]}" mass="{ms[i]}" contype="0" conaffinity="0"/>{inner}</body>'
        act = "".join(f'<motor joint="j{i}"/>' for i in range(7))
        m = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="0.002" integrator="implicitfast"/><compiler angle="radian"/><worldbody>{inner}</worldbody><actuator>{act}</actuator></mujoco>'
        )
        n = int(self.seconds * self.rate)
        reach = np.array([1, 0.7, 0.9, 0.8, 1.2, 0.9, 1.5])
        home = np.array([0, 0.4, 0, -1.2, 0, 0.8, 0])
        kp = np.array([250, 250, 150, 150, 60, 50, 20.0])
        kd = np.array([30, 30, 18, 18, 7, 6, 2.0])
        rngs = [np.random.default_rng(1000 * seed + i) for i in range(len(kinds))]
        X = []
        U = []
        for g, k in zip(rngs, kinds):
            d = mujoco.MjData(m)
            r = home + reach * self.refs(g, k, n)
            d.qpos[:] = r[0]
            x = np.empty((n, 14))
            uu = np.empty((n, 7))
            for i in range(n):
                mujoco.mj_forward(m, d)
                x[i] = np.r_[d.qpos, d.qvel]
                uu[i] = clip(kp * (r[i] - d.qpos) - kd * d.qvel + d.qfrc_bias * 0.8, -120, 120)
                d.ctrl[:] = uu[i]
                for _ in range(10):
                    mujoco.mj_step(m, d)
            X.append(x)
            U.append(uu)
        return np.arange(n) / self.rate, stack(X), stack(U), rngs


class Gantry(Sim):
    name = "gantry"
    states = ["x", "swing", "v", "swing_rate"]
    inputs = ["force"]
    units = dict(x="m", swing="rad", v="m/s", swing_rate="rad/s", force="N")
    rate = 50
    K = 4
    fast = 0.3
    seconds = 40
    nrefs = 1

    def command(self, x, r, t, m):
        return clip(40 * (1.5 * r[:, :1] - x[:, :1]) - 45 * x[:, 2:3] + 10 * x[:, 1:2], -60, 60)

    def f(self, x, u):
        M, m, l = 8, 3, 1.2
        th, v, w = x[:, 1], x[:, 2], x[:, 3]
        F = u[:, 0] - 6 * v - 3 * tanh(v / 0.02)
        s, c = sin(th), cos(th)
        a = (F + m * l * w * w * s + m * 9.81 * s * c) / (M + m * s * s)
        return stack([v, w, a, (-9.81 * s - a * c) / l - 0.05 * w], 1)


class MagLev(Sim):
    name = "maglev"
    states = ["gap", "gap_rate", "current"]
    inputs = ["voltage"]
    units = dict(gap="mm", gap_rate="mm/s", current="A", voltage="V")
    rate = 200
    sub = 10
    K = 3
    fast = 1.5
    seconds = 20
    horizon = 0.2

    def x0(self, R, rng):
        return np.tile([10.0, 0, 1.5], (R, 1))

    def command(self, x, r, t, m):
        g = 10 + 2.0 * r[:, 0]
        i = 0.15 * g + 0.45 * (x[:, 0] - g) + 0.010 * x[:, 1]
        return clip(5 * i + 8 * (i - x[:, 2]), -24, 24)[:, None]

    def f(self, x, u):
        g, v, i = x.T
        g = np.maximum(g, 2)
        return stack([v, 9810 - 9810 * (i / (0.15 * g)) ** 2 - 2 * v, (u[:, 0] - 5 * i) / 0.05], 1)


class Flex(Sim):
    name = "flexjoint"
    states = ["motor", "link", "motor_rate", "link_rate"]
    inputs = ["torque"]
    units = dict(motor="rad", link="rad", motor_rate="rad/s", link_rate="rad/s", torque="Nm")
    rate = 100
    sub = 10
    K = 4
    fast = 0.8
    nrefs = 1

    def command(self, x, r, t, m):
        return clip(14 * (1.2 * r[:, :1] - x[:, 0:1]) - 1.8 * x[:, 2:3] + 4 * (x[:, 1:2] - x[:, 0:1]), -12, 12)

    def f(self, x, u):
        q, l, w, v = x.T
        d = q - l
        T = 22 * d + 60 * d**3 + 0.05 * (w - v)
        return stack([w, v, (u[:, 0] - T - 0.3 * w - 0.15 * tanh(w / 0.03)) / 0.05, (T - 0.05 * v - 2.0 * sin(l)) / 0.12], 1)


class Quad2(Sim):
    name = "quad2"
    states = ["x", "z", "theta", "vx", "vz", "q"]
    inputs = ["f1", "f2"]
    units = dict(x="m", z="m", theta="rad", vx="m/s", vz="m/s", q="rad/s", f1="N", f2="N")
    rate = 100
    sub = 4
    K = 6
    fast = 0.4
    nrefs = 2
    lag = 0.03

    def command(self, x, r, t, m):
        ax = 2.0 * (2 * r[:, 0] - x[:, 3])
        th = clip(-ax / 9.81, -0.5, 0.5)
        T = 1.2 * (9.81 + 3 * (1.0 * r[:, 1] - x[:, 4]))
        tq = 0.02 * (120 * (th - x[:, 2]) - 18 * x[:, 5])
        return clip(stack([T / 2 - tq / 0.3, T / 2 + tq / 0.3], 1), 0.5, 14)

    def f(self, x, u):
        T = u.sum(1) / 1.2
        th = x[:, 2]
        return stack(
            [
                x[:, 3],
                x[:, 4],
                x[:, 5],
                -T * sin(th) - 0.15 * x[:, 3],
                T * cos(th) - 9.81 - 0.15 * x[:, 4],
                0.15 * (u[:, 1] - u[:, 0]) / 0.02 - 0.3 * x[:, 5],
            ],
            1,
        )


class YawCar(Sim):
    name = "yawcar"
    states = ["x", "y", "heading", "speed", "yaw_rate"]
    inputs = ["steering", "throttle"]
    units = dict(x="m", y="m", heading="rad", speed="m/s", yaw_rate="rad/s", steering="rad")
    rate = 50
    sub = 4
    K = 5
    fast = 0.5
    dead = (0.06, 0.02)
    lag = (0.0, 0.1)
    nrefs = 2
    seconds = 40
    horizon = 1.0

    def x0(self, R, rng):
        return np.tile([0.0, 0, 0, 4, 0], (R, 1))

    def out(self, x):
        return stack([*x[:, :4].T, x[:, 3] * np.tan(x[:, 4]) / 2.7], 1)

    def command(self, x, r, t, m):
        return stack([0.35 * r[:, 0], clip(0.5 * (5 + 2 * r[:, 1] - x[:, 3]) + 0.15, -1, 1)], 1)

    def f(self, x, u):
        _, _, yaw, v, angle = x.T
        w = v * np.tan(angle) / 2.7
        return stack([v * cos(yaw), v * sin(yaw), w, 3 * u[:, 1] - 0.02 * v * v - 0.1 * v - 0.3 * w * w, (u[:, 0] - angle) / 0.15], 1)


class SteerCar(Sim):
    name = "steercar"
    states = ["x", "y", "heading", "speed", "steering_angle", "yaw_rate"]
    inputs = ["steering_cmd", "accel_cmd"]
    units = dict(x="m", y="m", heading="deg", speed="m/s", steering_angle="deg", yaw_rate="deg/s", steering_cmd="deg", accel_cmd="m/s^2")
    rate = 50
    sub = 4
    K = 6
    fast = 0.4
    dead = (0.08, 0.05)
    lag = (0.0, 0.2)
    nrefs = 2
    seconds = 40
    horizon = 1.0

    def x0(self, R, rng):
        return np.tile([0.0, 0, 0, 8, 0, 0], (R, 1))

    def out(self, x):
        return x * np.array([1, 1, 180 / np.pi, 1, 180 / np.pi, 180 / np.pi])

    def command(self, x, r, t, m):
        return stack([18 * r[:, 0], clip(0.6 * (8 + 4 * r[:, 1] - x[:, 3]), -3, 2)], 1)

    def f(self, x, u):
        _, _, yaw, v, angle, w = x.T
        wheel = clip(8 * (np.deg2rad(u[:, 0]) - angle), -0.7, 0.7)
        turn = 9 * (v * np.tan(angle) / (2.7 * (1 + 0.002 * v * v)) - w)
        return stack([v * cos(yaw), v * sin(yaw), w, u[:, 1] - 0.01 * v - 0.0008 * v * v, wheel, turn], 1)


PLANTS = {c.name: c for c in (Leg, Cylinder, Heli3, Furuta, Scara, Blimp, Arm7, Gantry, MagLev, Flex, Quad2, YawCar, SteerCar)}

if __name__ == "__main__":
    main(PLANTS)
