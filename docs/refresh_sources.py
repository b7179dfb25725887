"""Fill the table of sources in docs/sources.md from the tests: `python docs/refresh_sources.py`.

A test says with `@pytest.mark.source("csv", keeps="types, missing cells")` what it shows to be kept of a source, value
by value. Several tests may say something about one source.
"""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sources.md"
TABLE = re.compile(r"(?<=<!-- sources -->\n\n).*?(?=<!-- /sources -->)", re.DOTALL)


def shown() -> dict[str, list[tuple[str, str, str]]]:
    """Return for each source what is kept, with the file and the name of the test that shows it."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        if "mark.source(" not in (text := file.read_text()):
            continue
        body = ast.parse(text).body
        texts = {ast.unparse(one.targets[0]): one.value for one in body if isinstance(one, ast.Assign)}
        for test in (one for one in body if isinstance(one, ast.FunctionDef)):
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.source":
                    (name,), (keeps,) = mark.args, mark.keywords
                    said = texts.get(ast.unparse(keeps.value), keeps.value)
                    place = (ast.literal_eval(said), str(file.relative_to(ROOT)), test.name)
                    found.setdefault(ast.literal_eval(name), []).append(place)
    return found


def table() -> str:
    """Return the table."""
    lines = ["| source | what is kept |", "|---|---|"]
    for name, places in sorted(shown().items(), key=lambda one: one[0].lower()):
        lines.append(f"| {name} | {'; '.join(dict.fromkeys(keeps for keeps, _, _ in places))} |")
    return "\n".join(lines) + "\n\n"


def refreshed(text: str) -> str:
    """Return the page with its table as it should be."""
    return TABLE.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text()))
