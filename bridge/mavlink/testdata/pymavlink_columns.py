"""Writes what pymavlink reads of a telemetry log: one JSON document to standard output, and the columns as
little-endian float64, one after the other, to a file. Usage: python3 pymavlink_columns.py LOG COLUMNS"""
import json, os, struct, sys

os.environ["MAVLINK20"], os.environ["MAVLINK_DIALECT"] = "1", "all"
from pymavlink import mavutil

log = mavutil.mavlink_connection(sys.argv[1])
topics, first, others, texts, bad = {}, set(), {}, [], 0
while True:
    m = log.recv_msg()
    if m is None:
        break
    name = m.get_type()
    if name == "BAD_DATA":
        bad += 1
        continue
    key = (name, m.get_srcSystem(), m.get_srcComponent())
    if key not in topics:
        if key[2] == 1 and name not in first:  # the first autopilot is instance 0, others follow
            first.add(name)
            instance = 0
        else:
            instance = others[name] = others.get(name, 0) + 1
        topics[key] = {"name": name, "instance": instance, "count": 0, "columns": {}}
    t = topics[key]
    t["count"] += 1
    for f, kind in zip(m.get_fieldnames(), [m.fieldtypes[m.fieldnames.index(f)] for f in m.get_fieldnames()]):
        v = getattr(m, f)
        if kind == "char" or isinstance(v, (str, bytes)):
            continue
        for k, x in ({f: v} if not isinstance(v, (list, tuple)) else {f"{f}[{i}]": x for i, x in enumerate(v)}).items():
            t["columns"].setdefault(k, []).append(float(x))
    if name == "STATUSTEXT":
        texts.append(m.text)
with open(sys.argv[2], "wb") as out:
    for t in topics.values():
        t["fields"] = list(t["columns"])
        for c in t["columns"].values():
            out.write(struct.pack(f"<{len(c)}d", *c))
        del t["columns"]
json.dump({"topics": list(topics.values()), "texts": texts, "bad": bad}, sys.stdout)
