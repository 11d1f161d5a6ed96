"""Writes what Python's struct reads of the log of a Crazyflie's micro-SD card: one JSON document to standard output,
and the columns as little-endian float64, one after the other, to a file. Usage: python3 struct_columns.py LOG COLUMNS"""
import json, struct, sys

b, at = open(sys.argv[1], "rb").read(), 0


def take(fmt):
    global at
    v = struct.unpack_from("<" + fmt, b, at)
    at += struct.calcsize("<" + fmt)
    return v


def text():
    global at
    end = b.index(0, at)
    s, at = b[at:end].decode(), end + 1
    return s


magic, version, kinds = take("BHH")
topics = {}
for _ in range(kinds):
    (id,), name, (n,) = take("H"), text(), take("H")
    variables = [text() for _ in range(n)]
    topics[id] = {"name": name, "instance": 0, "count": 0, "fields": [v[:-3] for v in variables], "format": "".join(v[-2] for v in variables), "rows": []}
while at < len(b) - 4:
    id, us = take("HQ" if version == 2 else "HI")
    topics[id]["rows"].append(take(topics[id]["format"]))
with open(sys.argv[2], "wb") as out:
    for t in topics.values():
        rows = t.pop("rows")
        t["count"] = len(rows)
        del t["format"]
        for c in zip(*rows):
            out.write(struct.pack(f"<{len(c)}d", *map(float, c)))
json.dump({"topics": list(topics.values())}, sys.stdout)
