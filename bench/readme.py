"""Puts the last run's figures into the README, between its two bench marks: `python -m bench.readme`.

Every figure in the README comes from here, so that none is typed by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MARKS = ("<!-- bench -->", "<!-- /bench -->")


def main() -> None:
    """Rewrite the README's section from bench/results/latest.json."""
    results = json.loads((ROOT / "bench/results/latest.json").read_text())
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    if not after:
        sys.exit(f"README.md lacks {MARKS[0]} or {MARKS[1]}")
    readme.write_text(f"{before}{MARKS[0]}\n{section(results)}\n{MARKS[1]}{after}")
    print("README.md has the figures of", results["date"])


def section(results: dict[str, Any]) -> str:
    """The section's text: the chart, a table of what was reached, and how it was measured."""
    machine = results["machine"]
    versions = results["versions"]
    rows = ["| | data | recordsmith | against | target |", "|---|---|---|---|---|"]
    rows += [
        f"| {outcome['what']} | {outcome['subject']} | **{shown(outcome['value'], outcome['unit'])}** "
        f"| {outcome['against']} | {held_to(outcome)} |"
        for part in results["sections"]
        for outcome in part["outcomes"]
        if outcome["target"] is not None
    ]
    named = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    method = (
        f"Measured on {results['date'][:10]} on {machine['cpu']}, {machine['cores']} cores, everything in the page "
        f"cache, best pass of {results['repeats']} turns, by `make bench` ({named}). Every figure, also "
        "those without a target, is in `bench/results/latest.json` after a run; "
        "[bench/README.md](bench/README.md) says how to read them."
    )
    return "\n".join(["![Recordsmith against its peers](docs/images/bench.svg)", "", *rows, "", method])


def shown(value: float, unit: str) -> str:
    """A value with its unit."""
    if unit == "seconds":
        return f"{value:.3f} s"
    return f"{value:.1%}" if unit == "fraction" else f"{value:.1f}×"


def held_to(outcome: dict[str, Any]) -> str:
    """The target, and whether it is met."""
    sign = "<" if outcome["unit"] == "seconds" else "≥"
    return f"{sign} {shown(outcome['target'], outcome['unit'])}{'' if outcome['met'] else ', missed'}"


if __name__ == "__main__":
    main()
