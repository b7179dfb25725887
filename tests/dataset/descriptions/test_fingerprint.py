"""The fingerprint of a split depends on its records alone, and `compare` goes by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.dataset.descriptions.fingerprint import Fingerprint
from recordsmith.dataset.descriptions.manifest import load_manifest
from recordsmith.records.shards import ChangedFileWarning
from tests.formats.made_sources import labelled
from tests.making.making_to_kill import RECIPES


def fingerprints(folder: Path) -> dict[str, str | None]:
    return {name: split.fingerprint for name, split in load_manifest(str(folder / "recordsmith.json")).splits.items()}


def test_it_never_changes() -> None:
    """It is stored in manifests: another value would make all old ones meaningless."""
    digests = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    assert Fingerprint.of(digests) == "5e3317af93b89467ca36381b17f639d4"
    assert Fingerprint.of(digests[:0]) == Fingerprint.total([]) == "0" * 32


def test_only_the_records_matter(quick_path: Path) -> None:
    source = labelled([n % 3 for n in range(500)])
    options: dict[str, Any] = {"split": "train=0.8,test=0.2"}
    rs.make(source, quick_path / "data", **options)
    first = fingerprints(quick_path / "data")
    assert len({*first.values()}) == 2
    settings: list[dict[str, Any]] = [
        {"shuffle": True, "seed": 5},
        {"shards": 7},
        {"compression": "gzip"},
        {"shuffle": True, "shards": 3, "compression": "zlib"},
    ]
    for number, setting in enumerate(settings):
        rs.copy(quick_path / "data", quick_path / f"copy-{number}", **setting)
        assert fingerprints(quick_path / f"copy-{number}") == first
    changes: list[dict[str, Any]] = [{"where": "n != 3"}, {"rename": {"n": "m"}}, {"take": 79}]
    for number, change in enumerate(changes):
        rs.copy(quick_path / "data", quick_path / f"other-{number}", **change)
        assert fingerprints(quick_path / f"other-{number}")["train"] != first["train"]
    rows = [row["n"].item() for row in rs.open(quick_path / "data", split="train")]
    numbered = rs.make([{"n": n} for n in [*rows, rows[0]]], quick_path / "twice")
    rs.make([{"n": n} for n in rows], quick_path / "once")
    assert numbered.rows == len(rows) + 1
    assert fingerprints(quick_path / "twice") != fingerprints(quick_path / "once"), "repeated records count"


@pytest.mark.parametrize("recipe", ["everything", "words", "synthetic"])
def test_it_does_not_depend_on_who_does_the_work(recipe: str, quick_path: Path) -> None:
    """Also where records are changed when they are written, and where shards were read back by another process."""
    source, options = RECIPES[recipe](0.0)
    rs.make(source, quick_path / "whole", name="data", **options)
    for part in ("1/2", "2/2", "1/2"):
        rs.make(RECIPES[recipe](0.0)[0], quick_path / "parts", name="data", part=part, **options)
    rs.make(RECIPES[recipe](0.0)[0], quick_path / "parts", name="data", finish=True, **options)
    assert fingerprints(quick_path / "parts") == fingerprints(quick_path / "whole")
    rs.copy(quick_path / "whole", quick_path / "copy")
    assert fingerprints(quick_path / "copy") == fingerprints(quick_path / "whole")


def test_compare_goes_by_it(quick_path: Path) -> None:
    """Datasets with the same records are the same at once; otherwise the files are read as before."""
    rs.make(labelled([n % 3 for n in range(500)]), quick_path / "old", split="train=0.8,test=0.2")
    rs.copy(quick_path / "old", quick_path / "new", shards=3, shuffle=True)
    phases: list[str] = []

    def compared(**options: Any) -> Any:
        phases.clear()
        return rs.compare(quick_path / "old", quick_path / "new", progress=lambda *a: phases.append(str(a)), **options)

    report = compared()
    assert report.ok
    assert phases == [], "nothing was read"
    assert "fingerprints in both manifests are equal" in json.dumps(report.to_json())
    assert compared(splits=("test", "test")).ok
    assert phases == []
    read = compared(fingerprints=False)
    assert read.ok
    assert phases, "the files were read"
    compared(splits=("train", "test"))
    assert phases, "other splits are compared by their records"
    shard = next((quick_path / "new").glob("*.tfrecord-*"))
    shard.write_bytes(shard.read_bytes() + b"x")
    with pytest.warns(ChangedFileWarning), pytest.raises(rs.RecordsmithError, match="damaged"):
        compared()
    rs.copy(quick_path / "old", quick_path / "again")
    words = ["compare", str(quick_path / "old"), str(quick_path / "again")]
    assert "were not read" in " ".join(CliRunner().invoke(main, words).stdout.split())
    assert "were not read" not in CliRunner().invoke(main, [*words, "--no-fingerprints"]).stdout


def test_repaired_splits_have_none(quick_path: Path) -> None:
    """It would be that of the records before: of a split whose files stay as they are, it stays."""
    rs.make(labelled([n % 3 for n in range(500)]), quick_path / "data", split="train=0.8,test=0.2")
    shard = next((quick_path / "data").glob("*train*"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 100] = bytes(100)
    shard.write_bytes(content)
    before = fingerprints(quick_path / "data")
    rs.repair(quick_path / "data", quick_path / "repaired", progress=False)
    assert fingerprints(quick_path / "repaired") == {"train": None, "test": before["test"]}


def test_hostile_fingerprints(quick_path: Path) -> None:
    rs.make(labelled([0, 1, 2]), quick_path / "data")
    path = quick_path / "data" / "recordsmith.json"
    document = json.loads(path.read_text())
    for wrong in ("", "xyz", "0" * 31, "g" * 32):
        document["splits"]["train"]["fingerprint"] = wrong
        path.write_text(json.dumps(document))
        assert fingerprints(quick_path / "data") == {"train": None}
