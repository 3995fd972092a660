#!/usr/bin/env python3
"""Converts the results of one benchmark run to a table and ratios.json.

    ratios.py --targets targets.json --out ratios.json [--filter REGEX] RESULTS_FOLDER

Targets are rows of one of two forms:
    {"benchmark": "shm/ring_64B", "against": "floor", "max_ratio": 1.25}        takt's time over the other's
    {"benchmark": "sim/mhubo_1s", "value": "times_wall_time", "min": 200}       a counter, or "time"; "max" likewise

If a case has a row called loop, the cost of its benchmark's own loop, it is subtracted before the ratios.

Some rows have a counter line_ns, the time of a cache line from core to core. Of these, only samples with about
the usual distance of the cores are compared, because a host may move the cores of a virtual machine.
"""

import argparse
import itertools
import json
import os
import pathlib
import platform
import re
import statistics
import sys

# What Google Benchmark appends to a name: /real_time, /iterations:5, /repeats:7, ...
SUFFIX = re.compile(r"/(real_time|manual_time|process_time|threads:\d+|iterations:\d+|repeats:\d+|min_time:[\d.]+)(?=/|$)")
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
NOT_COUNTERS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
                "real_time", "cpu_time"}


def read_results(folder):
    """{case: {who: {"samples": [...], "unit": ..., counter: [...]} or None where the peer is absent}}"""
    cases = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        text = path.read_text(encoding="utf-8")
        if not text.strip():
            continue
        data = json.loads(text)
        rows = data if isinstance(data, list) else data.get("benchmarks", [])
        for row in rows:
            if row.get("run_type", "iteration") != "iteration":
                continue
            case, _, who = SUFFIX.sub("", row["name"]).rpartition("/")
            entry = cases.setdefault(case, {}).setdefault(who, {})
            if row.get("error_occurred"):
                entry["absent"] = row.get("error_message", "absent")
                continue
            if "value" in row:  # from a program of its own
                value, unit = row["value"], row.get("unit", "ns")
            else:
                own_clock = "real_time" in row["name"] or "manual_time" in row["name"]
                value, unit = row["real_time" if own_clock else "cpu_time"] * NANOSECONDS[row["time_unit"]], "ns"
            entry.setdefault("samples", []).append(value)
            entry["unit"] = unit
            for key, number in row.items():
                if isinstance(number, (int, float)) and key not in NOT_COUNTERS and key != "value":
                    entry.setdefault("counters", {}).setdefault(key, []).append(number)
    return cases


def keep_one_place(whos):
    """Keeps only the samples whose cores were about as far apart as in the case's median sample."""
    lines = [line for entry in whos.values() for line in entry.get("counters", {}).get("line_ns", [])]
    if not lines:
        return
    usual = statistics.median_low(lines)
    for entry in whos.values():
        near = [usual / 1.4 < line < usual * 1.4 for line in entry.get("counters", {}).get("line_ns", [])]
        if not any(near):
            entry.pop("samples", None)
            entry.setdefault("absent", "its cores were elsewhere")
            continue
        entry["samples"] = list(itertools.compress(entry["samples"], near))
        entry["counters"] = {key: list(itertools.compress(numbers, near)) for key, numbers in entry["counters"].items()}


def summarise(cases, targets):
    table = {}
    for case, whos in sorted(cases.items()):
        keep_one_place(whos)
        result = {"takt": None, "against": {}, "targets": []}
        for who, entry in whos.items():
            if "samples" not in entry:
                summary = {"absent": entry["absent"]}
            else:
                summary = {"value": statistics.median(entry["samples"]), "unit": entry["unit"]}
                for key, numbers in entry.get("counters", {}).items():
                    summary.setdefault("counters", {})[key] = statistics.median(numbers)
            if who == "takt":
                result["takt"] = summary
            else:
                result["against"][who] = summary
        table[case] = result
    for target in targets:
        result = table.get(target["benchmark"])
        if result is not None and "against" in target:
            result["against"].setdefault(target["against"], {"absent": "not installed"})
    for result in table.values():
        ours = result["takt"]
        loop = result["against"].get("loop", {}).get("value", 0)
        for who, other in result["against"].items():
            if who != "loop" and ours and "value" in ours and other.get("value", 0) > loop:
                other["ratio"] = (ours["value"] - loop) / (other["value"] - loop)
    for target in targets:
        result = table.get(target["benchmark"])
        if result is not None:
            result["targets"].append(judge(result, target))
    return table


def judge(result, target):
    """Returns the target with the measured value and whether it is met (None: it could not be measured here)."""
    ours = result["takt"] or {}
    if "against" in target:
        measured = result["against"][target["against"]].get("ratio")
        low, high = None, target["max_ratio"]
    else:
        measured = ours.get("value") if target["value"] == "time" else ours.get("counters", {}).get(target["value"])
        low, high = target.get("min"), target.get("max")
    met = None if measured is None else (low is None or measured >= low) and (high is None or measured <= high)
    return {**target, "measured": measured, "met": met}


def readable(value, unit):
    if unit != "ns":
        return f"{value:.4g} {unit}"
    for name, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.3g} ns"


def rows_of(table):
    verdict = {True: "yes", False: "NO", None: "-"}
    for case, result in table.items():
        ours = result["takt"]
        time = "-" if not ours else readable(ours["value"], ours["unit"]) if "value" in ours else "absent"
        first = [case, time]
        wanted = {t["against"]: t for t in result["targets"] if "against" in t}
        for who, other in sorted(result["against"].items(), key=lambda item: (item[0] != "floor", item[0])):
            target = wanted.get(who)
            yield first + [who, readable(other["value"], other["unit"]) if "value" in other else "absent",
                           f"{other['ratio']:.3g}" if "ratio" in other else "-",
                           f"<= {target['max_ratio']}" if target else "", verdict[target["met"]] if target else ""]
            first = ["", ""]
        for target in (t for t in result["targets"] if "against" not in t):
            bounds = [f">= {target['min']}"] if "min" in target else []
            bounds += [f"<= {target['max']}"] if "max" in target else []
            measured = "-" if target["measured"] is None else f"{target['measured']:.4g}"
            yield first + [target["value"], measured, "", ", ".join(bounds), verdict[target["met"]]]
            first = ["", ""]
        if first[0]:
            yield first + ["", "", "", "", ""]


def print_table(table):
    head = ["benchmark", "takt", "against", "its time", "ratio", "target", "met"]
    rows = [head] + list(rows_of(table))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def processor():
    """Returns the processor's name: a target that is met on one may not be met on another."""
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor() or "unknown"


def instruction_sets():
    """Returns the widest vectors that the kernels may use here."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return [name for name in ("sse2", "avx2", "fma", "avx512f") if re.search(rf"\b{name}\b", text)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results")
    parser.add_argument("--targets", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--filter", default=".")
    options = parser.parse_args()
    targets = json.loads(pathlib.Path(options.targets).read_text(encoding="utf-8"))
    table = summarise(read_results(options.results), targets)
    judged = [target for result in table.values() for target in result["targets"]]
    pathlib.Path(options.out).write_text(json.dumps({
        "machine": {"processor": processor(), "instruction_sets": instruction_sets(), "system": platform.platform(),
                    "cores": os.cpu_count()},
        "benchmarks": table}, indent=1) + "\n", encoding="utf-8")
    print(f"{processor()}, {os.cpu_count()} cores, {' '.join(instruction_sets())}\n")
    print_table(table)
    print(f"\n{sum(t['met'] is True for t in judged)} targets met, {sum(t['met'] is False for t in judged)} missed, "
          f"{sum(t['met'] is None for t in judged)} not measurable here; written to {options.out}")
    # A benchmark may have been renamed without its target.
    for target in targets:
        if options.filter == "." and target["benchmark"] not in table:
            print(f"no such benchmark: {target['benchmark']}", file=sys.stderr)


if __name__ == "__main__":
    main()
