"""Writes sitl.csv and wing.csv, the main frames of sitl.bfl and wing.bfl, by another decoder: pip install orangebox==0.5.0.

Each is the first seconds of a simulated flight (python/sitl), cut off within a frame: a quadrotor, and an aircraft with servos."""

import csv

from orangebox import Parser

for name in ("sitl", "wing"):
    log = Parser.load(name + ".bfl")
    with open(name + ".csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        names = [n for n in log.field_names if not n.startswith(("flightMode", "stateFlags", "failsafe", "rx"))]
        table.writerow(names)
        try:
            for frame in log.frames():
                table.writerow(frame.data[: len(names)])
        except TypeError:  # what the decoder says of a frame that is cut off
            pass
