"""A reader of messages, logs and the numbers of a model, from their specifications (needs msgpack): python3 reader.py KIND FILE [K P]"""
import hashlib
import json
import math
import struct
import sys

import msgpack


class Refused(Exception):
    """reason and field, as in PROTOCOL.md."""


def numbers(v, width, field):
    if isinstance(v, bytes):
        if len(v) % width:
            raise Refused("size", field)
        v = struct.unpack(f"<{len(v) // width}{'d' if width == 8 else 'f'}", v)
    return [None if x is None or math.isnan(x) else x for x in v]


def pairs(items):
    if len({k for k, _ in items}) < len(items):
        raise Refused("malformed", next(k for i, (k, _) in enumerate(items) if k in [k for k, _ in items[:i]]))
    return dict(items)


# Vectors of each message, and fields that it must have.
VECTORS = {
    "state": "x P0 u plan", "prediction": "horizon mean std obs_std factor tube", "estimate": "x P innovation ratio",
    "query": "states P0 u plans times history_t history_x history_u half_spaces boxes mean_adjoint std_adjoint",
    "answer": "horizon mean std obs_std ood f sd samples cov violation violation_whole jacobian input_jacobian start_gradient plan_gradient tube",
}
REQUIRED = {
    "state": "v seq t x", "prediction": "v vehicle model instance seq t valid_until channels units horizon mean std obs_std inputs flags ood",
    "estimate": "v vehicle model instance seq t channels units x P settled innovation ratio nis rejected sensors", "query": "v", "answer": "v vehicle model channels inputs",
}
OPTIONAL = {
    "state": "P0 u plan plan_dt layout sensor", "prediction": "tick age factor tube", "estimate": "sensor",
    "query": VECTORS["query"] + " want rows plan_dt samples seed timeout dtype request_dtype parts history", "answer": VECTORS["answer"] + " dtype no_history flags part parts first",
}


def message(kind, data, K=0, P=0):
    try:
        m = msgpack.unpackb(data, object_pairs_hook=pairs)
    except Refused:
        raise
    except Exception as e:
        raise Refused("malformed", "") from e
    if not isinstance(m, dict):
        raise Refused("malformed", "")
    known = set(f"{REQUIRED[kind]} {OPTIONAL[kind]}".split())
    if kind == "query" and (unknown := m.keys() - known):
        raise Refused("malformed", min(unknown))
    for field in REQUIRED[kind].split():
        if field not in m:
            raise Refused("malformed", field)
    for field in "seq", "t", "valid_until":
        if field in m:
            if isinstance(m[field], float) and m[field].is_integer():
                m[field] = int(m[field])
            if not isinstance(m[field], int):
                raise Refused("malformed", field)
    if m["v"] != 1:
        raise Refused("version", "v")
    width = 4 if m.get({"state": "dtype", "query": "request_dtype", "answer": "dtype"}.get(kind, "")) == "f4" else 8
    found = {k: v for k, v in m.items() if k in known and v is not None}
    for field in VECTORS[kind].split():
        if field in found:
            found[field] = numbers(found[field], width, field)
    channels, times = len(found.get("channels", [])), len(found.get("horizon", []))
    lengths = {
        "state": {"x": (K,), "P0": (K * K, 0), "u": (P, 0)},
        "prediction": {"units": (channels,), "mean": (times * channels,), "std": (times * channels,), "obs_std": (times * channels,), "factor": (times * channels, 0), "tube": (3, 0)},
    }
    for field, allowed in lengths.get(kind, {}).items():
        if len(found.get(field, [])) not in allowed:
            raise Refused("size", field)
    if kind == "state" and P and len(found.get("plan", [])) % P:
        raise Refused("size", "plan")
    return found


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def value(data, at):
    """Returns what is encoded at a place, and where it ends."""
    u = msgpack.Unpacker()
    u.feed(data[at:])
    return u.unpack(), at + u.tell()


def record(data, at):
    """Returns kind and payload of the record at a place and where it ends, None where there is none."""
    try:
        r, end = value(data, at)
        if data[at] == 0x93 and isinstance(r, list) and isinstance(r[2], bytes) and crc32c(bytes([r[0]]) + r[2]) == r[1]:
            return r[0], r[2], end
    except Exception:
        pass
    return None


def log(data):
    header, at, damaged = None, 0, 0
    try:
        header, at = value(data, 0)
    except Exception:
        pass
    if not isinstance(header, dict):
        at = next((i for i in range(len(data)) if (r := record(data, i)) and r[0] == 1), None)
        if at is None:
            raise Refused("not a log", "")
        header, damaged = msgpack.unpackb(record(data, at)[1]), 1
    if header.get("magic") != "dgm.flightlog":
        raise Refused("not a log", "")
    if header.get("version", 0) > 1:
        raise Refused("version", "version")
    segments, name, fresh = [], "", True
    while at < len(data):
        r = record(data, at)
        if r is None:  # damage: on to the next whole record
            damaged, fresh = damaged + 1, True
            at = next((i for i in range(at + 1, len(data)) if record(data, i)), len(data))
            continue
        kind, payload, at = r
        elements = msgpack.unpackb(payload) if kind in (2, 3) else []
        if kind == 2:
            name, fresh = elements[0], True
        if kind == 3:
            if fresh:
                segments.append({"name": name, "samples": []})
                fresh = False
            size = [len([c for c in header["channels"] if c["role"] == role]) for role in ("state", "input", "aux")]
            x, u, aux = (numbers(v, 4 if isinstance(v, bytes) and len(v) == 4 * n else 8, "x") for v, n in zip(elements[1:], size))
            segments[-1]["samples"].append({"t": elements[0], "x": x, "u": u, "aux": aux})
    return {"vehicle": header["vehicle"], "channels": [c["name"] for c in header["channels"]], "damaged": damaged, "segments": segments}


def model(data):
    try:
        parts, end = value(data, 0)
    except Exception as e:
        raise Refused("damaged", "") from e
    if not isinstance(parts, list) or not parts or parts[0] != "dgm-model":
        raise Refused("not a model", "")
    if parts[1] > 6:
        raise Refused("version", "version")
    if end != len(data) or hashlib.sha256(parts[2]).digest() != parts[3]:
        raise Refused("damaged", "")
    body = msgpack.unpackb(parts[2])
    return {"id": parts[3].hex()[:16], "horizon": body["horizon"], "vehicle": body["vehicle"], "points": body["points"]}


def main(kind, path, *sizes):
    with open(path, "rb") as f:
        data = f.read()
    try:
        found = log(data) if kind == "log" else model(data) if kind == "model" else message(kind, data, *map(int, sizes))
    except Refused as e:
        print(json.dumps({"refuse": dict(zip(("reason", "field"), e.args))}))
        sys.exit(1)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
