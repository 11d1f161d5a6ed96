"""Runs the conformance suite against a reader: python3 run.py COMMAND [ARGUMENT …]

For each case the command is called with the kind and the file, and for a state with K and P. It prints what it found as one
JSON object and exits 0, or prints {"refuse": {"reason": …, "field": …}} and exits with another code. See README.md.
"""
import json
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def empty(v):
    return v in (None, "", [], {}) or v is False or isinstance(v, (int, float)) and v == 0


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(a[k], b[k]) if k in a and k in b else empty(a.get(k, b.get(k))) for k in a.keys() | b.keys())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, int) and isinstance(b, int) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return a == b
    return math.isclose(a, b, rel_tol=1e-15)


def check(case, command):
    """Returns what is wrong with a reader's answer, "" = nothing."""
    sizes = [str(case[k]) for k in ("K", "P") if k in case]
    ran = subprocess.run([*command, case["kind"], str(HERE / case["file"]), *sizes], capture_output=True, text=True, timeout=60)
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        return f"printed no JSON: {ran.stdout[:200]!r} {ran.stderr[-200:]!r}"
    if "refuse" in case:
        refused = found.get("refuse", {})
        agrees = refused.get("reason") == case["refuse"]["reason"] and refused.get("field") in (None, "", case["refuse"].get("field", refused.get("field")))
        return "" if ran.returncode != 0 and agrees else f"expected to be refused for {case['refuse']}, found {ran.stdout[:200]}"
    expected = case.get("expect")
    if "expect_file" in case:  # numbers of a model: those that the reader returns must agree
        numbers = json.loads((HERE / case["expect_file"]).read_text())
        expected = {k: numbers.get(k) for k in found} if {"id", "horizon", "vehicle"} <= found.keys() else {k: numbers[k] for k in ("id", "horizon", "vehicle")}
    if ran.returncode != 0 or not same(expected, found):
        return f"expected {json.dumps(expected)[:300]}, found {ran.stdout[:300]}"
    return ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cases = json.loads((HERE / "cases.json").read_text())
    failed = 0
    for case in cases:
        if wrong := check(case, sys.argv[1:]):
            failed += 1
            print(f"{case['file']}: {case['about']}: {wrong}")
    print(f"{len(cases) - failed} of {len(cases)} cases as expected")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
