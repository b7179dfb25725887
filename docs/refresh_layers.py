"""Fill the tables of docs/architecture.md from layers.toml and the docstrings: `python docs/refresh_layers.py`."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
LAYERS: dict[str, Any] = tomllib.loads((ROOT / "layers.toml").read_text())
TABLE = re.compile(r"(?<=<!-- layers: )(?P<part>[a-z]+)( -->\n\n).*?(?=<!-- /layers -->)", re.DOTALL)


def first_line(name: str) -> str:
    """Return the first line of a package's or module's docstring."""
    source = ROOT / "src" / "recordsmith"
    files = (source / name / "__init__.py", source / f"{name}.py", source / f"{name}.pyi")
    file = next(file for file in files if file.exists())
    return (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0]


def table(part: str) -> str:
    """Return the table of "python" or "cpp": the highest layer first."""
    contents: Callable[[str], str] = LAYERS["cpp"]["contents"].__getitem__ if part == "cpp" else first_line
    lines = ["| layer | folder | what is in it |", "|---|---|---|"]
    for level, names in reversed([*enumerate(LAYERS[part]["layers"], 1)]):
        lines += [f"| {level} | `{name}` | {contents(name)} |" for name in names]
    return "\n".join(lines) + "\n\n"


def refreshed(text: str) -> str:
    """Return the page with its tables as they should be."""
    return TABLE.sub(lambda found: found["part"] + found[2] + table(found["part"]), text)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text()))
