"""A check on a Ray cluster whose workers read the files from an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.facts import divided_survey
from tests.formats.made_sources import labelled
from tests.run.engines.cluster import started_cluster


@pytest.mark.proof
def test_files_at_a_url(quick_path: Path, s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers have the credentials in their environment: that of the machines that the test starts."""
    monkeypatch.setattr(divided_survey, "_UNIT_BYTES", 20_000)
    options: dict[str, Any] = {"name": "data", "split": "train=0.7,test=0.3", "shards": 3}
    rs.make(labelled([n % 3 for n in range(5000)]), f"{s3_url}/data", staging=quick_path / "staging", **options)
    with started_cluster(2):
        on_ray = rs.check(f"{s3_url}/data", engine="ray").to_json()
    assert on_ray == rs.check(f"{s3_url}/data").to_json()
    assert on_ray["facts"]["records"] == 5000
