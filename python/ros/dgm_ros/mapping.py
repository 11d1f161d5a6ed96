"""Channels of a model from messages, by the map file that imported the recordings."""

from __future__ import annotations

import functools
import math
import operator
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

try:
    import tomllib
except ImportError:  # Python before 3.11
    import tomli as tomllib  # type: ignore[no-redef]

KNOWN = {"name", "names", "each", "topic", "type", "field", "fields", "quaternion", "axes", "frame", "role", "unit", "scale", "offset", "where",
         "or", "invariant", "varies", "optional", "period", "derivative", "noise", "from", "times"}
TABLES = {"vehicle", "kinematics", "kinematics_optional", "body", "channel", "time", "valid", "where", "agree", "phase", "refuse", "primary"}
LATE = {"from", "times"}  # keys that change values and that the node does not know

Getter = Callable[[Any], Optional[float]]


class MapError(ValueError):
    """A map that the node cannot use, with the remedy."""


@dataclass
class Source:
    """What one topic has for the model: by the place of a channel, how it is read."""

    topic: str  # "" = the one of this type
    type: str  # pkg/msg/Name; "" = that of the topic
    where: Dict[str, str]
    getters: Dict[int, Getter] = field(default_factory=dict)
    checks: List[Tuple[Callable[[Any], bool], List[int]]] = field(default_factory=list)  # what a message declares invalid

    def accepts(self, message: Any) -> bool:
        return all(_path(message, k) == v for k, v in self.where.items())

    def read(self, message: Any) -> Dict[int, float]:
        """Values by the place of their channel; NaN where a message has none."""
        values = {place: _number(get(message)) for place, get in self.getters.items()}
        for valid, places in self.checks:
            if not valid(message):
                values.update({p: math.nan for p in places if p in values})
        return values


def read(path: Union[str, pathlib.Path], measured: Sequence[str], inputs: Sequence[str], states: Sequence[str] = ()) -> List[Source]:
    """The sources of a model's channels by their places among states, by default the measured ones, and then inputs. MapError where
    the map leaves a measured one out, or an input."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise MapError(f"{path}: {e}") from None
    for key in document:
        if key not in TABLES:
            raise MapError(f"{path}: the node does not know {key!r}")
    channels = [*(states or measured), *inputs]
    sources: Dict[Tuple[str, str, Tuple[Tuple[str, str], ...]], Source] = {}
    found: Dict[str, int] = {}
    for n, c in enumerate(document.get("channel", [])):
        label = f"{path}: channel {n + 1}"
        for key in c:
            if key not in KNOWN:
                raise MapError(f"{label}: the node does not know the key {key!r}")
        for alternative in [c, *c.get("or", [])]:
            one = {**c, **alternative}
            one.pop("or", None)
            if alternative is not c and ("topic" in alternative or "type" in alternative):
                one["topic"], one["type"] = alternative.get("topic", ""), alternative.get("type", "")
            for key in LATE & set(one):
                raise MapError(f"{label}: the node does not know the key {key!r}")
            if one.get("frame") and one["frame"] != one.get("axes", one["frame"]):
                raise MapError(f"{label}: frame {one['frame']!r} differs from axes {one['axes']!r}: the node rotates no axes; publish in the model's")
            where = {str(k): str(v) for k, v in {**document.get("where", {}), **one.get("where", {})}.items()}
            if not isinstance(one.get("topic", ""), str):
                raise MapError(f"{label}: topic is a list: write the topic that the robot publishes")
            key_ = (one.get("topic", ""), one.get("type", ""), tuple(sorted(where.items())))
            if not key_[0] and not key_[1]:
                raise MapError(f"{label}: has neither topic nor type: it describes a table, not messages")
            source = sources.setdefault(key_, Source(key_[0], key_[1], where))
            for name, get in _getters(one, channels, label).items():
                if name in {"state": measured, "input": inputs}.get(one.get("role", ""), (*measured, *inputs)):
                    place = channels.index(name)
                    source.getters[place] = _scaled(get, float(one.get("scale", 1)), float(one.get("offset", 0)))
                    found[name] = place
    for n, v in enumerate(document.get("valid", [])):
        of = [s for s in sources.values() if (s.topic, s.type) == (v.get("topic", ""), v.get("type", "")) or v.get("topic", "") in ("", s.topic) and v.get("type") == s.type]
        if not of:
            raise MapError(f"{path}: valid {n + 1} names a topic from which no channel of the model is read: the node does not support that")
        for s in of:
            s.checks.append((_valid(v), [channels.index(c) for c in v["channels"] if c in channels]))
    missing = [c for c in (*measured, *inputs) if c not in found]
    if missing:
        raise MapError(f"{path}: has no source for {', '.join(missing)}, which the model needs")
    return [s for s in sources.values() if s.getters]


def _valid(v: Dict[str, Any]) -> Callable[[Any], bool]:
    """Whether a message declares its values valid; without the field it does."""

    def valid(message: Any) -> bool:
        x = _path(message, v["field"])
        if x is None:
            return True
        if "mask" in v:
            x = int(x) & int(v["mask"])
        return ("above" not in v or x > v["above"]) and ("equals" not in v or x in v["equals"])

    return valid


def _getters(c: Dict[str, Any], channels: Sequence[str], label: str) -> Dict[str, Getter]:
    if "each" in c:  # a channel for each element: of those that the model has
        pattern = re.compile("(.+)".join(map(re.escape, c["name"].split("{}"))) + "$")
        out: Dict[str, Getter] = {}
        taken = {m.group(1) for m in map(pattern.match, channels) if m} if c["name"] != "{}" else set(channels)
        for element in taken:
            name = c["name"].replace("{}", element)
            out[name] = _field(c["field"].replace("[{}]", f"[{c['each']}={element}]"))
        return out
    names = c.get("names") or [c.get("name")]
    if "quaternion" in c:
        return {name: _euler([_field(f) for f in c["quaternion"]], i) for i, name in enumerate(names)}
    fields = c.get("fields") or [c.get("field")]
    if len(fields) != len(names) or None in fields or None in names:
        raise MapError(f"{label}: {len(names)} names and {len(fields)} fields")
    return {name: _field(f) for name, f in zip(names, fields)}


def _field(path: str) -> Getter:
    if "[" in path:
        return lambda message: _path(message, path)
    attribute = operator.attrgetter(path)

    def get(message: Any) -> Any:
        try:
            return attribute(message)
        except AttributeError:
            return None

    return get


@functools.lru_cache(maxsize=None)
def _parts(path: str) -> List[str]:
    return re.findall(r"[^.\[\]]+|\[[^\]]*\]", path)


def _path(message: Any, path: str) -> Any:
    """The value of a field as pose.pose.position.x, data[3] or position[name=elbow]; None where there is none."""
    value = message
    for part in _parts(path):
        try:
            if not part.startswith("["):
                value = getattr(value, part)
            elif "=" in part:
                key, wanted = part[1:-1].split("=", 1)
                value = value[list(getattr(message, key)).index(wanted)]
            else:
                value = value[int(part[1:-1])]
        except (AttributeError, IndexError, ValueError, KeyError):
            return None
    return value


def _scaled(get: Getter, scale: float, offset: float) -> Getter:
    if scale == 1 and offset == 0:
        return get

    def scaled(message: Any) -> Optional[float]:
        v = get(message)
        return None if v is None else scale * float(v) + offset

    return scaled


def _euler(wxyz: Sequence[Getter], which: int) -> Getter:
    """Roll, pitch or yaw (yaw about z, then pitch about the new y, then roll about the new x) of a quaternion."""

    def get(message: Any) -> Optional[float]:
        q = [_number(g(message)) for g in wxyz]
        n = math.sqrt(sum(v * v for v in q))
        if not n > 0.5:
            return None
        w, x, y, z = (v / n for v in q)
        if which == 0:
            return math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        if which == 1:
            return math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    return get


def _number(v: Any) -> float:
    return math.nan if v is None else float(v)
