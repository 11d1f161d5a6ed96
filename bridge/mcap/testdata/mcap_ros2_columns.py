"""Writes what mcap-ros2-support reads of an MCAP file: one JSON document to standard output, and the columns as
little-endian float64, one after the other, to a file. Usage: python3 mcap_ros2_columns.py FILE COLUMNS"""
import json, struct, sys
from mcap.reader import NonSeekingReader
from mcap_ros2.decoder import DecoderFactory


def leaves(prefix, v):
    if isinstance(v, str):
        return
    if isinstance(v, (bool, int, float)):
        yield prefix, float(v)
    elif isinstance(v, (list, tuple, bytes, bytearray)) or type(v).__name__ == "array":
        for i, x in enumerate(v):
            yield from leaves(f"{prefix}[{i}]", x)
    else:
        names = type(v).__slots__
        if not names:  # a type without fields holds one byte
            yield f"{prefix}.structure_needs_at_least_one_member".lstrip("."), 0.0
        for n in names:
            yield from leaves(f"{prefix}.{n}".lstrip("."), getattr(v, n))


topics, decoders, factory = {}, {}, DecoderFactory()
with open(sys.argv[1], "rb") as f:
    for schema, channel, message in NonSeekingReader(f).iter_messages(log_time_order=False):
        t = topics.setdefault(channel.topic, {"name": channel.topic, "instance": 0, "count": 0, "columns": {}})
        t["count"] += 1
        if channel.message_encoding != "cdr":
            continue
        if channel.id not in decoders:
            decoders[channel.id] = factory.decoder_for(channel.message_encoding, schema)
        for k, x in leaves("", decoders[channel.id](message.data)):
            t["columns"].setdefault(k, []).append(x)
with open(sys.argv[2], "wb") as out:
    for t in topics.values():
        t["fields"] = list(t["columns"])
        for c in t["columns"].values():
            out.write(struct.pack(f"<{len(c)}d", *c))
        del t["columns"]
json.dump({"topics": list(topics.values())}, sys.stdout)
