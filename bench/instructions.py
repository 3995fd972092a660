#!/usr/bin/env python3
"""Compares the instruction counts of callgrind's dumps with the recorded ones, or records them (--update)."""

import argparse
import json
import pathlib
import re
import sys

CALLS = 1000  # Counter::calls in instructions.hpp
TOLERANCE = 0.02


def read_dumps(folder):
    counts = {}
    for path in pathlib.Path(folder).glob("out.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)$", text, re.MULTILINE)
        if name and total:
            counts[name[1]] = int(total[1]) / CALLS
    return dict(sorted(counts.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kept")
    parser.add_argument("dumps")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    counts = read_dumps(options.dumps)
    if not counts:
        print("callgrind dumped nothing", file=sys.stderr)
        return 1
    file = pathlib.Path(options.kept)
    if options.update:
        file.write_text(json.dumps({"compiler": options.compiler, "instructions_per_call": counts}, indent=1) + "\n",
                        encoding="utf-8")
    kept = json.loads(file.read_text(encoding="utf-8"))
    comparable = kept["compiler"] == options.compiler
    status = 0
    for name in sorted(kept["instructions_per_call"].keys() | counts.keys()):
        now, before = counts.get(name), kept["instructions_per_call"].get(name)
        if now is None or before is None:
            verdict = "no longer counted" if now is None else "not written down yet"
            status = 1
        else:
            change = now / before - 1
            verdict = f"{change:+.1%}"
            if comparable and change > TOLERANCE:
                verdict, status = verdict + "  TOO MANY", 1
            elif comparable and change < -TOLERANCE:
                verdict += "  fewer: --update writes it down"
        print(f"{name:40} {now if now is not None else '-':>10} instructions a call  {verdict}")
    if not comparable:
        print(f"(counted with {options.compiler}, kept with {kept['compiler']}: shown, not judged)")
        status = 0
    return status


if __name__ == "__main__":
    sys.exit(main())
