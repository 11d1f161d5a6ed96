"""Writes what pymavlink reads of a DataFlash log: one JSON document to standard output, and the columns as
little-endian float64, one after the other, to a file. Usage: python3 pymavlink_columns.py LOG COLUMNS"""
import array, json, struct, sys
from pymavlink import DFReader

log = DFReader.DFReader_binary(sys.argv[1])
topics, texts = {}, []
while True:
    m = log.recv_msg()
    if m is None:
        break
    instance = getattr(m, m.fmt.instance_field) if m.fmt.instance_field else 0
    key = (m.get_type(), instance if isinstance(instance, int) and 0 < instance < 256 else 0)
    t = topics.setdefault(key, {"name": key[0], "instance": key[1], "columns": {}, "units": {}})
    for f in m.fmt.columns:
        v = getattr(m, f)
        if isinstance(v, (str, bytes)):
            continue
        values = {f: v} if not isinstance(v, array.array) else {f"{f}[{i}]": x for i, x in enumerate(v)}
        for k, x in values.items():
            t["columns"].setdefault(k, []).append(float(x))
            t["units"][k] = m.fmt.get_unit(f)
    if key[0] == "MSG":
        texts.append(m.Message)
with open(sys.argv[2], "wb") as out:
    for t in topics.values():
        t["fields"] = list(t["columns"])
        t["count"] = max((len(c) for c in t["columns"].values()), default=0)
        for c in t["columns"].values():
            out.write(struct.pack(f"<{len(c)}d", *c))
        # What precedes the records that describe it has no units yet; two labels are none.
        early = t["name"] in ("FMT", "FMTU", "UNIT", "MULT", "PARM")
        t["units"] = None if early else ["" if t["units"][f] in ("instance", "UNKNOWN") else t["units"][f] for f in t["fields"]]
        del t["columns"]
json.dump({"topics": list(topics.values()), "texts": texts}, sys.stdout)
