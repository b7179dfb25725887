"""Ray Data reads the shards of a folder; given the folder, it reads the descriptions as records, and fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import recordsmith as rs
from tests.loader.frameworks.clients.running import run

SHOWN = {
    "Ray Data": {
        "feeds": "test_ray_reads_the_files_of_a_dataset",
        "several workers": "test_ray_reads_the_files_of_a_dataset",
    },
}


@pytest.mark.proof
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is only installed for the benchmark")
def test_ray_reads_the_files_of_a_dataset(tmp_path: Path):
    rs.make({"n": list(range(50))}, tmp_path / "data", shards=3, split="train=40,test=10")
    assert run("ray_script.py", str(tmp_path / "data")) == {
        "train": sorted(int(row["n"]) for row in rs.open(tmp_path / "data", split="train")),
        "all": list(range(50)),
        "folder": False,
    }
