"""Damaged files: what can be read before and after the damage is shown, and where the file is broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.records.index import load_index
from recordsmith.viewer.data import damage
from recordsmith.viewer.data.damage import RecoveredFile


def numbered(path: Path, first: int, count: int, compression: str | None = None) -> Path:
    with rs.RecordWriter(path, compression) as writer:
        writer.write_columns(
            {"n": np.arange(first, first + count), "word": [f"word {n}" for n in range(first, first + count)]},
            rs.Schema({"n": rs.Scalar("int64"), "word": rs.Text()}),
        )
    return path


def broken(path: Path, begin: int, end: int) -> Path:
    data = bytearray(path.read_bytes())
    data[begin:end] = bytes(end - begin)
    path.write_bytes(data)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """100 records in a file of which 40 to 44 are zeros and the end is cut off, and 10 sound ones after them."""
    offsets = load_index(str(numbered(tmp_path / "a.tfrecord", 0, 100))).offsets
    (tmp_path / "a.tfrecord").with_name("a.tfrecord").write_bytes((tmp_path / "a.tfrecord").read_bytes()[:-7])
    broken(tmp_path / "a.tfrecord", int(offsets[40]), int(offsets[45]))
    numbered(tmp_path / "b.tfrecord", 1_000, 10)
    for index in tmp_path.glob(".*"):
        index.unlink()
    return tmp_path


def test_records_before_and_after_the_damage_are_shown(viewing, folder):
    client = viewing(folder)
    status = client.wait("/d/0/status", lambda status: status["indexed"] and status["findings"] is not None)
    assert status["total"] == 40 + 54 + 10
    for number, n in ((39, 39), (40, 45), (93, 98), (94, 1_000), (103, 1_009)):
        assert f"word {n}<" in client.get(f"/d/0/r/{number}").text, number
    page = client.get("/d/0/").text
    assert "There are zeros instead of records" in page
    assert 'href="/d/0/r/39"' in page
    assert 'href="/d/0/r/40"' in page
    assert "about 5 records lost" in page
    assert "The file ends inside a record" in page
    assert "broken directly after this record" in client.get("/d/0/r/39").text
    record = client.get("/d/0/r/40").text
    assert "broken directly before this record" in record
    assert "repair it before you read this record" in record
    assert "broken directly" not in client.get("/d/0/r/41").text


def test_filters_and_findings_reach_records_after_the_damage(viewing, folder):
    client = viewing(folder)
    client.wait("/d/0/status", lambda status: status["indexed"])
    found = client.wait("/d/0/status?where=n+%25+10+%3D%3D+7", lambda status: status["done"])
    assert found["count"] == 10 + 1  # 7 to 37, 47 to 97, and 1007
    assert client.get("/d/0/records.txt?where=n+>+95").text.split() == ["91", "92", "93", *map(str, range(94, 104))]
    assert client.wait("/d/0/status?q=word+98", lambda status: status["done"])["count"] == 1


def test_a_compressed_file_is_read_again_from_its_next_part(viewing, tmp_path):
    """As `cat a.gz b.gz` makes it: deflate itself cannot be resumed at any place."""
    path = numbered(tmp_path / "a.tfrecord", 0, 20_000, "gzip")
    size = path.stat().st_size
    broken(path, size // 2, size // 2 + 64)
    path.write_bytes(path.read_bytes() + numbered(tmp_path / "b", 20_000, 500, "gzip").read_bytes())
    client = viewing(path)
    status = client.wait("/d/0/status", lambda status: status["indexed"] and status["findings"] is not None)
    assert 5_000 < status["total"] < 20_000
    page = client.get("/d/0/").text
    assert "A record starts here, but does not end where its length says, and there is more damage after it" in page
    assert page.count("<li>") == 2
    assert "compressed bytes" in page
    assert "word 20499<" in client.get(f"/d/0/r/{status['total'] - 1}").text


def test_a_bomb_is_not_decompressed(tmp_path, monkeypatch):
    with gzip.open(tmp_path / "bomb.gz", "wb") as file:
        file.write(bytes(64 << 20))
    monkeypatch.setattr(damage, "_LARGEST_INFLATED", 8 << 20)
    monkeypatch.setattr("recordsmith.repairing.damaged_file._SMALL_STEP", 16 << 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert RecoveredFile.of(str(tmp_path / "bomb.gz")) is None
    assert [path.name for path in tmp_path.iterdir()] == ["bomb.gz"]


def test_what_was_decompressed_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = numbered(tmp_path / "a.tfrecord", 0, 200, "gzip")
    path.write_bytes(path.read_bytes()[:-40])
    recovered = RecoveredFile.of(str(path))
    assert recovered is not None
    assert list(tmp_path.glob(".recordsmith-*"))
    assert len(list(recovered.payloads())) == recovered.records > 0
    recovered.close()
    assert not list(tmp_path.glob(".recordsmith-*"))


@pytest.fixture(scope="module")
def client(viewing, pets):
    return viewing(pets)


def test_in_the_browser(visiting, viewing, folder):
    """A person sees where the file is broken, goes to both sides of the damage, and learns why it was not compared."""
    client = viewing(folder / "a.tfrecord", folder / "b.tfrecord")
    client.wait("/d/0/status", lambda status: status["indexed"] and status["findings"] is not None)
    visitor = visiting(client)
    page = visitor.page
    visitor.count("94 records")
    visitor.count("1 damaged file")
    page.get_by_role("link", name="record 40 after it").click()
    page.get_by_text("The file is broken directly before this record").wait_for()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("h1:has-text('Record 39')")
    page.get_by_text("The file is broken directly after this record").wait_for()
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("heading", name="These were not compared").wait_for()
    said = page.get_by_role("alert").inner_text()
    assert "A file is damaged" in said
    assert "a.tfrecord" in said
    assert "recordsmith repair" in said
    page.get_by_role("link", name="Show this dataset and its damage").click()
    page.get_by_role("note", name="Damage").wait_for()
    visitor.check()
