"""What the tests of the survey share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import recordsmith as rs
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.survey import survey


def write_rows(path: Path, rows: Iterable[dict[str, Any]], **settings: Any) -> Path:
    with rs.RecordWriter(path, **settings) as writer:
        for row in rows:
            writer.write_example(row)
    return path


def timeless(facts: DatasetFacts) -> DatasetFacts:
    """The facts without how long they took."""
    return replace(facts, seconds=0.0)


def small_units(monkeypatch, bytes_: int = 20_000) -> None:
    """Cut files into many units, as only large files are otherwise."""
    monkeypatch.setattr("recordsmith.facts.divided_survey._UNIT_BYTES", bytes_)


def same_for_all_threads(paths: Any, **settings: Any) -> DatasetFacts:
    """Survey with 1, 2 and 4 threads; the facts must be the same."""
    first, *others = (timeless(survey(paths, threads=threads, **settings)) for threads in (1, 2, 4))
    for other in others:
        assert other == first
    return first
