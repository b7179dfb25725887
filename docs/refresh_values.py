"""Write docs/values.md from the cases of the tests: `python docs/refresh_values.py`. A test fails when it is stale."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "values.md"
sys.path.insert(0, str(ROOT))

from recordsmith.errors import EncodeError  # noqa: E402 - the cases are found from the root
from tests.schema.value_cases import CAST_CASES, COLUMN_CASES, FEATURES, ROW_CASES, RowCase  # noqa: E402 - as above

HEAD = """# What each value becomes

<!-- Written by docs/refresh_values.py from tests/schema/value_cases.py, which the tests run: do not edit it here. -->

Whatever is given to a feature has one meaning, or is refused with an `EncodeError` that names the row, the feature,
what was found, what was expected and what to do. This page is written from the cases that the tests run through every
feature type, as rows and as columns.

## The rules

- A number is taken if it stays itself: whole floats as integers, integers that a float holds exactly, floats rounded to
  a narrower float as long as none becomes infinite. `bool` is 0 or 1. A `Decimal` is taken only if it is exactly one of
  the dtype's values, for its digits were meant.
- Strings are never taken for numbers, and numbers never for strings; a `Label` takes the names of its classes.
- Dates, times and durations are refused everywhere: which unit, zone and form you want is yours to say, as with
  `value.timestamp()` or `value.isoformat()`.
- A `pathlib.Path` is its own text for `Text`, and the file's content for `Image`. `Bytes` refuses it: say
  `path.read_bytes()` if that is meant. A `str` is never a path.
- `None`, `pd.NA`, `pd.NaT`, a null of Arrow and what numpy has masked throughout stand for no value. An optional
  feature leaves it out; a required one refuses it. NaN is a value, except in columns of pandas that use it as their
  mark for a missing one.
- A row is there whole or not at all: `None` inside a list is refused.
- Arrays may have any dtype, byte order and memory layout. Tensors of PyTorch and TensorFlow mean what their numpy
  arrays do, wherever they are kept; `bfloat16` is read exactly.
- PIL images are pixels for a `Tensor`, and are encoded for an `Image` if no channel is lost on the way.
"""

CAST_HEAD = """## With `cast=True`

`writer.write_rows(rows, schema, cast=True)` and `write_columns(..., cast=True)` let numbers become the nearest that
their feature holds. To an integer, fractions are cut towards zero and what lies outside ends at the limit; to a float,
values are rounded, and what is too large becomes infinite; to `bool`, everything but 0 is true; the imaginary part of a
complex number is dropped. NaN still is no integer, and what is no number does not become one. PIL images lose channels
that the feature does not have.

| value | dtype | without | with `cast=True` |
|---|---|---|---|
"""

REFUSED = "·"


def shown(value: Any) -> str:
    """Show what reads back in a cell."""
    if isinstance(value, bytes) and len(value) > 20:
        return "itself"
    if isinstance(value, str) and value.startswith("PNG of"):
        return value
    return code(repr(value))


def code(text: str) -> str:
    """Set a piece of Python for a cell."""
    return f"`{text}`".replace("|", "\\|")


def table_of(cases: list[RowCase]) -> str:
    """Lay out what becomes of some values: one line each, one column for each feature that takes any of them."""
    names = [name for name in FEATURES if any(name in case.takes for case in cases)]
    heads = [code(repr(FEATURES[name])) for name in names]
    lines = [f"| value | {' | '.join(heads)} |", f"|---{'|---' * len(names)}|"]
    for case in cases:
        cells = [shown(case.takes[name]) if name in case.takes else REFUSED for name in names]
        if case.missing:
            cells = ["absent"] * len(names)
        lines.append(f"| {code(case.shown)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def refusals_of(cases: list[RowCase], folder: Path) -> str:
    """Say what the errors are of the types that refuse most: numbers and strings."""
    lines = ["| value | refused as | the error | what to do |", "|---|---|---|---|"]
    for case in cases:
        met: dict[tuple[str, str], list[str]] = {}
        for name in ("int64", "float32", "text"):
            if name in case.takes or case.missing:
                continue
            try:
                FEATURES[name].value_to_canonical(case.make(folder))
            except EncodeError as error:
                met.setdefault((error.problem, error.advice or ""), []).append(f"`{FEATURES[name]!r}`")
        for (problem, advice), features in met.items():
            if not case.takes or "fit" in problem:  # what is taken nowhere, and what does not fit
                lines.append(f"| {code(case.shown)} | {', '.join(features)} | {problem} | {advice} |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page as it should be."""
    parts = [HEAD, f"\nIn the tables, {REFUSED} stands for a refusal.\n"]
    with tempfile.TemporaryDirectory() as folder:
        for title, cases in ROW_CASES.items():
            parts.append(f"\n## {title}\n\n{table_of(cases)}\n")
        parts.append(
            "\n## Columns\n\nA column of two rows, and what they read back as.\n\n| column | features |\n|---|---|\n"
        )
        for case in COLUMN_CASES:
            cells = [f"`{FEATURES[name]!r}`: {', '.join(map(shown, rows))}" for name, rows in case.takes.items()]
            parts.append(f"| {code(case.shown)} | {'; '.join(cells)} |\n")
        parts.append("\n" + CAST_HEAD)
        parts.extend(f"| `{text}` | `{dtype}` | refused | `{result!r}` |\n" for text, _, dtype, result in CAST_CASES)
        parts.append("\n## What the errors say\n\nOf values that fit nowhere, or not everywhere.\n")
        parts.extend(
            f"\n### {title}\n\n{refusals_of(ROW_CASES[title], Path(folder))}\n"
            for title in ("Python's own", "Numbers with digits, dates and times")
        )
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
