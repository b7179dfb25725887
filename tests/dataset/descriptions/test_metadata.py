"""What people say about a dataset is kept, in recordsmith.json and for TFDS, also by copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.dataset.descriptions.manifest import load_manifest
from recordsmith.dataset.descriptions.metadata import Metadata
from tests.formats.made_sources import labelled, numbers

SAID: dict[str, Any] = {
    "description": "Pets of all kinds.",
    "license": "CC-BY-4.0",
    "citation": "@misc{pets}",
    "homepage": "https://example.org/pets",
    "version": "2.1.0",
    "supervised_keys": ["n", "label"],
}


def said(folder: Path) -> dict[str, Any]:
    return load_manifest(str(folder / "recordsmith.json")).metadata.to_json()


def info(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "dataset_info.json").read_text())
    return found


def test_it_is_kept(quick_path: Path) -> None:
    rs.make(labelled([0, 1, 2] * 10), quick_path / "data", metadata=SAID)
    assert said(quick_path / "data") == SAID
    document = info(quick_path / "data")
    assert document["version"] == "2.1.0"
    assert document["redistributionInfo"] == {"license": "CC-BY-4.0"}
    assert document["location"] == {"urls": ["https://example.org/pets"]}
    assert document["citation"] == "@misc{pets}"
    assert [item["featureKey"] for item in document["supervisedKeys"]["tuple"]["items"]] == ["n", "label"]
    rs.make(numbers(3), quick_path / "plain")
    assert "metadata" not in json.loads((quick_path / "plain" / "recordsmith.json").read_text())


def test_tfds_reads_it(quick_path: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")
    rs.make(labelled([0, 1, 2] * 10), quick_path / "pets" / "2.1.0", name="pets", metadata=SAID)
    found = tfds.builder_from_directory(quick_path / "pets" / "2.1.0").info
    assert found.supervised_keys == ("n", "label")
    assert (str(found.version), found.homepage, found.citation) == ("2.1.0", SAID["homepage"], SAID["citation"])
    assert found.redistribution_info.license == "CC-BY-4.0"
    assert found.description == SAID["description"]


def test_a_copy_keeps_what_still_holds(quick_path: Path) -> None:
    rs.make(labelled([0, 1, 2] * 10), quick_path / "data", metadata=SAID)
    rs.copy(quick_path / "data", quick_path / "same", where="n > 3")
    assert said(quick_path / "same") == SAID
    rs.copy(quick_path / "data", quick_path / "named", rename={"n": "number"}, metadata={"version": "3.0.0"})
    assert said(quick_path / "named") == {**SAID, "version": "3.0.0", "supervised_keys": ["number", "label"]}
    rs.copy(quick_path / "data", quick_path / "less", drop=["label"])
    assert "supervised_keys" not in said(quick_path / "less")
    rs.make(labelled([0, 1, 2] * 10), quick_path / "other", metadata={"license": "MIT"})
    copied = rs.copy([quick_path / "data", quick_path / "other"], quick_path / "both")
    assert said(quick_path / "both") == {}
    assert any("different metadata" in warning for warning in copied.warnings)
    with rs.write(quick_path / "data", rs.open(quick_path / "data").schema, name="data", split="extra") as writer:
        writer.add({"n": 1, "label": "cat"})
    assert said(quick_path / "data") == SAID, "a split that is added leaves it as it is"


def test_on_the_command_line(quick_path: Path) -> None:
    (quick_path / "a.csv").write_text("n,label\n" + "".join(f"{n},{n % 2}\n" for n in range(20)))
    (quick_path / "paper.bib").write_text("@misc{pets}\n")
    words = ["make", str(quick_path / "a.csv"), "-o", str(quick_path / "out"), "--metadata", "license=MIT"]
    words += ["--metadata", f"citation=@{quick_path / 'paper.bib'}", "--metadata", "supervised_keys=n,label"]
    assert CliRunner().invoke(main, words).exit_code == 0
    expected = {"license": "MIT", "citation": "@misc{pets}", "supervised_keys": ["n", "label"]}
    assert said(quick_path / "out") == expected
    wrong = CliRunner().invoke(main, [*words[:4], "--overwrite", "--metadata", "licence=MIT"])
    assert wrong.exit_code == 2
    assert "Did you mean 'license'?" in wrong.output


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"licence": "MIT"}, "Did you mean 'license'"),
        ({"version": "1"}, "three numbers"),
        ({"license": 3}, "must be a string"),
        ({"citation": "x" * 70_000}, "must be a string"),
        ({"supervised_keys": ["n"]}, "two names"),
        ({"supervised_keys": 3}, "two names"),
        ({"supervised_keys": ("n", "lable")}, "Did you mean 'label'"),
    ],
)
def test_what_is_wrong_is_refused(given: Any, match: str, quick_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match=match):
        rs.make(labelled([0, 1, 2]), quick_path / "out", metadata=given)
    assert not (quick_path / "out").exists()


def test_hostile_manifests(quick_path: Path) -> None:
    rs.make(numbers(3), quick_path / "data")
    path = quick_path / "data" / "recordsmith.json"
    document = json.loads(path.read_text())
    every: list[Any] = [[], {"license": 5}, {"supervised_keys": "n"}, {"supervised_keys": [1, 2]}]
    for wrong in every:
        path.write_text(json.dumps({**document, "metadata": wrong}))
        with pytest.raises(rs.RecordsmithError):
            load_manifest(str(path))
    path.write_text(json.dumps({**document, "metadata": {"supervised_keys": ["n"], "unknown": 7}}))
    assert load_manifest(str(path)).metadata == Metadata()
