"""Datasets, loaders, columns and results in notebooks: what they are, with images, and no text that becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

HOSTILE = "<script>alert(1)</script>\u202e\x00"
SCHEMA = rs.Schema(
    {
        f"image{HOSTILE}": rs.Image(),
        "label": rs.Label(["cat", HOSTILE]),
        "text": rs.Text(description=HOSTILE),
        "tokens": rs.Tensor("int64", (None,)),
        "blob": rs.Packed({"n": ("int64", ())}),
        "sparse": rs.Sparse("float32", 9),
    }
)


class Elements(HTMLParser):
    """The elements of a piece of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert all(not name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notebook") / "data"
    pixels = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
    rows = [
        {
            f"image{HOSTILE}": pixels,
            "label": n % 2,
            "text": f"{n} {HOSTILE}",
            "tokens": range(n % 3),
            "blob": {"n": n},
            "sparse": {n % 9: 1.0},
        }
        for n in range(12)
    ]
    rs.make(rows, path, schema=SCHEMA, split="train=8,test=4", shuffle=False)
    return path


def shown(thing: Any) -> Elements:
    html = thing._repr_html_()
    elements = Elements(html)
    assert not {"script", "b>"} & set(elements.tags), "a text became markup"
    assert "\u202e" not in html
    assert "\x00" not in html
    return elements


def test_a_dataset_shows_counts_classes_and_first_rows(folder: Path):
    found = shown(rs.open(folder, split="train"))
    assert "8 records" in found.text
    assert re.search(r"cat \d, <script>alert\(1\)</script>\\u202e\\x00 \d", found.text)
    assert found.tags.count("img") == 4


def test_a_loader_shows_its_chain_and_a_batch_without_moving(folder: Path):
    ds = rs.open(folder, split="train")
    loader = ds.shuffle(seed=0).images(size=(6, 6)).batch(4)
    found = shown(loader)
    assert ".shuffle(seed=0)" in found.text
    assert "uint8, 4 × 6 × 6 × 3" in found.text
    assert found.tags.count("img") == 4
    assert (loader.state()["epoch"], loader.state()["batch"]) == (0, 0)
    assert "target" in shown(ds.batch(2).pairs("tokens", "label")).text
    assert "img" not in shown(ds.shuffle(seed=0)).tags


def test_a_loader_that_fails_says_why(folder: Path):
    def fail(row: Any) -> Any:
        raise ValueError(HOSTILE)

    assert "<script>alert(1)" in shown(rs.open(folder, split="train").map(fail).batch(2)).text


def test_a_preview_skips_nothing(folder: Path):
    def fail(row: Any) -> Any:
        raise ValueError("no")

    loader = rs.open(folder, split="train").map(fail).batch(2, on_error="skip")
    shown(loader)
    assert loader.skipped.count == 0


def test_damaged_and_empty_datasets_are_shown(folder: Path, tmp_path: Path):
    data = bytearray(next(folder.glob("*train*")).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.tfrecord").write_bytes(data)
    assert "checksum" in shown(rs.open(tmp_path / "damaged.tfrecord", schema=SCHEMA)).text
    with rs.RecordWriter(tmp_path / "empty.tfrecord"):
        pass
    assert "no records" in shown(rs.open(tmp_path / "empty.tfrecord", schema=SCHEMA)).text


def test_columns_are_shown(folder: Path):
    batch = next(iter(rs.open(folder, split="train").batch(8)))
    found = {name: shown(column) for name, column in batch.items() if not isinstance(column, np.ndarray)}
    assert found[f"image{HOSTILE}"].tags.count("img") == 4
    assert "0, 1" in found["tokens"].text
    assert set(found) == {f"image{HOSTILE}", "text", "tokens", "blob", "sparse"}


def test_results_are_shown(folder: Path, tmp_path: Path):
    made = rs.make(folder, tmp_path / "again", shuffle=False)
    assert "train\n8\n1\n" in shown(made).text
    assert "train\n8\n1\n" in shown(rs.copy(folder, tmp_path / "copy")).text
    assert "train.parquet" in shown(rs.export(folder, tmp_path / "out", to="parquet")).text
    assert "undamaged" in shown(rs.repair(folder, tmp_path / "repaired")).text
    assert "constant-feature" in shown(rs.check(folder)).text
    assert "Sparse" in shown(SCHEMA).text
