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

This page shows, for every feature type, which values you can write and what you read back. All other values are an
`EncodeError` that names the row, the feature, what was found, what was expected and what to do. The tables are
generated from the test cases, which are run as rows and as columns.

## The rules

- **Numbers** are accepted if they do not change: floats without a fraction as integers, integers that a float
  represents exactly, floats in a smaller float type unless they become infinite. `bool` is 0 or 1. A `Decimal` is
  accepted only if the dtype represents it exactly.
- **Strings** are never converted to numbers, nor numbers to strings. A `Label` takes class names.
- **Dates, times and durations** are errors, because the unit, time zone and format are not known. Convert them
  yourself, for example with `value.timestamp()` or `value.isoformat()`.
- **Paths**: for `Text`, a `pathlib.Path` is its own text; for `Image`, the content of the file. For `Bytes` it is an
  error; use `path.read_bytes()`. A `str` is never a path.
- **Missing values** are `None`, `pd.NA`, `pd.NaT`, a null of Arrow, and fully masked numpy values. An optional feature
  leaves them out; for a required feature they are an error. NaN is a value, except in pandas columns that use it for
  missing values.
- `None` inside a list is an error.
- **Arrays** may have any dtype, byte order and memory layout. PyTorch and TensorFlow tensors are treated like their
  numpy arrays, on any device. `bfloat16` is read exactly.
- **PIL images** are pixels for a `Tensor`. For an `Image` they are encoded, if no channel is lost.
"""

CAST_HEAD = """## With `cast=True`

`writer.write_rows(rows, schema, cast=True)` and `write_columns(..., cast=True)` store the nearest number that the
feature can hold. For an integer, fractions are truncated towards zero, and numbers outside the range become the limit.
For a float, values are rounded, and numbers that are too large become infinite. For `bool`, everything except 0 is
true. The imaginary part of a complex number is dropped. NaN cannot become an integer, and other types do not become
numbers. PIL images lose channels that the feature does not have.

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
    lines = ["| value | feature | error | what to do |", "|---|---|---|---|"]
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
    parts = [HEAD, f"\nIn the tables, {REFUSED} means an error.\n"]
    with tempfile.TemporaryDirectory() as folder:
        for title, cases in ROW_CASES.items():
            parts.append(f"\n## {title}\n\n{table_of(cases)}\n")
        parts.append(
            "\n## Columns\n\nA column of two rows, and what you read back.\n\n| column | features |\n|---|---|\n"
        )
        for case in COLUMN_CASES:
            cells = [f"`{FEATURES[name]!r}`: {', '.join(map(shown, rows))}" for name, rows in case.takes.items()]
            parts.append(f"| {code(case.shown)} | {'; '.join(cells)} |\n")
        parts.append("\n" + CAST_HEAD)
        parts.extend(f"| `{text}` | `{dtype}` | error | `{result!r}` |\n" for text, _, dtype, result in CAST_CASES)
        parts.append("\n## Error messages\n\nFor values that no feature, or not every feature, accepts.\n")
        parts.extend(
            f"\n### {title}\n\n{refusals_of(ROW_CASES[title], Path(folder))}\n"
            for title in ("Python's own", "Numbers with digits, dates and times")
        )
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
