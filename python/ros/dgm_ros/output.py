"""Messages of ROS from predictions and estimates."""

from __future__ import annotations

import array
import math
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import Odometry, Path
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

Floats = NDArray[np.float64]
POSE, TWIST = ("x", "y", "z", "roll", "pitch", "yaw"), ("vx", "vy", "vz", "p", "q", "r")
ELLIPSE95 = {2: 2.4477, 3: 2.7955}  # standard deviations of an ellipse, or an ellipsoid, that holds 95 %: square roots of χ² quantiles


class Clock:
    """Stamps as seconds after the first one: a double has all ns of them, which it has not of those since 1970."""

    def __init__(self) -> None:
        self.origin = -1

    def seconds(self, ns: int) -> float:
        if self.origin < 0:
            self.origin = ns
        return 1e-9 * (ns - self.origin)

    def ns(self, t: float) -> int:
        return self.origin + round(t * 1e9)

    def stamp(self, t: float) -> Time:
        ns = self.ns(t)
        return Time(sec=int(ns // 10**9), nanosec=int(ns % 10**9))


def table(rows: Floats, columns: Sequence[str], label: str = "horizon") -> Float64MultiArray:
    """rows, all of whose axes but the last are counted by label; the last one has the columns as its label."""
    m = Float64MultiArray()
    sizes, left = rows.shape, rows.size
    names = [*label.split(","), ",".join(columns)]
    for name, size in zip(names, sizes):
        m.layout.dim.append(MultiArrayDimension(label=name, size=size, stride=left))
        left //= size
    m.data = array.array("d", np.ascontiguousarray(rows).tobytes())  # as an array: a list of floats is checked one by one
    return m


class Layout:
    """Which states of a model go into the fields of messages."""

    def __init__(self, states: Sequence[str], clock: Clock):
        self.states, self.clock = list(states), clock
        self.place = {n: k for k, n in enumerate(states)}
        self.moves = {"x", "y"} <= set(states)
        self.blocks = [self._block(POSE), self._block(TWIST)]
        self.columns = [*states, *(n + "_std" for n in states)]

    def _block(self, names: Sequence[str]) -> Tuple[Any, Any]:
        """Where a covariance of a message has states of the model, and where they are in its own."""
        known = [i for i, n in enumerate(names) if n in self.place]
        states = [self.place[names[i]] for i in known]
        return np.ix_(known, known), np.ix_(states, states)

    def prediction(self, p: Any) -> Float64MultiArray:
        return table(np.column_stack([p.times, p.mean, p.std]), ["t", *self.columns])

    def tube(self, p: Any) -> Optional[Float64MultiArray]:
        """What holds the whole trajectory, all states at all times, with 95 %; None where the model has no tube."""
        factor = float(p.tube.get(0.95, 0))
        if not factor > 0:
            return None
        names = [*(n + "_low" for n in self.states), *(n + "_high" for n in self.states)]
        return table(np.column_stack([p.times, p.mean - factor * p.std, p.mean + factor * p.std]), ["t", *names])

    def array(self, x: Floats, covariance: Floats) -> Float64MultiArray:
        return table(np.concatenate([[0], x, np.sqrt(np.maximum(0, np.diagonal(covariance)))])[np.newaxis], ["t", *self.columns])

    def odometry(self, t: float, x: Floats, covariance: Floats, frames: Tuple[str, str]) -> Odometry:
        out = Odometry()
        out.header.stamp, out.header.frame_id = self.clock.stamp(t), frames[0]
        out.child_frame_id = frames[1]
        self._pose(out.pose.pose, x)
        for name, part, axis in zip(TWIST, ("linear",) * 3 + ("angular",) * 3, "xyzxyz"):
            if name in self.place:
                setattr(getattr(out.twist.twist, part), axis, float(x[self.place[name]]))
        for (to, of), target in zip(self.blocks, (out.pose, out.twist)):
            matrix = np.zeros((6, 6))
            matrix[to] = covariance[of]
            target.covariance = array.array("d", matrix.tobytes())
        return out

    def path(self, t: float, p: Any, shown: Sequence[int], frame: str) -> Path:
        path = Path()
        path.header.stamp, path.header.frame_id = self.clock.stamp(t), frame
        for i in shown:
            pose = PoseStamped()
            pose.header.stamp, pose.header.frame_id = self.clock.stamp(t + p.times[i]), frame
            self._pose(pose.pose, p.mean[i])
            path.poses.append(pose)
        return path

    def markers(self, t: float, p: Any, shown: Sequence[int], frame: str) -> Any:
        """Ellipses that hold the position with 95 %, each at its time, and a line through their centres."""
        from visualization_msgs.msg import Marker, MarkerArray

        axes = [self.place[n] for n in ("x", "y", "z") if n in self.place]
        out, line = MarkerArray(), Marker(ns="mean", type=Marker.LINE_STRIP)
        line.scale.x = 0.02
        for n, i in enumerate(shown):
            m = Marker(ns="95 %", id=n, type=Marker.SPHERE)
            half, turn = np.linalg.eigh(p.cov[i][np.ix_(axes, axes)])
            half = ELLIPSE95[len(axes)] * np.sqrt(np.maximum(half, 1e-12))
            full = np.eye(3)
            full[: len(axes), : len(axes)] = turn
            if np.linalg.det(full) < 0:
                full[:, 0] = -full[:, 0]
            at = np.zeros(3)
            at[: len(axes)] = p.mean[i][axes]
            m.pose.position = Point(x=float(at[0]), y=float(at[1]), z=float(at[2]))
            q = m.pose.orientation
            q.w, q.x, q.y, q.z = quaternion(full)
            m.scale.x, m.scale.y, m.scale.z = (*map(float, 2 * half), 0.01)[:3]
            fade = 0.35 * (1 - n / max(1, len(shown)))
            m.color.r, m.color.g, m.color.b, m.color.a = 0.1, 0.45, 0.8, 0.1 + fade
            line.points.append(m.pose.position)
            out.markers.append(m)
        line.color.r, line.color.g, line.color.b, line.color.a = 0.05, 0.3, 0.6, 1.0
        line.pose.orientation.w = 1.0
        out.markers.append(line)
        for m in out.markers:
            m.header.stamp, m.header.frame_id = self.clock.stamp(t), frame
        return out

    def transform(self, now: Odometry) -> Any:
        """The pose of an odometry as a transform to its child frame with _predicted after its name."""
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        out = TransformStamped()
        out.header, out.child_frame_id = now.header, (now.child_frame_id or "base_link") + "_predicted"
        p = now.pose.pose.position
        out.transform.translation.x, out.transform.translation.y, out.transform.translation.z = p.x, p.y, p.z
        out.transform.rotation = now.pose.pose.orientation
        return TFMessage(transforms=[out])

    def _pose(self, pose: Any, x: Floats) -> None:
        at = lambda name: float(x[self.place[name]]) if name in self.place else 0.0  # noqa: E731
        pose.position.x, pose.position.y, pose.position.z = at("x"), at("y"), at("z")
        (sr, cr), (sp, cp), (sy, cy) = ((math.sin(at(n) / 2), math.cos(at(n) / 2)) for n in ("roll", "pitch", "yaw"))
        q = pose.orientation
        q.w, q.x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
        q.y, q.z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy


def at(ahead: float, x: Floats, start: Floats, p: Any) -> Tuple[Floats, Floats]:
    """Mean (K) and covariance (K, K) ahead, s, of a state x with the covariance start, interpolated in time."""
    i = min(int(np.searchsorted(p.times, ahead)), len(p.times) - 1)
    t0, before, P0 = (p.times[i - 1], p.mean[i - 1], p.cov[i - 1]) if i else (0.0, x, start)
    w = min(max((ahead - t0) / max(p.times[i] - t0, 1e-9), 0.0), 1.0)
    return (1 - w) * before + w * p.mean[i], (1 - w) * P0 + w * p.cov[i]


def quaternion(R: Floats) -> List[float]:
    """w, x, y, z of a rotation matrix."""
    w = math.sqrt(max(0.0, 1 + R[0, 0] + R[1, 1] + R[2, 2])) / 2
    if w > 0.1:
        return [w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)]
    values, vectors = np.linalg.eigh(R + R.T)  # about half a turn: the axis is the eigenvector of the largest eigenvalue
    axis = vectors[:, int(np.argmax(values))]
    s = math.sqrt(max(0.0, 1 - w * w))
    if (R[2, 1] - R[1, 2]) * axis[0] + (R[0, 2] - R[2, 0]) * axis[1] + (R[1, 0] - R[0, 1]) * axis[2] < 0:
        axis = -axis
    return [w, *(float(s * v) for v in axis)]
