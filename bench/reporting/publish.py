"""Puts measured figures into README and docs/performance.md: `python -m bench.reporting.publish [results.json ...]`.

Several results are put together, task by task, the later ones first; each task keeps its own date. Every figure in
those two documents comes from here, so that none is typed by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.reporting.chart import draw_chart

ROOT = Path(__file__).resolve().parents[2]
MARKS = ("<!-- bench -->", "<!-- /bench -->")
CHART = ROOT / "docs/images/bench.svg"
DATASETS = ("tab", "vec", "tok", "img")


def main() -> None:
    """Rewrite the two sections from the results that are named, or from bench/results/latest.json."""
    paths = [Path(name) for name in sys.argv[1:]] or [ROOT / "bench/results/latest.json"]
    results = together([json.loads(path.read_text()) for path in paths])
    replace_section(ROOT / "README.md", readme_section(results))
    replace_section(ROOT / "docs/performance.md", performance_section(results))
    draw_chart(results, CHART)


def together(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Results of several runs as one; of a task that was run twice the last run counts."""
    sections: dict[str, dict[str, Any]] = {}
    versions: dict[str, str] = {}
    for document in documents:
        versions.update({name: version for name, version in document["versions"].items() if version})
        for section in document["sections"]:
            when = {
                "date": document["date"],
                "repeats": document["repeats"],
                "load": document["machine"]["load_before"],
            }
            sections[section["task"]] = {**section, **when}
    last = documents[-1]
    return {**last, "versions": dict(sorted(versions.items())), "sections": list(sections.values())}


def replace_section(path: Path, text: str) -> None:
    """Put a text between the two marks of a document."""
    before, _, rest = path.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    if not after:
        sys.exit(f"{path} lacks {MARKS[0]} or {MARKS[1]}")
    path.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")


def readme_section(results: dict[str, Any]) -> str:
    """The chart, the ratios on the four datasets, and where the rest is."""
    outcomes = [outcome for section in results["sections"] for outcome in section["outcomes"]]
    held = [outcome for outcome in outcomes if outcome["target"] is not None]
    rows: dict[str, dict[str, str]] = {}
    for outcome in held:
        if outcome["subject"] in DATASETS and outcome["unit"] != "seconds" and not outcome["what"].startswith("memory"):
            line = rows.setdefault(row_name(outcome), {})
            line.setdefault(outcome["subject"], shown(outcome["value"], outcome["unit"]))
    table = [f"| | {' | '.join(DATASETS)} |", "|---|" + "---|" * len(DATASETS)]
    table += [
        f"| {name} | {' | '.join(line.get(dataset, '') for dataset in DATASETS)} |" for name, line in rows.items()
    ]
    met = sum(outcome["met"] for outcome in held)
    text = (
        f"`tab`: 18 numbers and short strings. `vec`: 784 floats. `tok`: 10 to 500 integers. `img`: JPEGs of 80 KB. "
        "`10.7×` means 10.7 times as fast, `87%` means 87% of the speed. The comparison is with the fastest of several "
        f"ways to use the other library, in the same run on {results['machine']['cpu']} with "
        f"{results['machine']['cores']} cores. {met} of the {len(held)} targets are met. "
        "[Performance](docs/performance.md) lists all of them, also those that were missed, with versions and method. "
        "`make bench` measures them on your machine."
    )
    return "\n".join(["![Recordsmith against its peers](docs/images/bench.svg)", "", *table, "", text])


def row_name(outcome: dict[str, Any]) -> str:
    """What a row of the README's table says."""
    peer = outcome["against"].partition(":")[0]
    return f"{outcome['what']}, against {peer}" if peer not in outcome["what"] else outcome["what"]


def performance_section(results: dict[str, Any]) -> str:
    """Every result that has a target, task by task, and how it was measured."""
    machine = results["machine"]
    named = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    where = (
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, "
        f"{machine['kernel']}, Python {machine['python']}, with {named}."
    )
    parts = [where, results["method"]]
    for section in results["sections"]:
        if not section["outcomes"]:
            continue
        rows = ["| | data | recordsmith | against | target |", "|---|---|---|---|---|"]
        rows += [
            f"| {outcome['what']} | {outcome['subject']} | **{shown(outcome['value'], outcome['unit'])}** "
            f"| {outcome['against']} | {held_to(outcome)} |"
            for outcome in section["outcomes"]
        ]
        date = section["date"][:16].replace("T", " ")
        when = f"{date} UTC, load {section['load']:.1f} before, {section['repeats']} turns."
        parts += [f"## {section['title']}", "\n".join(rows), f"{section['method']} {when}"]
    return "\n\n".join(parts)


def shown(value: float, unit: str) -> str:
    """A value with its unit."""
    if unit == "seconds":
        return f"{value:.3f} s"
    if unit == "GB/s":
        return f"{value:.2f} GB/s"
    if unit == "fraction":
        return f"{value:.1%}"
    return f"{value:.2f}×" if value < 2 else f"{value:.1f}×"  # 1.25 is not 1.2


def held_to(outcome: dict[str, Any]) -> str:
    """The target, and whether it is met; nothing where none was set."""
    if outcome["target"] is None:
        return ""
    sign = "<" if outcome["unit"] == "seconds" else "≥"
    return f"{sign} {shown(outcome['target'], outcome['unit'])}{'' if outcome['met'] else ', **missed**'}"


if __name__ == "__main__":
    main()
