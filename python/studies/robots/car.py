"""A car of scale 1:10: a dynamic single track with tyres that saturate, a steering servo with a lag and a motor with a dead time."""
import numpy as np

from . import Late, Robot, runge_kutta, smooth, unchanged

RATE = 100
FRONT, REAR, MASS, INERTIA = 0.16, 0.17, 3.5, 0.055  # m, kg, kg m²


def f(s, u):
    _, _, yaw, vx, vy, r = s
    steering, force = u
    front = 18 * np.sin(1.4 * np.arctan(7 * (steering - np.arctan2(vy + FRONT * r, vx))))
    rear = 18 * np.sin(1.4 * np.arctan(8 * -np.arctan2(vy - REAR * r, vx)))
    ax = (force - 0.4 * vx - 0.08 * vx * abs(vx) - front * np.sin(steering)) / MASS + vy * r
    ay = (front * np.cos(steering) + rear) / MASS - vx * r
    return np.array([vx * np.cos(yaw) - vy * np.sin(yaw), vx * np.sin(yaw) + vy * np.cos(yaw), r, ax, ay, (FRONT * front * np.cos(steering) - REAR * rear) / INERTIA])


def fly(rng, manoeuvre, seconds, changed=unchanged):
    n = int(seconds * RATE)
    t = np.arange(n) / RATE
    if manoeuvre == "training":
        steer, speed = smooth(rng, seconds, RATE, 0.9, 0.45), 2.2 + smooth(rng, seconds, RATE, 0.25, 1.1)
    else:  # a slalom that becomes quicker
        steer, speed = 0.24 * np.sin(2 * np.pi * (0.45 * t + 0.006 * t * t)), 2.2 + 0.4 * np.sin(0.3 * t)
    s = np.array([0, 0, 0, 2.0, 0, 0])
    follow = lambda i: np.clip(0.25 * (speed[i] - s[3]) + 0.12 * speed[i], -0.6, 1)
    servo, motor = Late(0, 0.08, RATE), Late(0.06, 0, RATE, follow(0))  # as before the log
    x, u = np.empty((n, 7)), np.empty((n, 2))
    for i in range(n):
        throttle = follow(i)
        steering = servo(steer[i] * changed(t[i]).get("steering", 1.0))
        x[i], u[i] = [*s, steering], [steer[i], throttle]
        s = runge_kutta(f, s, (steering, 10 * motor(throttle)), 0.002, 5)
    return t, x, u


ROBOT = Robot(
    "car with tyres, 1:10", "equations of this folder", ["x", "y", "yaw", "vx", "vy", "yaw_rate", "steering"], ["steering_cmd", "throttle"],
    {"x": "m", "y": "m", "yaw": "rad", "vx": "m/s", "vy": "m/s", "yaw_rate": "rad/s", "steering": "rad", "steering_cmd": "rad"},
    "slalom", fly, {"steering turns a fifth less": ({"steering": 0.8}, "steering_cmd")}, seen=("x", "y"))
