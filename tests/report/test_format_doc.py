"""docs/report-format.md names every key that the JSON has."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from recordsmith.facts import dataset_facts
from recordsmith.rules import Location
from tests.made_reports import diagnose_report, lint_report, pets_report

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "report-format.md").read_text()
NAMED = set(re.findall(r"`([a-z_0-9]+)`", TEXT))


@pytest.mark.parametrize("name", dataset_facts.__all__)
def test_every_fact_is_described(name):
    fields = {field.name for field in dataclasses.fields(getattr(dataset_facts, name))} - {"manifest", "seconds"}
    assert fields <= NAMED, f"docs/report-format.md does not say what these are: {sorted(fields - NAMED)}"


def test_every_other_key_is_described():
    keys = {field.name for field in dataclasses.fields(Location)}
    for report in (pets_report(), lint_report(), diagnose_report()):
        document = report.to_json()
        keys |= set(document) | set(document["tool"]) | set(document["counts"])
        keys |= {key for part in (*document["findings"], *document["sections"]) for key in part}
    assert keys <= NAMED, sorted(keys - NAMED)
