"""Data cards say what is in a dataset, with hostile names too; mlcroissant takes the Croissant files."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.images import encode_image
from tests.formats.made_sources import numbers

HOSTILE = "<script>alert(1)</script> | `x` [a](b)\n# *_"


@pytest.fixture
def pets(quick_path: Path) -> Path:
    columns = {
        "image": [encode_image(np.full((6, 8, 3), n, np.uint8), "png") for n in range(60)],
        "x": np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32),
        "label": np.arange(60) % 3,
        "text": [f"{HOSTILE} {n % 4}" for n in range(60)],
        "a/b": np.arange(60),
        "a b": np.arange(60) % 2 == 0,
    }
    schema = rs.Schema(
        {
            "image": rs.Image(),
            "x": rs.Tensor("float32", (4,), description="Four | numbers."),
            "label": rs.Label(["cat", "dog", "<b>bird"]),
            "text": rs.Text(),
            "a/b": rs.Scalar("int64"),
            "a b": rs.Scalar("bool"),
        }
    )
    said = {
        "license": "CC-BY-4.0",
        "citation": "@misc{pets,\n  title = {```}}",
        "homepage": "https://example.org/pets",
        "version": "1.2.0",
        "description": f"Small pets. {HOSTILE}",
    }
    source = rs.sources.arrays(columns)
    rs.make(source, quick_path / "pets", schema=schema, split="train=0.8,test=0.2", shards=2, metadata=said)
    return quick_path / "pets"


def read_by_mlcroissant(text: str, folder: Path) -> Any:
    """Return what mlcroissant reads; it raises if anything is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports
        mlcroissant = pytest.importorskip("mlcroissant")
        (folder / "croissant.json").write_text(text)
        return mlcroissant.Dataset(folder / "croissant.json").metadata


def test_markdown(pets: Path) -> None:
    text = rs.card(pets, progress=False)
    assert text.startswith("# pets\n")
    for said in (
        "60 records in 2 splits and 4 files",
        "| License | CC-BY-4.0 |",
        "| train | 48 | 2 |",
        "60 png, 6 × 8",
    ):
        assert said in text
    assert "| \\<b\\>bird | " in text
    assert "Four \\| numbers." in text
    assert "| seed | 0 |" in text
    assert "````\n@misc{pets," in text, "a fence that the citation cannot end"
    assert "<script>" not in text.replace("\\<script\\>", "")
    for line in text.split("\n"):
        assert not line.startswith("# ") or line == "# pets"
        if line.startswith("| ") and "---" not in line:
            assert line.replace("\\|", "").count("|") - 1 in (2, 3, 4, 5)


def test_html(pets: Path) -> None:
    page = rs.card(pets, to="html", progress=False)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src &#x27;none&#x27;" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<td>CC-BY-4.0</td>" in page


def test_croissant(pets: Path) -> None:
    metadata = read_by_mlcroissant(rs.card(pets, to="croissant"), pets)
    assert (str(metadata.version), metadata.url, metadata.license) == (
        "1.2.0",
        "https://example.org/pets",
        ["CC-BY-4.0"],
    )
    assert [record_set.id for record_set in metadata.record_sets] == ["train", "test"]
    fields = {field.id: field for field in metadata.record_sets[0].fields}
    assert list(fields) == [f"train/{name}" for name in ("image", "x", "label", "text", "a-b", "a-b-2")]
    assert fields["train/x"].is_array
    assert [
        str(fields[f"train/{name}"].data_types[0]).rpartition("/")[2] for name in ("image", "x", "text", "a-b-2")
    ] == [
        "ImageObject",
        "Float32",
        "Text",
        "Boolean",
    ]


def test_croissant_names_the_files(pets: Path) -> None:
    """Without mlcroissant, too: what its specification requires is there, and the digests are those of the files."""
    document = json.loads(rs.card(pets, to="croissant"))
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert {"name", "description", "license", "url", "distribution", "recordSet"} <= document.keys()
    files = [one for one in document["distribution"] if one["@type"] == "cr:FileObject"]
    assert len(files) == 4
    for one in files:
        content = (pets / one["contentUrl"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
        assert one["contentSize"] == f"{len(content)} B"
    sets = [one for one in document["distribution"] if one["@type"] == "cr:FileSet"]
    assert sorted(name for one in sets for name in one["includes"]) == sorted(one["@id"] for one in files)


def test_the_fingerprint_of_changed_files_is_not_shown(pets: Path) -> None:
    fingerprints = {
        name: split["fingerprint"]
        for name, split in json.loads((pets / "recordsmith.json").read_text())["splits"].items()
    }
    shards = sorted(pets.glob("pets-train*"))
    shards[0].write_bytes(shards[1].read_bytes())
    card = rs.card(pets)
    assert fingerprints["test"] in card
    assert fingerprints["train"] not in card
    assert "the files were changed" in card


def test_files_without_a_description(quick_path: Path) -> None:
    with rs.RecordWriter(quick_path / "a.tfrecord") as writer:
        for n in range(3):
            writer.write_example({"n": n})
    assert "| n | int64 | 100 % | 0 to 2, mean 1 |" in rs.card(quick_path / "a.tfrecord", progress=False)
    metadata = read_by_mlcroissant(rs.card(quick_path / "a.tfrecord", to="croissant"), quick_path)
    assert len(metadata.distribution) == 2


def test_on_the_command_line(pets: Path, quick_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(main, ["card", str(pets), *words])

    assert run().stdout.startswith("# pets\n")
    for name, begin in (("card.md", "# pets"), ("card.html", "<!DOCTYPE"), ("croissant.json", "{")):
        assert run("-o", str(quick_path / name)).exit_code == 0
        assert (quick_path / name).read_text().startswith(begin)
    again = run("-o", str(quick_path / "card.md"))
    assert again.exit_code == 2
    assert "--overwrite" in again.output
    assert run("-o", str(quick_path / "card.md"), "--overwrite", "--to", "croissant").exit_code == 0
    json.loads((quick_path / "card.md").read_text())
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'croissant'"):
        rs.card(pets, to="croissants")  # type: ignore[arg-type] # on purpose
    rs.make(numbers(3), quick_path / "plain")
    assert "License" not in rs.card(quick_path / "plain", progress=False)
