"""Writes sitl.csv, the main frames of sitl.bfl, by another decoder: pip install orangebox==0.5.0.

sitl.bfl is the first seconds of a simulated flight (python/sitl), cut off within a frame."""

import csv

from orangebox import Parser

log = Parser.load("sitl.bfl")
with open("sitl.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    names = [n for n in log.field_names if not n.startswith(("flightMode", "stateFlags", "failsafe", "rx"))]
    table.writerow(names)
    for frame in log.frames():
        table.writerow(frame.data[: len(names)])
