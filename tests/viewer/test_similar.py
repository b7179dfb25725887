"""Near-duplicates on the page of a record, and in the grid."""

from __future__ import annotations

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.viewer.data import likeness
from tests.viewer.conftest import Client, Viewing


@pytest.fixture(scope="module")
def client(viewing: Viewing, tmp_path_factory: pytest.TempPathFactory) -> Client:
    path = tmp_path_factory.mktemp("similar") / "a.tfrecord"
    shades = [
        np.kron(np.random.default_rng(n).integers(0, 255, (9, 9), np.uint8), np.ones((12, 12), np.uint8))
        for n in range(30)
    ]
    shades[17] = shades[4] // 2 + 40
    with rs.RecordWriter(str(path)) as writer:
        for number, shade in enumerate(shades):
            writer.write_example({"image": encode_image(shade, "png"), "n": number})
    client = viewing(path)
    client.wait("/d/0/status", lambda status: status["indexed"])
    return client


def test_records_that_look_alike_are_side_by_side(visiting, client):
    visitor = visiting()
    page = visitor.page
    visitor.go("/d/0/r/4")
    similar = page.locator("#similar")
    similar.get_by_role("link", name="Record 17").wait_for()
    assert similar.locator(".cell").count() == 1
    assert "by what 'image' looks like" in similar.inner_text()
    similar.get_by_role("link", name="Show it in the grid").click()
    visitor.count("2 of 30")
    assert visitor.query == {"like": ["4"]}
    assert page.locator("#cells .cell").first.get_attribute("href").startswith("/d/0/r/4?")
    page.get_by_role("link", name="Like record 4: show all again").click()
    visitor.count("30 records")
    visitor.go("/d/0/r/5")
    page.locator("#similar", has_text="No other record looks like this one.").wait_for()
    visitor.check()


def test_a_large_dataset_is_compared_when_asked(visiting, viewing, tmp_path, monkeypatch):
    monkeypatch.setattr(likeness, "_UNASKED_RECORDS", 2)
    with rs.RecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for _ in range(30):
            writer.write_example({"text": "<b>the same text in all the records</b>"})
    client = viewing(tmp_path / "a.tfrecord")
    visitor = visiting(client)
    visitor.go("/d/0/r/3")
    visitor.page.get_by_role("link", name="Look for similar records").click()
    visitor.page.get_by_role("link", name="Show all 29 in the grid").wait_for()
    assert visitor.page.url.endswith("/d/0/r/3")
    visitor.check()
    assert client.get("/d/0/r/99/similar").status == 404
