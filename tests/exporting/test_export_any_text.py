"""Any text and any name of a feature comes back from every kind of exported file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recordsmith as rs

KINDS = ["csv", "jsonl", "parquet", "tar"]
TEXTS = [
    "",
    "a\0b",
    "\0",
    "a\nb",
    "a\r\nb",
    "\r",
    '"',
    'a"b',
    ",",
    " a ",
    "\ufeff",
    "NA",
    "null",
    "\x1a",
    "\u2028",
    "007",
]
NAMES = ["t\n", "a\0", "a\rb", " a ", "", "\ufeff", '"', ",", "a/b", "n", "N", "empty", "\u2028", "x" * 300, "t.txt"]


def come_back(schema: rs.Schema, rows: list[dict[str, Any]], kind: str, folder: Path) -> None:
    with rs.write(folder / "in", schema, name="d", overwrite=True) as writer:
        for row in rows:
            writer.add(row)
    rs.export(folder / "in", folder / f"out.{kind}", overwrite=True)
    made = rs.make(folder / f"out.{kind}", folder / "back", shuffle=False, overwrite=True)
    assert made.rejects == 0
    back = rs.open(folder / "back")
    assert back.schema == schema
    assert [{name: value for name, value in row.items() if value is not None} for row in back] == [
        {name: value for name, value in row.items() if value is not None} for row in rows
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_come_back(kind, quick_path):
    schema = rs.Schema({"t": rs.Text(), "u": rs.Text(optional=True)})
    come_back(schema, [{"t": text, "u": text if n % 2 else None} for n, text in enumerate(TEXTS)], kind, quick_path)


@pytest.mark.parametrize("kind", KINDS)
def test_names_come_back(kind, quick_path):
    schema = rs.Schema({name: rs.Text() for name in NAMES})
    come_back(schema, [{name: f"{n}" for n, name in enumerate(NAMES)}], kind, quick_path)
    for name in NAMES:
        come_back(rs.Schema({name: rs.Text()}), [{name: "x"}], kind, quick_path)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=2, max_size=3, unique=True),
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4),
)
def test_any_text_under_any_name_comes_back(names, texts, kind, quick_path):
    schema = rs.Schema({name: rs.Text() for name in names})
    come_back(schema, [dict.fromkeys(names, text) for text in texts], kind, quick_path)
