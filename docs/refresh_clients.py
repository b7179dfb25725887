"""Fill the table of clients in docs/frameworks.md from the tests: `python docs/refresh_clients.py`.

A test module says in `SHOWN` which of its tests show what of a client. A cell of the table without a mark
has no test.
"""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "frameworks.md"
TABLE = re.compile(r"(?<=<!-- clients -->\n\n).*?(?=<!-- /clients -->)", re.DOTALL)
COLUMNS = ("feeds", "resumes mid-epoch", "resumes at the end", "several workers", "several ranks")
WITHOUT_WORKERS = ("JAX", "Keras", "numpy", "Orbax", "TensorFlow")  # the threads of the loader work for them


def shown() -> dict[str, dict[str, tuple[str, str]]]:
    """Return, by client and column, the test that shows it: its file and its name."""
    clients: dict[str, dict[str, tuple[str, str]]] = {}
    for file in sorted((ROOT / "tests" / "loader").rglob("test_*.py")):
        for statement in ast.parse(file.read_text()).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "SHOWN":
                for client, tests in ast.literal_eval(statement.value).items():
                    places = {column: (str(file.relative_to(ROOT)), test) for column, test in tests.items()}
                    clients.setdefault(client, {}).update(places)
    return clients


def table() -> str:
    """Return the table."""
    lines = [f"| client | {' | '.join(COLUMNS)} |", "|---|" + ":---:|" * len(COLUMNS)]
    for client, tests in sorted(shown().items(), key=lambda one: one[0].lower()):
        cells = ["✓" if column in tests else "" for column in COLUMNS]
        if client.startswith(WITHOUT_WORKERS):
            cells[COLUMNS.index("several workers")] = "threads"
        lines.append(f"| {client} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def refreshed(text: str) -> str:
    """Return the page with its table as it should be."""
    return TABLE.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text()))
