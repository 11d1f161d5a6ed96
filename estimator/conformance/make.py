"""Writes the conformance suite: files/* and cases.json (needs msgpack: python3 make.py).

Every file is encoded here, from PROTOCOL.md and FORMAT.md and a msgpack library, without a line of the Go
implementation; cases.json has what a reader must find in it, or why it must refuse it.
"""
import hashlib
import json
import math
import pathlib
import struct

import msgpack

HERE = pathlib.Path(__file__).parent
FILES = HERE / "files"
T = 1772682400399326324  # ns
cases = []


def vector(*x):
    return struct.pack(f"<{len(x)}d", *x)


def vector32(*x):
    return struct.pack(f"<{len(x)}f", *x)


def case(name, kind, data, about, expect=None, refuse=None, **more):
    """One file: what a reader must find in it, or why it must refuse it."""
    path = FILES / name
    path.write_bytes(data)
    cases.append({"file": f"files/{name}", "kind": kind, "about": about, **more, **({"refuse": refuse} if refuse else {"expect": expect})})


def message(name, kind, fields, about, expect=None, refuse=None, **more):
    case(name, kind, msgpack.packb(fields), about, expect, refuse, **more)


# Messages

def states():
    def state(name, fields, about, expect=None, refuse=None, K=2, P=1):
        message(f"state-{name}.msgpack", "state", fields, about, expect, refuse, K=K, P=P)

    small = {"v": 1, "seq": 7, "t": T, "x": vector(.5, -2)}
    found = {"v": 1, "seq": 7, "t": T, "x": [.5, -2]}
    state("small", small, "required fields alone", found)
    full = {"P0": vector(1e-4, 0, 0, .0025), "u": vector(.25), "plan": vector(.25, 0, -.25), "plan_dt": .25, "layout": "adfbb9c2a7d4c235", "sensor": "mocap"}
    state("full", {**small, **full}, "all fields", {**found, "P0": [1e-4, 0, 0, .0025], "u": [.25], "plan": [.25, 0, -.25], "plan_dt": .25, "layout": "adfbb9c2a7d4c235", "sensor": "mocap"})
    state("any-order", dict(reversed({**small, "u": vector(.25)}.items())), "keys in another order", {**found, "u": [.25]})
    state("arrays", {**small, "x": [.5, -2], "u": [1]}, "vectors as arrays of numbers, an integer among them", {**found, "u": [1]})
    state("floats-32", {"v": 1, "seq": 7, "t": T, "dtype": "f4", "x": vector32(.5, -2), "u": vector32(.25)}, "bins of 32 bits, declared", {**found, "u": [.25]})
    state("whole-float", {**small, "seq": 7.0}, "an integer as a float that is whole", found)
    state("nil", {**small, "u": None, "plan": None}, "nil in optional fields: they are absent", found)
    state("unknown-key", {**small, "battery": {"volt": 11.1}}, "a field of a later version is skipped", found)
    state("not-measured", {**small, "x": vector(.5, math.nan)}, "NaN for a state that nothing measures", {**found, "x": [.5, None]})
    state("five-states", {**small, "x": vector(1, 2, 3, 4, 5)}, "a robot without inputs", {**found, "x": [1, 2, 3, 4, 5]}, K=5, P=0)
    state("floats-32-not-said", {**small, "x": vector32(.5, -2)}, "half the bytes, and no dtype", refuse={"reason": "size", "field": "x"})
    state("too-few", {**small, "x": vector(.5)}, "one of two states", refuse={"reason": "size", "field": "x"})
    state("cut-number", {**small, "x": vector(.5, -2)[:15]}, "a bin that ends within a number", refuse={"reason": "size", "field": "x"})
    state("half-row", {**small, "plan": vector(1, 2, 3)}, "a plan of one row and a half", refuse={"reason": "size", "field": "plan"}, K=2, P=2)
    state("covariance-size", {**small, "P0": vector(1, 1)}, "a covariance of two numbers for two states", refuse={"reason": "size", "field": "P0"})
    state("version-2", {**small, "v": 2}, "a version that does not exist yet", refuse={"reason": "version", "field": "v"})
    state("no-time", {k: v for k, v in small.items() if k != "t"}, "a required field is missing", refuse={"reason": "malformed", "field": "t"})
    state("text-time", {**small, "t": "now"}, "a field of another type", refuse={"reason": "malformed", "field": "t"})
    state("array", [1, 7, T, vector(.5, -2)], "an array, not a map", refuse={"reason": "malformed"})
    packed = msgpack.packb(small)
    case("state-after.msgpack", "state", packed + b"\x00", "a byte after the message", refuse={"reason": "malformed"}, K=2, P=1)
    case("state-cut.msgpack", "state", packed[:-3], "cut off", refuse={"reason": "malformed"}, K=2, P=1)
    twice = bytes([packed[0] + 1]) + packed[1:] + msgpack.packb("seq") + msgpack.packb(8)
    case("state-twice.msgpack", "state", twice, "a key that appears twice", refuse={"reason": "malformed", "field": "seq"}, K=2, P=1)


head = {"v": 1, "vehicle": "pend1", "model": "a1b2c3d4e5f60718", "instance": "x7"}


def predictions():
    prediction = {**head, "seq": 7, "t": T, "valid_until": T + 10**9, "channels": ["theta", "omega"], "units": ["rad", "rad/s"], "horizon": vector(.5, 1), "mean": vector(-.5, -1.5, -1, .25),
                  "std": vector(.125, .25, .25, .5), "obs_std": vector(.25, .5, .5, .75), "inputs": "hold", "flags": 65537, "ood": 1.5}
    found = {**prediction, "horizon": [.5, 1], "mean": [-.5, -1.5, -1, .25], "std": [.125, .25, .25, .5], "obs_std": [.25, .5, .5, .75]}
    message("prediction.msgpack", "prediction", prediction, "required fields", found)
    message("prediction-full.msgpack", "prediction", {**prediction, "tick": 12, "age": .0625, "factor": vector(1, 1.5, 2, .5), "tube": vector(1.5, 2.5, 3)}, "all fields",
            {**found, "tick": 12, "age": .0625, "factor": [1, 1.5, 2, .5], "tube": [1.5, 2.5, 3]})
    message("prediction-later.msgpack", "prediction", {**prediction, "flags": 1 << 15, "wind": 3.5}, "a warning and a field of a later version", {**found, "flags": 1 << 15})
    message("prediction-short-std.msgpack", "prediction", {**prediction, "std": vector(1, 2, 3)}, "three standard deviations for two times of two channels", refuse={"reason": "size", "field": "std"})
    message("prediction-one-unit.msgpack", "prediction", {**prediction, "units": ["rad"]}, "one unit for two channels", refuse={"reason": "size", "field": "units"})
    message("prediction-no-mean.msgpack", "prediction", {k: v for k, v in prediction.items() if k != "mean"}, "no mean", refuse={"reason": "malformed", "field": "mean"})


def others():
    estimate = {**head, "seq": 41, "t": T, "channels": ["theta", "theta_rate"], "units": ["rad", "rad/s"], "x": vector(.5, -2), "P": vector(1e-4, 1e-3, 1e-3, .04), "settled": True,
                "innovation": vector(.0078125, math.nan), "ratio": vector(.015625, math.nan), "nis": .96875, "rejected": 2, "sensors": ["theta"]}
    message("estimate.msgpack", "estimate", estimate, "a rate that nothing measures",
            {**estimate, "x": [.5, -2], "P": [1e-4, 1e-3, 1e-3, .04], "innovation": [.0078125, None], "ratio": [.015625, None]})
    message("query-predict.msgpack", "query", {"v": 1, "want": "predict", "states": vector(.5, -2, 1, 0), "plans": vector(0, 1, 2, 3), "rows": 2, "plan_dt": .5, "times": vector(.5, 1)}, "two states, two plans of two rows",
            {"v": 1, "want": "predict", "states": [.5, -2, 1, 0], "plans": [0, 1, 2, 3], "rows": 2, "plan_dt": .5, "times": [.5, 1]})
    message("query-several.msgpack", "query", {"v": 1, "want": ["mean", "cov"], "states": vector(.5, -2), "u": vector(.25), "P0": vector(1, 0, 0, 1)}, "several results",
            {"v": 1, "want": ["mean", "cov"], "states": [.5, -2], "u": [.25], "P0": [1, 0, 0, 1]})
    message("query-unknown.msgpack", "query", {"v": 1, "want": "predict", "states": vector(.5, -2), "planz": vector(1)}, "a misspelt key: a query has no unknown ones", refuse={"reason": "malformed", "field": "planz"})
    answer = {"v": 1, "vehicle": "pend1", "model": "a1b2c3d4e5f60718", "channels": ["theta", "omega"], "inputs": "plan", "dtype": "f8", "horizon": vector(1), "mean": vector(1, 2, 3, 4), "std": vector(.5, .5, .5, .5),
              "obs_std": vector(.75, .75, .75, .75), "ood": vector(0, 2), "f": b"", "sd": b"", "samples": b""}
    message("answer.msgpack", "answer", answer, "to two questions, at one time", {**answer, "horizon": [1], "mean": [1, 2, 3, 4], "std": [.5] * 4, "obs_std": [.75] * 4, "ood": [0, 2], "f": [], "sd": [], "samples": []})
    single = {**answer, "dtype": "f4", "horizon": vector32(1), "mean": vector32(1, 2, 3, 4), "std": vector32(.5, .5, .5, .5), "obs_std": vector32(.75, .75, .75, .75), "ood": vector32(0, 2)}
    message("answer-32.msgpack", "answer", single, "floats of 32 bits", {**answer, "dtype": "f4", "horizon": [1], "mean": [1, 2, 3, 4], "std": [.5] * 4, "obs_std": [.75] * 4, "ood": [0, 2], "f": [], "sd": [], "samples": []})


# Logs

def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def record(kind, *elements):
    payload = msgpack.packb(list(elements))
    return msgpack.packb([kind, crc32c(bytes([kind]) + payload), payload])


def logs():
    channels = [{"name": "theta", "role": "state", "unit": "rad", "derivative": "omega", "period": 2 * math.pi}, {"name": "omega", "role": "state", "unit": "rad/s"}, {"name": "torque", "role": "input", "unit": "N·m"},
                {"name": "battery", "role": "aux", "unit": "V"}]
    header = msgpack.packb({"magic": "dgm.flightlog", "version": 1, "vehicle": "pend1", "source": "by hand", "channels": channels})
    sample = lambda i, *x: record(3, T + i * 10**7, vector(*x), vector(.25 * i), vector(12))
    found = lambda i, *x: {"t": T + i * 10**7, "x": [None if math.isnan(v) else v for v in x], "u": [.25 * i], "aux": [12]}
    first, second = [sample(0, .5, -2), sample(1, .625, math.nan)], [sample(5, 1, 0), sample(6, 1.25, 0)]
    segments = [record(2, "swing 1", vector(.5, -2)), record(2, "swing 2", None)]
    of = {"vehicle": "pend1", "channels": ["theta", "omega", "torque", "battery"], "damaged": 0}
    one = [found(0, .5, -2), found(1, .625, math.nan)]
    two = [found(5, 1, 0), found(6, 1.25, 0)]
    whole = {**of, "segments": [{"name": "swing 1", "samples": one}, {"name": "swing 2", "samples": two}]}
    body = segments[0] + b"".join(first) + segments[1] + b"".join(second)
    case("log.msgpack", "log", header + body, "two segments; NaN is not measured", whole)
    extra = record(5, T, "note") + record(100, "private") + record(4, T, 10**8, 2, vector(.5, 1))
    case("log-other-records.msgpack", "log", header + segments[0] + extra + b"".join(first) + segments[1] + b"".join(second), "a note, a plan, and a record of a private kind", whole)
    case("log-header-copy.msgpack", "log", b"\xff" + header[1:] + msgpack.packb([1, crc32c(b"\x01" + header), header]) + body, "a header that is damaged, and its copy", {**whole, "damaged": 1})
    broken = bytearray(first[1])
    broken[-3] ^= 1
    case("log-flipped-bit.msgpack", "log", header + segments[0] + first[0] + bytes(broken) + sample(2, .75, 0) + segments[1] + b"".join(second), "a flipped bit in a sample: what follows is a segment of its own",
         {**of, "damaged": 1, "segments": [{"name": "swing 1", "samples": one[:1]}, {"name": "swing 1", "samples": [found(2, .75, 0)]}, whole["segments"][1]]})
    case("log-zeros.msgpack", "log", header + body + bytes(500), "zeros after a loss of power", {**whole, "damaged": 1})
    case("log-cut.msgpack", "log", header + (body)[:-5], "cut off within the last record", {**of, "damaged": 1, "segments": [whole["segments"][0], {"name": "swing 2", "samples": two[:1]}]})
    case("log-arrays.msgpack", "log", header + segments[0] + record(3, T, [.5, -2], [0], [12.0]) + record(3, T + 10**7, [.625, None], struct.pack("<f", .25), [12]), "vectors as arrays, nil for NaN, and as floats of 32 bits",
         {**of, "segments": [{"name": "swing 1", "samples": one}]})
    case("log-no-segment.msgpack", "log", header + b"".join(first), "samples before the first segment", {**of, "segments": [{"name": "", "samples": one}]})
    later = msgpack.packb({"magic": "dgm.flightlog", "version": 2, "vehicle": "pend1", "channels": channels})
    case("log-version-2.msgpack", "log", later + body, "a version that does not exist yet", refuse={"reason": "version"})
    case("log-not-one.msgpack", "log", msgpack.packb({"hello": 1}), "another map", refuse={"reason": "not a log"})


# Models

def models():
    source = HERE.parent / "model" / "testdata"
    for name in ("v3", "v3-body", "v3-chain", "v3-exact"):
        expected = json.loads((source / f"{name}.json").read_text())
        cases.append({"file": f"../model/testdata/{name}.dgm", "kind": "model", "about": "numbers by the names of FORMAT.md, and self-checks: what a reader's predictions must be", "expect_file": f"../model/testdata/{name}.json"})
        assert expected["id"] == hashlib.sha256(msgpack.unpackb((source / f"{name}.dgm").read_bytes(), strict_map_key=False)[2]).hexdigest()[:16]
    parts = msgpack.unpackb((source / "v3.dgm").read_bytes())
    pack = lambda *p: msgpack.packb(list(p))
    damaged = bytearray(parts[2])
    damaged[len(damaged) // 2] ^= 1
    case("model-flipped-bit.dgm", "model", pack(*parts[:2], bytes(damaged), *parts[3:]), "a flipped bit in the body", refuse={"reason": "damaged"})
    case("model-cut.dgm", "model", pack(*parts)[:-40], "cut off", refuse={"reason": "damaged"})
    case("model-after.dgm", "model", pack(*parts) + b"\x00", "a byte after the file", refuse={"reason": "damaged"})
    case("model-version-99.dgm", "model", pack(parts[0], 99, *parts[2:]), "a version that does not exist yet", refuse={"reason": "version"})
    case("model-not-one.dgm", "model", msgpack.packb({"hello": 1}), "no model", refuse={"reason": "not a model"})


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for old in FILES.iterdir():
        old.unlink()
    states()
    predictions()
    others()
    logs()
    models()
    plain = json.loads(json.dumps(cases, default=lambda b: b))
    (HERE / "cases.json").write_text(json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    print(f"{len(cases)} cases")
