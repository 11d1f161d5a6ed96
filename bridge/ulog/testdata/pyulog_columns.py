"""Writes what pyulog reads of a log: one JSON document to standard output, and the columns as little-endian
float64, one after the other, to a file. Usage: python3 pyulog_columns.py LOG COLUMNS"""
import json, sys
import numpy, pyulog

log = pyulog.ULog(sys.argv[1])
topics = []
with open(sys.argv[2], "wb") as out:
    for d in log.data_list:
        names = [n for n in d.data if not any(p.startswith("_padding") for p in n.split("."))]
        for n in names:
            out.write(numpy.asarray(d.data[n]).astype("<f8").tobytes())
        topics.append({"name": d.name, "instance": d.multi_id, "count": len(d.data["timestamp"]), "fields": names})
json.dump({
    "version": pyulog.__version__ if hasattr(pyulog, "__version__") else "",
    "topics": topics,
    "corrupt": log.file_corruption,
    "dropouts": [x.duration for x in log.dropouts],
    "logged": [x.message for x in log.logged_messages],
}, sys.stdout)
