"""The page of measured figures: the medians, targets and instruction counts of bench/, and the last run of bench/run.sh here."""

import json


def loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows)) + "\n"


def median(row):
    return f"{row['time_ns']:g} ns" if "time_ns" in row else f"{row['ratio']:g} of {row['against']}"


def bound(target):
    if "against" in target:
        return f"at most {target['max_ratio']:g} of {target['against']}"
    limits = [f"{word} {target[key]:,.10g}" for key, word in (("min", "at least"), ("max", "at most")) if key in target]
    return " and ".join(limits) + (" ns" if target["value"] == "time" else f" `{target['value']}`")


def results_of(path):
    """Of a ratios.json: {(benchmark, other, counter): figure}, and its machine. Nothing where there was no run."""
    if path is None or not path.exists():
        return {}, None
    data = loaded(path)
    measured = [t for result in data["benchmarks"].values() for t in result["targets"] if t["measured"] is not None]
    return {(t["benchmark"], t.get("against"), t.get("value")): t["measured"] for t in measured}, data["machine"]


def page(bench, ratios):
    medians, targets, counts = (loaded(bench / f"{name}.json") for name in ("measured", "targets", "instructions"))
    results, machine = results_of(ratios)
    rows = [[f"`{t['benchmark']}`", bound(t)] for t in targets]
    head = ["benchmark", "target"]
    if machine:
        head.append(f"measured here ({machine['processor']}, {machine['cores']} cores)")
        for row, target in zip(rows, targets):
            figure = results.get((target["benchmark"], target.get("against"), target.get("value")))
            row.append("" if figure is None else f"{figure:.3g}")
    return f"""# Measured figures {{#figures}}

`bench/run.sh` measures takt, a hand-written minimum (the *floor*) and other libraries in the same run. A ratio is takt's median time over
the other's: below 1, takt is faster. Compare only ratios of one run. This page is generated from `bench/`.

## Medians {{#figures_medians}}

Other processors give other figures. The runs:

{table(["run", "machine"], medians["runs"].items())}

{table(["benchmark", "median", "run"], [[f"`{row['benchmark']}`", median(row), row["run"]] for row in medians["medians"]])}
## Targets {{#figures_targets}}

`bench/run.sh` compares each run with these targets. It writes `build/bench/ratios.json`, from which this table takes its last column.

{table(head, rows)}
## Instructions {{#figures_instructions}}

Instructions per call, counted by callgrind for the compiler {counts["compiler"]}. `bench/callgrind.sh` compares with them.

{table(["call", "instructions"], [[f"`{name}`", f"{count:,.0f}"] for name, count in counts["instructions_per_call"].items()])}"""
